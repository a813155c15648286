// What is done at once can be undone at once.
import type { Page } from 'playwright-core';
import t from 'tap';
import { closeBrowser, inWhole, openWorld, type World } from '../support/browser.ts';

t.teardown(closeBrowser);

async function states(world: World): Promise<Readonly<Record<string, string>>> {
  const { blocks } = await world.api<{ readonly blocks: readonly { readonly name: string; readonly state: string }[] }>('GET', '/api/blocks');
  return Object.fromEntries(blocks.map(({ name, state }) => [name, state]));
}

async function undo(page: Page, told: string | RegExp): Promise<void> {
  await page.locator('.toast', { hasText: told }).getByRole('button', { name: 'Undo' }).click();
}

t.test('starting, stopping and archiving many blocks is undone for those that it has changed', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('runs');
  await world.api('POST', '/api/blocks', { name: 'sleeps', config: { adapter: { provider: 'ollama', model: 'stand-in' } } });
  const page = await world.page('/ui/');
  const choose = async (does: string): Promise<void> => {
    for (const name of ['runs', 'sleeps']) await page.locator(`[data-name="${name}"] .c-act`).click({ modifiers: ['Control'] });
    const group = page.getByRole('group', { name: '2 blocks selected' });
    await group.getByRole('button', { name: does, exact: true }).click();
  };
  const clear = async (): Promise<void> => {
    for (const name of ['runs', 'sleeps']) await page.locator(`[data-name="${name}"]`).waitFor();
    await page.locator('.selection').waitFor({ state: 'detached' });
  };

  await choose('Start');
  await undo(page, 'Started: 2 blocks.');
  await page.locator('.toast', { hasText: 'Stopped: 1 block.' }).waitFor();
  t.same(await states(world), { runs: 'idle', sleeps: 'stopped' }, 'what ran before, runs on');
  await clear();

  await choose('Stop');
  await undo(page, 'Stopped: 2 blocks.');
  await page.locator('.toast', { hasText: 'Started: 1 block.' }).waitFor();
  t.same(await states(world), { runs: 'idle', sleeps: 'stopped' }, 'what slept before, sleeps on');
  await clear();

  await choose('Archive');
  await page.getByRole('link', { name: 'runs', exact: true }).waitFor({ state: 'detached' });
  await undo(page, 'Archived: 2 blocks.');
  await page.locator('.toast', { hasText: 'Restored: 2 blocks.' }).waitFor();
  t.same(await states(world), { runs: 'idle', sleeps: 'stopped' });
});

t.test('the undo of a stop and of an archive lets a block run again that ran', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada', { expected: [/404/] }); // the page may read the block a last time when it hears that it is gone
  const pill = page.locator('.top .pill');
  await page.getByRole('button', { name: 'Stop block' }).click();
  await pill.getByText('Stopped').waitFor(); // else what it says next could be what it said before
  await undo(page, 'ada is stopped.');
  await pill.getByText('Idle').waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await undo(page, 'ada is archived.');
  await pill.getByText('Idle').waitFor();
  t.same(await states(world), { ada: 'idle' });
});

t.test('a new name takes pin and draft along; what is archived is not pinned in vain', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada', { expected: [/404/] }); // the old name may still be asked for
  await page.getByRole('textbox', { name: 'Message ada…' }).fill('half a thought');
  const menu = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  const pins = page.locator('.side .nav:has(.mark)');
  await menu('Pin');
  await pins.filter({ hasText: 'ada' }).waitFor();
  await menu('Rename…');
  await page.getByLabel('New name').fill('bea');
  await page.keyboard.press('Enter');
  await pins.filter({ hasText: 'bea' }).waitFor();
  t.same(await pins.allTextContents(), ['bea']);
  await page.waitForFunction(() => document.querySelector('textarea')?.value === 'half a thought');
  await menu('Archive');
  await pins.waitFor({ state: 'detached' });
  await undo(page, 'bea is archived.');
  await pins.filter({ hasText: 'bea' }).waitFor();
});

t.test('a slip beside a dialog loses nothing that was typed, and what is wrong takes the focus', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const page = await world.page('/ui/');
  const dialog = page.getByRole('dialog', { name: 'New block' });
  await page.getByRole('button', { name: 'New block' }).first().click();
  await dialog.waitFor();
  await page.mouse.click(5, 5);
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New block' }).first().click();
  await dialog.getByLabel('Name').fill('ada');
  await dialog.getByLabel('Model').fill('stand-in');
  await page.mouse.click(5, 5);
  await dialog.getByRole('button', { name: 'Create the block' }).click();
  await dialog.getByText('Write it as provider/model, such as ollama/gemma4.').waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-invalid') === 'true');
  t.equal(await page.evaluate(() => (document.activeElement as HTMLInputElement).value), 'stand-in');
  t.equal(await dialog.getByLabel('Name').inputValue(), 'ada');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Throw it away' }).click();
  await dialog.waitFor({ state: 'detached' });
});

t.test('what is typed after a new block was made is its first message, and no command', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const page = await world.page('/ui/');
  await page.getByRole('button', { name: 'New block' }).first().click();
  await page.getByLabel('Name').fill('ada');
  await page.getByLabel('Model').fill('ollama/stand-in');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'ada' }).waitFor();
  await page.locator('textarea:focus').waitFor();
  await page.keyboard.type('Sync now');
  t.equal(await page.getByRole('textbox', { name: 'Message ada…' }).inputValue(), 'Sync now');
  t.same(await states(world), { ada: 'idle' });
});
