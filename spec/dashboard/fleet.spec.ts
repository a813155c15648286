// The list of blocks, and what is done to many of them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { axeFindings, closeBrowser, inWhole, isWhole, openWorld } from '../support/browser.ts';

t.teardown(closeBrowser);

const COUNT = isWhole ? 1000 : 24;
const FAILING = 5;

t.test(
  `case 35: ${COUNT} of the blocks are found, sorted, selected, started and stopped: progress, what failed and why, and a reload shows the truth`,
  async (t) => {
    const world = await openWorld(t, {
      files(workspace) {
        for (let index = 0; index < COUNT + 20; index += 1) {
          const name = `b${String(index).padStart(4, '0')}`;
          mkdirSync(join(workspace, 'blocks', name), { recursive: true });
          const adapter = index < FAILING ? {} : { adapter: { provider: 'ollama', model: 'stand-in' } };
          const description = index < COUNT ? 'one of the batch' : 'left alone';
          writeFileSync(join(workspace, 'blocks', name, 'config.json'), JSON.stringify({ name, description, ...adapter }));
        }
      },
    });
    if (world === undefined) return;
    const page = await world.page('/ui/', { expected: [/400/] });
    const total = (COUNT + 20).toLocaleString('en-US');
    await page.getByText(`${total} blocks`).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('batch');
    await page.getByText(`${COUNT.toLocaleString('en-US')} of ${total} blocks`).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Model', exact: true }).click();
    await page.getByRole('button', { name: 'Model ↑' }).click();
    await page.getByRole('columnheader', { name: 'Model ↓' }).waitFor();
    await page.locator('.tr').first().getByText('stand-in').waitFor();
    await page.mouse.move(0, 0);
    await page.keyboard.press('Home');
    await page.waitForFunction(() => document.activeElement?.closest('.tr') !== null);
    await page.keyboard.press('x');
    await page.getByRole('button', { name: `Select all ${COUNT}` }).click();
    const group = page.getByRole('group', { name: /selected$/ });
    await page.evaluate(() => {
      const steps: string[] = [];
      Object.assign(globalThis, { steps });
      new MutationObserver(() => {
        const step = document.querySelector('.selection [role="status"]')?.textContent;
        if (step !== undefined && steps.at(-1) !== step) steps.push(step);
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    const states = async (): Promise<Readonly<Record<string, number>>> => {
      const { blocks } = await world.api<{ readonly blocks: readonly { readonly name: string; readonly state: string }[] }>('GET', '/api/blocks');
      const sums: Record<string, number> = {};
      for (const { state } of blocks) sums[state] = (sums[state] ?? 0) + 1;
      return sums;
    };

    await group.getByRole('button', { name: 'Start' }).click();
    const toast = page.locator('.toast', { hasText: 'Started' });
    await toast.waitFor({ timeout: 300_000 });
    t.match(await toast.textContent(), new RegExp(`${(COUNT - FAILING).toLocaleString('en-US')} blocks\\..*Failed: b000\\d: .*; and ${FAILING - 3} more`));
    t.equal(await group.getAttribute('aria-label'), `${FAILING} blocks selected`, 'what failed stays selected');
    t.same(await states(), { idle: COUNT - FAILING, unconfigured: FAILING, stopped: 20 });
    const steps = await page.evaluate(() => (globalThis as unknown as { steps: string[] }).steps);
    const done = steps.map((step) => Number(/^(\d+) \/ /.exec(step)?.[1]));
    t.ok(steps.length > 5 && done.every((count, index) => count >= (done[index - 1] ?? 0)), `${steps.length} steps, which grow`);

    await page.getByRole('button', { name: `Select all ${COUNT}` }).click();
    await group.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.toast', { hasText: 'Stopped' }).waitFor({ timeout: 300_000 });
    await page.reload();
    await page.getByText(`${COUNT.toLocaleString('en-US')} of ${total} blocks`).waitFor();
    t.same(await states(), { stopped: COUNT + 20 - FAILING, unconfigured: FAILING });
    t.equal(
      await page
        .getByRole('button', { name: /^Asleep/ })
        .locator('.num')
        .textContent(),
      total,
    );
  },
);

t.test(
  'a tag is added to the selected blocks and taken away: what failed and why is told, what was changed is undone, and what others change is kept',
  async (t) => {
    const world = await openWorld(t);
    if (world === undefined) return;
    const full = Array.from({ length: 100 }, (_, index) => `t${index}`);
    const tags = { one: [], two: ['mail'], three: ['mail', 'old'], four: full, five: ['apart'] };
    for (const [name, given] of Object.entries(tags)) await world.api('POST', '/api/blocks', { name, config: { tags: given, description: 'as it was' } });
    const page = await world.page('/ui/', { expected: [/400/, /412/] });
    const tagsOf = async (): Promise<Readonly<Record<string, readonly string[]>>> => {
      type List = { readonly blocks: readonly { readonly name: string; readonly config: { readonly tags: readonly string[] } }[] };
      return Object.fromEntries((await world.api<List>('GET', '/api/blocks')).blocks.map(({ name, config }) => [name, config.tags]));
    };
    const choose = async (...names: readonly string[]): Promise<void> => {
      for (const name of names) await page.locator(`[data-name="${name}"] .c-act`).click({ modifiers: ['Control'] });
      await page
        .getByRole('group', { name: `${names.length} blocks selected` })
        .getByRole('button', { name: 'Tag…' })
        .click();
    };
    const dialog = page.getByRole('dialog', { name: /^Tag \d blocks$/ });
    // Somebody changes the configuration between the page's look at it and its change.
    let isChanged = false;
    await page.route('**/api/blocks/one/config', async (route) => {
      if (route.request().method() === 'PUT' && !isChanged) {
        isChanged = true;
        await world.api('PUT', '/api/blocks/one/config', { tags: ['theirs'], description: 'changed meanwhile' });
      }
      await route.continue();
    });

    await choose('one', 'two', 'three', 'four');
    t.same(await axeFindings(page), []);
    await dialog.getByRole('button', { name: 'Add the tag' }).click();
    await dialog.getByText('Write the tag first.').waitFor();
    await dialog.getByRole('button', { name: 'mail, 2 of 4' }).click();
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Add the tag' }).click();
    const toast = page.locator('.toast', { hasText: 'Tagged “mail”: 3 blocks.' });
    await toast.waitFor();
    t.match(await toast.textContent(), /Failed: four: tags must not have more than 100 items\.Undo/);
    t.same(await tagsOf(), { ...tags, one: ['theirs', 'mail'], four: full });
    t.match(await world.api('GET', '/api/blocks/one/config'), { config: { description: 'changed meanwhile' } });
    await page.getByRole('group', { name: '1 block selected' }).waitFor();
    await toast.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.toast', { hasText: '“mail” removed: 1 block.' }).waitFor();
    t.same(await tagsOf(), { ...tags, one: ['theirs'] }, 'those that had it keep it');

    await page.getByRole('button', { name: 'Clear' }).click();
    await choose('two', 'three', 'five');
    await dialog.getByLabel('Tag', { exact: true }).fill('mail');
    await dialog.getByRole('button', { name: 'Remove the tag' }).click();
    const removed = page.locator('.toast', { hasText: '“mail” removed: 3 blocks.' });
    await removed.waitFor();
    t.same(await tagsOf(), { ...tags, one: ['theirs'], two: [], three: ['old'] });
    await removed.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.toast', { hasText: 'Tagged “mail”: 2 blocks.' }).waitFor();
    t.same(await tagsOf(), { ...tags, one: ['theirs'], three: ['old', 'mail'] });
  },
);

t.test('by touch, blocks are selected with a tap and what is done to many is done to them', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  for (const name of ['ada', 'bob', 'eve']) await world.block(name);
  const page = await world.page('/ui/', { width: 390 });
  await page.getByRole('link', { name: 'eve', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Select', exact: true }).tap();
  for (const name of ['ada', 'eve']) await page.locator(`[data-name="${name}"]`).tap();
  const group = page.getByRole('group', { name: '2 blocks selected' });
  await group.waitFor();
  t.same(await axeFindings(page), []);
  t.notOk(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), 'nothing is wider than the screen');
  await group.getByRole('button', { name: 'Stop' }).tap();
  await page.locator('.toast', { hasText: 'Stopped: 2 blocks.' }).waitFor();
  await page.getByRole('button', { name: 'Select', exact: true }).tap();
  await page.locator('[data-name="bob"]').getByRole('link').tap();
  await page.waitForURL(`${world.url}/ui/blocks/bob`);
});
