// A chat with many entries, and with very long ones.
import type { Page } from 'playwright-core';
import t from 'tap';
import { closeBrowser, inWhole, isWhole, openWorld } from '../support/browser.ts';
import { entryId, type Said, writeChat } from '../support/chat-on-disk.ts';

t.teardown(closeBrowser);

/** Of code. */
const MANY_LINES = isWhole ? 20_000 : 2500;
const WORDS = 'Words that go on without a break. ';
/** An entry of 2 MB, or of a twentieth of that. */
const MANY_WORDS = isWhole ? 62_000 : 3100;

/** Questions with their answers, each with its own words. */
function said(count: number): readonly Said[] {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? { role: 'user', content: `question ${index}.` } : { role: 'assistant', content: `answer ${index}.\n\nIt has some **words** and ends.` },
  );
}

interface Line {
  readonly id: string;
  readonly at: number;
}

/** Scrolls to the top, and tells the first entry there, and where it is, before the page can do anything about it. */
function scrollUp(page: Page): Promise<Line> {
  return lineOf(page, undefined);
}

/** Where an entry is once the page has drawn what came. */
async function drawn(page: Page, id: string): Promise<Line> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  return lineOf(page, id);
}

function lineOf(page: Page, id: string | undefined): Promise<Line> {
  return page.evaluate((wanted) => {
    const log = document.querySelector('[role="log"]') as HTMLElement;
    if (wanted === undefined) log.scrollTop = 0;
    const edge = log.getBoundingClientRect().top;
    const all = [...log.querySelectorAll<HTMLElement>('[data-entry]')];
    const found = all.find((each) => (wanted === undefined ? each.getBoundingClientRect().top >= edge : each.dataset['entry'] === wanted));
    return { id: found?.dataset['entry'] ?? '', at: (found?.getBoundingClientRect().top ?? 0) - edge };
  }, id);
}

t.test('case 31: of 500 entries 40 are made at first, older ones come without moving the line in view, and a link to an entry loads up to it', async (t) => {
  const world = await openWorld(t, { files: (workspace) => writeChat(workspace, 'ada', said(500)) });
  if (world === undefined) return;
  const page = await world.page('/ui/blocks/ada');
  await page.getByText('question 498.').waitFor();
  const entries = page.locator('[data-entry]');
  t.equal(await entries.count(), 40);
  // What the browser's own search can find. (`window.find` finds nothing at all in a Chromium without a window.)
  const find = (text: string): Promise<boolean> => page.evaluate((wanted) => document.body.innerText.includes(wanted), text);
  t.equal(await find('answer 499.'), true);
  t.equal(await find('answer 401.'), false, 'it is not loaded');

  for (let turn = 0; turn < (isWhole ? 8 : 5); turn += 1) {
    const { id, at } = await scrollUp(page);
    if (id === entryId(0)) break;
    await page.waitForFunction((known) => document.querySelector<HTMLElement>('[data-entry]')?.dataset['entry'] !== known, id);
    const now = await drawn(page, id);
    t.ok(Math.abs(now.at - at) <= 1, `the line in view moved by ${now.at - at} px`);
  }
  t.ok((await entries.count()) > 200);
  t.ok((await entries.count()) <= 400, 'at most 400 entries');
  t.equal(await find('answer 401.'), true, 'what is loaded is found');

  await page.goto(`${world.url}/ui/blocks/ada?at=${entryId(21)}`);
  await page.waitForFunction((id) => document.activeElement?.id === `entry-${id}`, entryId(21));
  t.equal(await page.getByText('answer 21.').isVisible(), true);
  await page.getByRole('button', { name: 'Newest' }).click();
  await page.getByText('answer 499.').waitFor();
});

t.test('case 33: typing touches the same nodes in a chat of 4 entries and of 400, and none of an entry', inWhole, async (t) => {
  const world = await openWorld(t, {
    files(workspace) {
      writeChat(workspace, 'few', said(4));
      writeChat(workspace, 'many', said(400));
    },
  });
  if (world === undefined) return;
  const touched: string[][] = [];
  for (const [name, count] of [
    ['few', 4],
    ['many', 400],
  ] as const) {
    const page = await world.page(`/ui/blocks/${name}?at=${entryId(0)}`);
    await page.getByText('question 0.').waitFor();
    await page.waitForFunction((least) => document.querySelectorAll('[data-entry]').length >= least, Math.min(count, 200));
    const field = page.getByRole('textbox', { name: `Message ${name}…` });
    await field.focus();
    await world.rest(page);
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      const nameOf = (node: Node): string => (node instanceof Element ? node.className || node.localName : nameOf(node.parentElement as Element));
      new MutationObserver((records) => {
        for (const { target, type } of records) if (!(target instanceof HTMLTimeElement)) seen.push(`${type} of ${nameOf(target)}`);
      }).observe(document.querySelector('main') as Element, { subtree: true, childList: true, characterData: true, attributes: true });
    });
    await page.keyboard.type('some words that somebody types');
    await page.waitForFunction(() => JSON.stringify(localStorage).includes('somebody types'));
    touched.push([...new Set(await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen))].sort());
  }
  t.same(touched[1], touched[0]);
  t.same(
    touched[0]?.filter((each) => / of (m\b|prose|log)/.test(each)),
    [],
  );
});

t.test(
  `case 32: an entry of ${isWhole ? '2 MB' : '100 KB'} and one of ${MANY_LINES} lines of code are cut, come on demand, and the page answers keys meanwhile`,
  async (t) => {
    const lines = Array.from({ length: MANY_LINES }, (_, index) => `const value${index} = compute(${index});`);
    const world = await openWorld(t, {
      files(workspace) {
        writeChat(workspace, 'ada', [
          { role: 'user', content: 'first' },
          { role: 'assistant', content: `${WORDS.repeat(MANY_WORDS)}THE END` },
        ]);
        writeChat(workspace, 'bob', [
          { role: 'user', content: 'second' },
          { role: 'assistant', content: `Look:\n\n\`\`\`ts\n${lines.join('\n')}\n\`\`\`\n\nTHE END` },
        ]);
      },
    });
    if (world === undefined) return;
    const page = await world.page('/ui/blocks/ada');
    const length = (): Promise<number> => page.evaluate(() => document.querySelector('[data-entry] .prose:not(.typed)')?.textContent.length ?? 0);
    const field = page.getByRole('textbox', { name: /^Message / });
    // Asked now and then only: to ask costs as much as to draw a part.
    const whole = async (): Promise<void> => {
      const options = { timeout: 120_000, polling: 200 };
      await page.waitForFunction(() => document.querySelector('.prose > .rest') === null, undefined, options);
      t.match(await page.evaluate(() => [...document.querySelectorAll('.prose')].at(-1)?.textContent.slice(-20)), /THE END$/);
    };
    await page.getByText('more characters').waitFor();
    t.ok((await length()) < 70_000, 'an entry is cut');
    await page.getByRole('button', { name: 'Show all' }).click();
    await field.pressSequentially('typed meanwhile');
    if (isWhole) t.ok((await length()) < MANY_WORDS * WORDS.length, 'the page answers keys while the rest comes');
    t.equal(await field.inputValue(), 'typed meanwhile');
    await whole();

    await page.goto(`${world.url}/ui/blocks/bob`);
    await page.getByText('more characters').waitFor();
    t.equal(await page.evaluate(() => document.querySelector('pre')?.textContent.split('\n').length), 400, 'code is cut');
    await page.locator('.prose > .rest').getByRole('button', { name: 'Show all' }).click();
    await field.pressSequentially('typed meanwhile');
    await whole();
    await page.locator('.code').getByRole('button', { name: 'Show all' }).click();
    await page.waitForFunction((count) => document.querySelector('pre')?.textContent.split('\n').length === count, lines.length, {
      timeout: 120_000,
      polling: 200,
    });
    t.equal(await field.inputValue(), 'typed meanwhile');
  },
);
