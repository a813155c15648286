import type { Page } from 'playwright-core';
import t from 'tap';
import { axeFindings, closeBrowser, inWhole, openWorld, type World } from '../support/browser.ts';

t.teardown(closeBrowser);

/** A block that was asked once, and its page. */
async function asked(world: World): Promise<Page> {
  world.standIn.onMessage(/noon/, { content: 'Because of the sun.' });
  world.standIn.onMessage(/blue/, { content: 'Because of the air.' });
  await world.block('ada');
  await world.api('POST', '/api/blocks/ada/chat?wait=30', { message: 'Why is the sky blue?' });
  const page = await world.page('/ui/blocks/ada');
  await page.getByText('Because of the air.').waitFor();
  return page;
}

const switchOf = (page: Page) => page.getByRole('group', { name: 'Versions of this message' });
const question = (page: Page) => page.locator('.m.u .prose');

t.test('the last message is edited and asked again, the earlier version stays to be read, and each has its own address', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const page = await asked(world);
  t.equal(await switchOf(page).count(), 0, 'a message that was asked once has no versions');
  await page.keyboard.press('e');
  const field = page.getByRole('dialog', { name: 'Ask again' }).getByRole('textbox', { name: 'Message' });
  t.equal(await field.inputValue(), 'Why is the sky blue?');
  t.strictSame(await axeFindings(page), []);
  await field.fill('Why is the sky red at noon?');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Because of the sun.').waitFor();
  await page.getByText('2 of 2', { exact: true }).waitFor();
  await page.locator('[aria-live="polite"]', { hasText: 'Answer complete' }).waitFor({ state: 'attached' }); // what is said later takes its place
  t.equal(await page.getByText('Because of the air.').count(), 0, 'one version is shown');
  t.strictSame(await question(page).allTextContents(), ['Why is the sky red at noon?']);
  t.strictSame(await axeFindings(page), []);
  await page.getByRole('button', { name: 'Version before' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('1 of 2', { exact: true }).waitFor();
  await page.getByText('Because of the air.').waitFor();
  await page.getByText('models see a later version').waitFor();
  t.match(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Version before', 'the focus stays');
  t.match(await page.locator('[aria-live="polite"]').textContent(), 'Version 1 of 2');
  const { messages } = await world.api<{ messages: { id: string }[] }>('GET', '/api/blocks/ada/chat');
  t.equal(messages.length, 4, 'nothing is deleted');
  await page.goto(`${world.url}/ui/blocks/ada?at=${messages[1]?.id}`);
  await page.getByText('1 of 2', { exact: true }).waitFor();
  await page.locator('.m.linked', { hasText: 'Because of the air.' }).waitFor();
});

t.test('an answer is made again by the block’s model or another one, and asking is refused while the message waits', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const page = await asked(world);
  await page.getByRole('button', { name: 'Ask again', exact: true }).click();
  await page.getByText('2 of 2', { exact: true }).waitFor();
  await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
  await page.locator('.m:not(.u)').getByRole('button', { name: 'More about this entry' }).click();
  await page.getByRole('menuitem', { name: 'Ask another model…' }).click();
  const model = page.getByRole('dialog').getByRole('combobox', { name: 'Model' });
  t.ok(await model.evaluate((field) => field === document.activeElement), 'the field of the model has the focus');
  await model.fill('ollama/other-model');
  await page.getByRole('dialog').getByRole('button', { name: 'Ask again', exact: true }).click();
  await page.getByText('3 of 3', { exact: true }).waitFor();
  await page.locator('.meta', { hasText: 'other-model' }).waitFor();
  const { versions } = await world.api<{ versions: { entry: { id: string; content: string; asks?: object } }[] }>(
    'GET',
    `/api/blocks/ada/chat/${(await world.api<{ messages: { id: string }[] }>('GET', '/api/blocks/ada/chat')).messages[0]?.id}/versions`,
  );
  t.strictSame(
    versions.map(({ entry }) => entry.asks),
    [undefined, undefined, { provider: 'ollama', model: 'other-model' }],
  );
  await world.api('POST', '/api/blocks/ada/stop');
  await world.api('POST', '/api/blocks/ada/chat', { message: 'And at night?' });
  await page.locator('.m.waits').waitFor();
  t.equal(await page.getByRole('button', { name: 'Ask again', exact: true }).count(), 0);
  await page.keyboard.press('e');
  await page.getByText('so it can’t be asked again now').first().waitFor();
});

t.test('390 px: a finger asks again and goes through the versions', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await asked(world);
  const page = await world.page('/ui/blocks/ada', { width: 390, height: 844 });
  await page.getByRole('button', { name: 'Ask again', exact: true }).tap();
  await page.getByText('2 of 2', { exact: true }).waitFor();
  const { width = 0, height = 0 } = (await page.getByRole('button', { name: 'Version before' }).boundingBox()) ?? {};
  t.ok(width >= 44 && height >= 44, `the target is ${width} by ${height}`);
  await page.getByRole('button', { name: 'Version before' }).tap();
  await page.getByText('1 of 2', { exact: true }).waitFor();
  const wide = (): number[] => [...document.querySelectorAll('.m')].map((each) => each.scrollWidth - each.clientWidth);
  t.strictSame(await page.evaluate(wide), [0, 0], 'nothing is cut off');
});
