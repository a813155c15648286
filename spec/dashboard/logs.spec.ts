import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import t from 'tap';
import { closeBrowser, inWhole, isWhole, openWorld } from '../support/browser.ts';
import { until } from '../support/until.ts';

t.teardown(closeBrowser);

const area = (page: Page): Locator => page.getByRole('log');
const OLD = '2026-01-01T00-00-00Z-monitor.log';
/** More than the 2,000 that are shown at most. */
const OLD_LINES = 5000;

t.test('case 36: a log that grows fast has bounded nodes, moves nothing for who reads further up, and counts what is new', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Yes.' });
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada/logs', { height: isWhole ? 900 : 390 });
  const post = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) await world.api('POST', '/api/blocks/ada/chat', { message: `go ${index}` });
  };
  const idle = (): Promise<unknown> => world.api('POST', '/api/blocks/ada/chat?wait=60', { message: 'last' });
  const written = (): string[] => {
    const folder = join(world.workspace, 'blocks/ada/logs');
    return readFileSync(join(folder, readdirSync(folder).sort().at(-1) ?? ''), 'utf8')
      .trimEnd()
      .split('\n');
  };
  const lines = page.locator('.lines .line');
  /** Waits until every line of the file is there: the block's rest is logged after its answer. */
  const complete = async (): Promise<void> => {
    await until('the block rests', () => written().at(-1)?.includes('state.idle') === true);
    await page.waitForFunction((count) => document.querySelectorAll('.lines .line').length === count, written().length);
  };
  await post(isWhole ? 40 : 16);
  await idle();
  await complete();
  const before = written().length;

  await area(page).hover();
  await page.mouse.wheel(0, isWhole ? -700 : -350);
  await page.waitForFunction(() => {
    const log = document.querySelector('.lines');
    return log !== null && log.scrollHeight - log.scrollTop - log.clientHeight > 300;
  });
  const inView = await page.evaluate(() => {
    const log = document.querySelector('.lines') as HTMLElement;
    const { top } = log.getBoundingClientRect();
    const all = [...log.querySelectorAll<HTMLElement>('.line')];
    const index = all.findIndex((line) => line.getBoundingClientRect().top >= top);
    return { index, at: all[index]?.getBoundingClientRect().top };
  });
  await post(isWhole ? 20 : 3);
  await idle();
  await complete();
  t.equal(await lines.nth(inView.index).evaluate((line) => line.getBoundingClientRect().top), inView.at, 'the line in view is where it was');
  await page.getByRole('button', { name: `${written().length - before} new lines` }).click();
  await page.waitForFunction(() => {
    const log = document.querySelector('.lines');
    return log !== null && log.scrollHeight - log.scrollTop - log.clientHeight < 8;
  });
  t.ok(
    written()
      .at(-1)
      ?.includes((await lines.last().locator('b').textContent()) ?? '?'),
  );
});

t.test('case 36: older lines of a log come as somebody scrolls up, never more than fit, and a download has all', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const folder = join(world.workspace, 'blocks/eve/logs');
  await world.block('eve');
  mkdirSync(folder, { recursive: true });
  const text = Array.from({ length: OLD_LINES }, (_, index) => `2026-01-01T00:00:00.000Z INFO line number=${index} ${'x'.repeat(60)}\n`).join('');
  writeFileSync(join(folder, OLD), text);
  const page = await world.page('/ui/blocks/eve/logs');
  const lines = page.locator('.lines .line');
  await page.getByLabel('File').selectOption(OLD);
  await page.getByText(`number=${OLD_LINES - 1} `).waitFor();
  t.ok((await lines.count()) < 1000, 'at first, only its end is read');
  const isAtBegin = (): Promise<boolean> => area(page).evaluate((log) => log.querySelector('.line')?.textContent.includes('number=0 ') === true);
  for (let turn = 0; turn < 40 && !(await isAtBegin()); turn += 1) {
    const { text: line, at } = await area(page).evaluate((log) => {
      log.scrollTop = 0;
      const first = log.querySelector('.line');
      return { text: first?.textContent, at: first?.getBoundingClientRect().top };
    });
    await page.waitForFunction((known) => document.querySelector('.lines .line')?.textContent !== known, line);
    const now = await area(page).evaluate(
      (log, known) => [...log.children].find(({ textContent }) => textContent === known)?.getBoundingClientRect().top,
      line,
    );
    t.equal(now, at, 'the line in view stays');
  }
  t.ok((await lines.count()) <= 2000, 'at most 2,000 lines');
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
  t.equal(readFileSync(await saved.path(), 'utf8'), text, 'and a download has all of it');
});
