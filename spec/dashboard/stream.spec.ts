// An answer while it grows.
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { closeBrowser, isWhole, openWorld, type World } from '../support/browser.ts';

t.teardown(closeBrowser);

const SECTION = [
  '## A heading\n\nA paragraph with **bold**, *soft* and `code`, which goes on for some more words and ends.\n\n',
  `${Array.from({ length: 30 }, (_, index) => `- item ${index} with **bold** words\n`).join('')}\n`,
  '```ts\nconst a = 1;\n\nconst b = 2;\n```\n\n',
  `| a | b |\n| --- | --- |\n${Array.from({ length: 20 }, (_, index) => `| ${index} | a cell |\n`).join('')}\n`,
  '1. first\n\n2. second\n\n> A quotation\n> of two lines.\n\n',
].join('');
/** 10,000 tokens, or a third of them. */
const LONG = SECTION.repeat(isWhole ? 18 : 6);
/** In how many pieces an answer comes that is strange as a whole. */
const PIECES = isWhole ? 150 : 15;
/** How much longer such an answer is in a whole sweep. */
const TIMES = isWhole ? 3 : 1;
/** A block, lines and a text without any end. */
const IN_SHORT: readonly string[] = ['fence', 'list', 'endless'];

/** Asks, and resolves when the answer is being written. */
async function ask(page: Page, world: World, message: string): Promise<void> {
  await world.api('POST', '/api/blocks/ada/chat', { message });
  await page.locator('[data-live]').waitFor();
}

async function ended(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('[data-live]') === null && document.querySelector('.meta') !== null, undefined, { timeout: 120_000 });
}

/** Counts the nodes of the answer that each change adds, removes or writes anew. */
async function watchTouched(page: Page): Promise<() => Promise<readonly number[]>> {
  await page.evaluate(() => {
    const touched: number[] = [];
    Object.assign(globalThis, { touched });
    const sizeOf = (node: Node): number => 1 + [...node.childNodes].reduce((sum, child) => sum + sizeOf(child), 0);
    new MutationObserver((records) => {
      const inAnswer = records.filter(({ target }) => (target instanceof Element ? target : target.parentElement)?.closest('[data-live] .prose') != null);
      const nodes = inAnswer.flatMap(({ addedNodes, removedNodes }) => [...addedNodes, ...removedNodes]);
      const written = inAnswer.filter(({ type }) => type === 'characterData').length;
      if (inAnswer.length > 0) touched.push(nodes.reduce((sum, node) => sum + sizeOf(node), written));
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { touched: number[] }).touched);
}

/** Of the newest frame with a growing answer: how many parts it has, and how many of them are laid out. */
async function watchDrawn(page: Page): Promise<() => Promise<{ readonly parts: number; readonly drawn: number }>> {
  await page.evaluate(() => {
    const look = (): void => {
      const parts = [...document.querySelectorAll('[data-live] .part')];
      const isDrawn = (part: Element): boolean => part.firstElementChild?.checkVisibility({ contentVisibilityAuto: true }) === true;
      if (parts.length > 0) Object.assign(globalThis, { drawn: { parts: parts.length, drawn: parts.filter(isDrawn).length } });
      requestAnimationFrame(look);
    };
    look();
  });
  return () => page.evaluate(() => (globalThis as unknown as { drawn: { parts: number; drawn: number } }).drawn);
}

/**
 * Of all frames together, since a busy machine draws many pieces in one: each node is touched some ten times at most, and some twenty in each frame. What
 * drew the whole anew for each piece would touch half of it in each frame.
 */
async function assertFewTouched(t: Test, page: Page, counts: readonly number[], what: string): Promise<void> {
  const sum = counts.reduce((all, each) => all + each, 0);
  const whole = await page.locator('article .prose').last().locator('*').count();
  t.ok(sum <= 10 * whole + 20 * counts.length, `${what}: ${sum} nodes in ${counts.length} frames, of ${whole}`);
}

const proseOf = (page: Page): Promise<string> => page.evaluate(() => [...document.querySelectorAll('article .prose')].at(-1)?.innerHTML ?? '');

t.test(
  'case 26: a piece of an answer of 10,000 tokens touches as few nodes at its end as at its beginning, and the answer is that of a parse of the whole',
  async (t) => {
    const world = await openWorld(t);
    if (world === undefined) return;
    world.standIn.onMessage(/./, { content: LONG }, { chunkSize: 40, latency: 3 });
    await world.block('ada');
    const page = await world.page('/ui/blocks/ada');
    await page.getByText('Nothing has been said yet.').waitFor();
    const touched = await watchTouched(page);
    await ask(page, world, 'Tell me much');
    const drawn = await watchDrawn(page);
    await ended(page);
    await assertFewTouched(t, page, await touched(), 'a long answer');
    const last = await drawn();
    t.ok(last.parts >= (isWhole ? 6 : 3) && last.drawn <= (isWhole ? 3 : 2), `at its end, ${last.drawn} of ${last.parts} parts are laid out and painted`);
    const streamed = await proseOf(page);
    await page.reload();
    await page.locator('.meta').waitFor();
    t.equal(await proseOf(page), streamed);
  },
);

t.test('case 27: what no markdown ends and what no one writes is drawn as it comes, without an exception, and no piece of it touches the whole', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const strange = {
    fence: `Look:\n\n\`\`\`js\n${'const a = 1;\n'.repeat(100 * TIMES)}`,
    table: `| a | b |\n| --- |\n| 1\n\n| a | b |\n| --- | --- |\n${'| 1 | **2\n'.repeat(200)}`,
    list: `${'- item **not closed\n'.repeat(70 * TIMES)}- `,
    links: '[a](https://example.org/ and [b]( and ![c]( '.repeat(60),
    emoji: '👩‍👩‍👧 half a pair, '.repeat(120),
    returns: 'one\rtwo\r\rthree\r\nfour '.repeat(60),
    endless: 'x'.repeat(34 * 1024 * TIMES),
    quotes: `${'>'.repeat(2000)} deep`,
  };
  const chosen = Object.entries(strange).filter(([name]) => isWhole || IN_SHORT.includes(name));
  for (const [name, content] of chosen) world.standIn.onMessage(name, { content }, { chunkSize: Math.ceil(content.length / PIECES), latency: 4 });
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada');
  await page.getByText('Nothing has been said yet.').waitFor();
  const touched = await watchTouched(page);
  for (const [index, [name, content]] of chosen.entries()) {
    const before = (await touched()).length;
    await world.api('POST', '/api/blocks/ada/chat?wait=120', { message: name });
    await page.waitForFunction((count) => document.querySelectorAll('.meta').length === count, index + 1);
    await assertFewTouched(t, page, (await touched()).slice(before), name);
    const words = (text: string): string => text.replace(/[\s|>`*-]/g, '').slice(0, 100);
    if (name === 'endless' || name === 'emoji' || name === 'returns')
      t.equal(words((await page.locator('article .prose').last().textContent()) ?? ''), words(content), name);
  }
});

t.test('case 29: the end stays in view through text, code, tables and a late font', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: SECTION.repeat(isWhole ? 4 : 2) }, { chunkSize: 20, latency: 6 });
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada');
  let release = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/*.woff2', async (route) => {
    await late;
    await route.continue();
  });
  await page.reload({ waitUntil: 'domcontentloaded' });
  await page.getByText('Nothing has been said yet.').waitFor();
  await ask(page, world, 'Tell me much');
  await page.getByRole('button', { name: 'Newest' }).click();
  await page.evaluate(() => {
    const seen = { frames: 0, away: [] as number[] };
    Object.assign(globalThis, { seen });
    let wasAway = false;
    const look = (): void => {
      const log = document.querySelector('[role="log"]') as HTMLElement;
      const distance = log.scrollHeight - log.clientHeight - log.scrollTop;
      // What a frame finds before it is laid out counts only if the next one finds it, too.
      if (distance > 3 && wasAway) seen.away.push(distance);
      wasAway = distance > 3;
      seen.frames += 1;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.locator('[data-live] table').first().waitFor();
  release();
  await page.evaluate(() => document.fonts.ready);
  await ended(page);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const { frames, away } = await page.evaluate(() => (globalThis as unknown as { seen: { frames: number; away: number[] } }).seen);
  t.ok(frames > 10);
  t.same(away, []);
});

t.test('case 30: what is selected in an answer stays selected while it grows, and copying it gives its words', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const sentence = 'The quick brown fox jumps over the lazy dog and then it goes on and on. ';
  world.standIn.onMessage(/./, { content: `A **first** paragraph of words.\n\n${sentence.repeat(isWhole ? 40 : 14)}` }, { chunkSize: 10, latency: 8 });
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByText('Nothing has been said yet.').waitFor();
  await ask(page, world, 'Tell me much');
  await page.waitForFunction((least) => (document.querySelector('[data-live] .prose')?.textContent.length ?? 0) > least, sentence.length * 4);
  const selected = await page.evaluate(() => {
    const [first, second] = document.querySelectorAll('[data-live] .prose p');
    const text = [...(second?.childNodes ?? [])].find(({ nodeType }) => nodeType === Node.TEXT_NODE);
    if (first === undefined || text === undefined) throw new Error('The answer has no two paragraphs.');
    getSelection()?.setBaseAndExtent(first, 0, text, 40);
    return getSelection()?.toString();
  });
  t.equal(selected, `A first paragraph of words.\n\n${sentence.slice(0, 40)}`);
  await ended(page);
  t.equal(await page.evaluate(() => getSelection()?.toString()), selected);
  await page.keyboard.press('Control+c');
  t.equal(await page.evaluate(() => navigator.clipboard.readText()), selected);
});
