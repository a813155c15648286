// A server that is newer than the page, or whose clock is wrong.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { closeBrowser, inWhole, openWorld } from '../support/browser.ts';
import { PageSocket } from '../support/page-socket.ts';

t.teardown(closeBrowser);

/** Changes an answer of the server on its way to the page. */
async function rewrite(page: Page, path: RegExp, change: (text: string) => string): Promise<void> {
  await page.route(
    (url) => path.test(url.pathname),
    async (route) => {
      const { 'if-none-match': _known, ...headers } = route.request().headers();
      const response = await route.fetch({ headers });
      await route.fulfill({ response, body: change(await response.text()) });
    },
  );
}

t.test('case 24: a state, event, status, stop reason and error code of a later server are shown by their names', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Answered.' });
  await world.block('ada');
  await world.api('POST', '/api/blocks/ada/chat?wait=60', { message: 'Hello' });
  const socket = new PageSocket();
  const renamed = (text: string): string => text.replaceAll('"state":"idle"', '"state":"daydreaming"');
  const page = await world.page('/ui/', {
    async prepare(page) {
      await socket.between(page, renamed);
      await rewrite(page, /^\/api\/blocks(\/ada(\/why)?)?$/, renamed);
      await rewrite(page, /\/chat$/, (text) => {
        const { messages } = JSON.parse(text) as { readonly messages: readonly object[] };
        const error = { code: 'MODEL_ON_STRIKE', message: 'The model is on strike.', retryable: false };
        return JSON.stringify({ messages: messages.map((entry) => ({ ...entry, status: 'set_aside', error, stopReason: 'grew_tired' })) });
      });
    },
  });
  await page.getByRole('row', { name: /daydreaming/ }).waitFor();
  await page.getByRole('link', { name: 'ada' }).click();
  await page.getByText('grew_tired').waitFor(); // the block itself has been read
  t.equal(await page.locator('.top .pill').innerText(), 'daydreaming');
  await page.getByText('The model is on strike.').first().waitFor();
  await page.getByText('MODEL_ON_STRIKE').first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  socket.send({ type: 'event', seq: 1_000_000, at: new Date().toISOString(), name: 'block.dreamt', data: { block: 'ada', depth: 3 } });
  const row = page.getByRole('row', { name: /block\.dreamt/ });
  await row.waitFor();
  t.match(await row.textContent(), /ada.*depth 3/);
  socket.send({ type: 'weather', text: 'a frame of a kind that the page has never heard of' });
  await world.block('bob');
  await page.locator('.nav', { hasText: 'Fleet' }).locator('.n', { hasText: '2' }).waitFor();
});

t.test('case 24: a field of the configuration that the page has never heard of is shown by its name, and kept', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada', { description: 'before' });
  const file = join(world.workspace, 'blocks/ada/config.json');
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), mood: { colour: 'teal' } }));
  const page = await world.page('/ui/blocks/ada/config');
  await page.locator('fieldset', { hasText: 'Other fields' }).getByText('"colour": "teal"').waitFor();
  await page.getByLabel('What it is for').fill('after');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').first().waitFor();
  t.match(JSON.parse(readFileSync(file, 'utf8')), { description: 'after', mood: { colour: 'teal' } });
});

for (const [name, hours] of [
  ['ahead of', 1],
  ['behind', -1],
] as const) {
  t.test(`case 25: relative times and days are right in a browser whose clock is an hour ${name} the server's`, hours < 0 ? inWhole : {}, async (t) => {
    const world = await openWorld(t);
    if (world === undefined) return;
    world.standIn.onMessage(/./, { content: 'Answered.' });
    await world.block('ada', { budget: { dailyUsd: 5 } });
    await world.api('POST', '/api/blocks/ada/memory/facts', { text: 'The team is small.' });
    await world.api('POST', '/api/blocks/ada/chat?wait=60', { message: 'Hello' });
    const page = await world.page('/ui/', { prepare: (page) => page.clock.install({ time: Date.now() + hours * 3_600_000 }) });
    await page.locator('.c-last time', { hasText: /^(now|\d+ s ago)$/ }).waitFor();
    await page.getByRole('link', { name: 'ada' }).click();
    await page.getByText('Answered.').waitFor();
    t.equal(await page.locator('.day').textContent(), 'Today');
    await page.keyboard.press('2');
    await page
      .locator('main time', { hasText: /^(now|\d+ s ago)$/ })
      .first()
      .waitFor();
    await page.keyboard.press('6');
    await page
      .locator('main time', { hasText: /^(now|\d+ s ago)$/ })
      .first()
      .waitFor();
    t.notOk(
      (await page.locator('main time').allTextContents()).some((text) => /^in |min|h$/.test(text)),
      'no time is an hour off',
    );
  });
}
