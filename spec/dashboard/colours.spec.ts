import t from 'tap';
import type { Page } from 'playwright-core';
import { closeBrowser, isWhole, openWorld, type World } from '../support/browser.ts';

t.teardown(closeBrowser);

/** The texts that are coloured, by their kind, in the order of their letters: the ranges of several blocks have none. */
const coloured = (page: Page): Promise<Readonly<Record<string, readonly string[]>>> =>
  page.evaluate(() => {
    const textOf = (range: AbstractRange): string => {
      const live = document.createRange();
      live.setStart(range.startContainer, range.startOffset);
      live.setEnd(range.endContainer, range.endOffset);
      return live.toString();
    };
    return Object.fromEntries([...CSS.highlights].map(([kind, ranges]) => [kind, [...(ranges as unknown as Iterable<AbstractRange>)].map(textOf).sort()]));
  });

const isColoured = (page: Page, ranges = 1): Promise<unknown> =>
  page.waitForFunction((least) => [...CSS.highlights.values()].reduce((sum, { size }) => sum + size, 0) >= least, ranges);

async function say(world: World, message: string): Promise<void> {
  await world.api('POST', '/api/blocks/ada/chat?wait=30', { message });
}

t.test('code in a known language has colours, in both themes, and nothing of it becomes an element', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/plain/, { content: 'No code, and ```rust\nfn main() {}\n```\n\n```rust\nfn main() { let a = "b"; }\n```\n' });
  const long = `// ${'a comment that goes on and on '.repeat(12)}`;
  const html = '<img src="x" onerror="globalThis.harmed = true"><!-- a\ncomment -->';
  world.standIn.onMessage(/code/, {
    content: `\`\`\`ts\n${long}\nexport const a = 'b' + 1;\n\`\`\`\n\n- In a list:\n\n  \`\`\`html\n  ${html.replace('\n', '\n  ')}\n  \`\`\`\n`,
  });
  await world.block('ada');
  await say(world, 'plain');
  for (const [index, theme] of (isWhole ? (['light', 'dark'] as const) : (['dark'] as const)).entries()) {
    const asked: string[] = [];
    const page = await world.page('/ui/blocks/ada', { theme, prepare: async (opened) => opened.on('request', (request) => asked.push(request.url())) });
    await page.getByText('let a').waitFor();
    await world.rest(page);
    if (index === 0) {
      t.notOk(
        asked.some((url) => url.includes('/colours-')),
        'their script is asked for only where there is such code',
      );
      await say(world, 'code');
    }
    await isColoured(page, 12);
    await page.getByText('export const a').waitFor();
    t.equal(asked.filter((url) => url.includes('/colours-')).length, 1);
    const found = await coloured(page);
    t.same(found['word'], ['<img', '>', 'const', 'export']);
    t.same(found['string'], ['"globalThis.harmed = true"', '"x"', "'b'"]);
    t.same(found['number'], ['1']);
    t.same(found['name'], ['onerror', 'src']);
    t.same(found['comment'], [long, '<!-- a\ncomment -->'].sort(), 'also through the nodes of a long line');
    t.equal(await page.locator('.prose code *').count(), 0);
    t.notOk(await page.evaluate(() => 'harmed' in globalThis));
    const colours = await page.evaluate(() => {
      const code = document.querySelector('.prose pre code') as Element;
      const of = (pseudo?: string): string => getComputedStyle(code, pseudo).color;
      return [of(), ...['comment', 'string', 'number', 'word', 'name'].map((kind) => of(`::highlight(${kind})`))];
    });
    t.equal(new Set(colours).size, 6, colours.join('; '));
    await page.getByRole('link', { name: 'Fleet' }).first().click();
    await page.waitForFunction(() => [...CSS.highlights.values()].every(({ size }) => size === 0));
    await world.leave(page);
  }
});

t.test('code that is being written is plain until it is closed; then its colours come without a change of the document', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const lines = Array.from({ length: 30 }, (_, index) => `const line${index} = ${index};\n`).join('');
  const content = `\`\`\`js\n${lines}const last = 'one';\n\`\`\`\n\n${'And some words after it. '.repeat(40)}`;
  world.standIn.onMessage(/./, { content }, { chunkSize: 20, latency: 8 });
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada');
  await page.getByText('Nothing has been said yet.').waitFor();
  await page.evaluate(() => {
    const seen = { early: 0, frames: 0 };
    Object.assign(globalThis, { seen });
    const look = (): void => {
      const code = document.querySelector('[data-live] pre')?.textContent ?? '';
      if (code !== '' && !code.includes('last')) {
        seen.frames += 1;
        if ([...CSS.highlights.values()].some(({ size }) => size > 0)) seen.early += 1;
      }
      requestAnimationFrame(look);
    };
    look();
  });
  await world.api('POST', '/api/blocks/ada/chat', { message: 'Write' });
  await page.getByText('line5 = 5').waitFor();
  const isSelected = await page.evaluate(() => {
    const node = [...(document.querySelector('[data-live] pre code') as Element).childNodes].find((each) => each.textContent?.includes('line'));
    getSelection()?.setBaseAndExtent(node as Node, 0, node as Node, 5);
    return getSelection()?.toString();
  });
  await isColoured(page);
  const { early, frames } = await page.evaluate(() => (globalThis as unknown as { seen: { early: number; frames: number } }).seen);
  t.ok(frames > 0, 'it was seen while it grew');
  t.equal(early, 0);
  await page.waitForFunction(() => document.querySelector('[data-live]') === null && document.querySelector('.meta') !== null);
  const found = await coloured(page);
  t.equal(found['word']?.length, 31);
  t.same(found['string'], ["'one'"]);
  t.equal(await page.evaluate(() => getSelection()?.toString()), isSelected, 'and what was selected in it still is');
});
