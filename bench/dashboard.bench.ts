// What does the dashboard cost: the browser that shows it, and the server behind it?
//
// A real Chromium before the built server, on one machine. Times are those that the page's main thread spends on scripts, styles and layout, as Chromium
// counts them. Painting is left out, except from the figures of an answer that grows: they are all that the thread does, in processor time, in a window of
// 1440 × 900 whose pixels the processor makes. `npm run build` makes the page.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import type { Test } from 'tap';
import { closeBrowser, openWorld, type World } from '../spec/support/browser.ts';
import { cpuMs, sleep } from './harness/processes.ts';
import { type Bar, digits, type Result } from './harness/report.ts';

const MANY_BLOCKS = 10_000;
const FEW_BLOCKS = 20;
const IDLE_MS = 20_000;
/** Half a minute of ninety tokens a second, each of some five characters. */
const PIECES = 2700;
const PIECE_CHARACTERS = 5;
const PIECES_A_SECOND = 90;
const SPAN_MS = 5000;

interface Found {
  readonly nodes: number;
  readonly filterMs: number;
  readonly sortMs: number;
  readonly serverIdlePercent: number;
  readonly pageIdlePercent: number;
  readonly streamPercent: number;
  /** Main thread for each second of the first and the last five seconds of the answer. */
  readonly firstMs: number;
  readonly lastMs: number;
}

export async function run({ blocks = MANY_BLOCKS, idleMs = IDLE_MS, pieces = PIECES } = {}): Promise<Result> {
  const many = await inBrowser((world) => fleet(world, blocks));
  const found = { ...many, ...(await inBrowser((world) => idle(world, idleMs))), ...(await inBrowser((world) => stream(world, pieces))) };
  return {
    name: 'dashboard',
    question: 'What does the dashboard cost?',
    tables: [{ title: 'The dashboard', columns: ['', 'figure'], rows: rowsOf(found, blocks, pieces) }],
    bars: barsOf(found),
    charts: [],
    notes: [
      'Milliseconds are those of the main thread of the page, for scripts, styles and layout, and for a growing answer all that it does; “idle” is a page that is open and visible while no block does anything.',
    ],
    data: found,
  };
}

function rowsOf(found: Found, blocks: number, pieces: number): string[][] {
  const many = blocks.toLocaleString('en-US');
  return [
    [`nodes of the page with ${many} blocks`, String(found.nodes)],
    [`to filter ${many} blocks`, `${digits(found.filterMs)} ms`],
    [`to sort ${many} blocks`, `${digits(found.sortMs)} ms`],
    [`the server, one page open and idle, ${FEW_BLOCKS} blocks`, `${digits(found.serverIdlePercent)} % of a core`],
    ['the page, idle and visible', `${digits(found.pageIdlePercent)} % of a core`],
    [`the page, ${pieces.toLocaleString('en-US')} pieces at ${PIECES_A_SECOND} a second, the end followed`, `${digits(found.streamPercent)} % of a core`],
    ['of it, a second of the first five', `${digits(found.firstMs)} ms`],
    ['of it, a second of the last five', `${digits(found.lastMs)} ms`],
  ];
}

function barsOf(found: Found): Bar[] {
  const most = (what: string, value: number, limit: number, unit: string): Bar => ({ what, value, limit, unit, side: 'most' });
  return [
    most('nodes with many blocks', found.nodes, 600, ''),
    most('to filter many blocks', found.filterMs, 50, ' ms'),
    most('to sort many blocks', found.sortMs, 50, ' ms'),
    most('the server, one page open and idle', found.serverIdlePercent, 0.5, ' % of a core'),
    most('the page, idle and visible', found.pageIdlePercent, 1, ' % of a core'),
    most('the page while an answer comes', found.streamPercent, 35, ' % of a core'),
    most('the last five seconds of an answer beside its first five', found.lastMs / found.firstMs, 1.2, ' ×'),
  ];
}

async function inBrowser<T>(work: (world: World) => Promise<T>): Promise<T> {
  const ends: (() => unknown)[] = [];
  const host = {
    teardown: (end: () => unknown) => void ends.unshift(end),
    fail: (text: string) => {
      throw new Error(text);
    },
    pass: () => undefined,
  };
  try {
    const world = await openWorld(host as unknown as Test, { isProcess: true });
    if (world === undefined) throw new Error('There is no browser; apt-get install chromium, or name one in BLOCKHOUSE_CHROMIUM.');
    return await work(world);
  } finally {
    for (const end of ends) await end();
    await closeBrowser();
  }
}

const OWN_WORK: ReadonlySet<string> = new Set(['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration']);

/** What the main thread has done for the page so far, in milliseconds. */
async function busyMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.reduce((sum, { name, value }) => sum + (OWN_WORK.has(name) ? value * 1000 : 0), 0);
}

async function meter(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  return session;
}

/** The fleet with this many blocks. */
async function open(world: World, blocks: number): Promise<Page> {
  await world.killServer();
  for (let index = 0; index < blocks; index += 1) {
    const name = `b${String(index).padStart(5, '0')}`;
    mkdirSync(join(world.workspace, 'blocks', name), { recursive: true });
    writeFileSync(join(world.workspace, 'blocks', name, 'config.json'), JSON.stringify({ name, description: `Block ${index}` }));
  }
  await world.startServer();
  const page = await world.page();
  await page.getByText(`${blocks.toLocaleString('en-US')} blocks`).waitFor();
  return page;
}

async function fleet(world: World, blocks: number): Promise<Pick<Found, 'nodes' | 'filterMs' | 'sortMs'>> {
  const page = await open(world, blocks);
  const session = await meter(page);
  const nodes = await page.locator('*').count();
  /** From the action to the frame that shows it. */
  const timed = async (action: () => Promise<unknown>, shown: () => Promise<unknown>): Promise<number> => {
    const before = await busyMs(session);
    await action();
    await shown();
    return (await busyMs(session)) - before;
  };
  const filterMs = await timed(
    () => page.getByRole('searchbox').fill('b00100'),
    () => page.getByText(`1 of ${blocks.toLocaleString('en-US')} blocks`).waitFor(),
  );
  await page.getByRole('searchbox').fill('');
  await page.getByText(`${blocks.toLocaleString('en-US')} blocks`, { exact: true }).waitFor();
  const sorter = page.getByRole('columnheader', { name: 'Block', exact: true }).getByRole('button');
  if ((await page.locator('[aria-sort=ascending]').count()) === 0) await sorter.click();
  const sortMs = await timed(
    () => sorter.click(),
    () => page.getByText(`b${String(blocks - 1).padStart(5, '0')}`).waitFor(),
  );
  return { nodes, filterMs, sortMs };
}

async function idle(world: World, idleMs: number): Promise<Pick<Found, 'serverIdlePercent' | 'pageIdlePercent'>> {
  const session = await meter(await open(world, FEW_BLOCKS));
  await sleep(5000);
  const [pageBefore, serverBefore, startedAt] = [await busyMs(session), cpuMs(world.pid), performance.now()];
  await sleep(idleMs);
  const ms = performance.now() - startedAt;
  return {
    serverIdlePercent: ((cpuMs(world.pid) - serverBefore) / ms) * 100,
    pageIdlePercent: (((await busyMs(session)) - pageBefore) / ms) * 100,
  };
}

/** An answer of paragraphs, lists and code. */
async function stream(world: World, pieces: number): Promise<Pick<Found, 'streamPercent' | 'firstMs' | 'lastMs'>> {
  const part = 'A paragraph with *some* words, `code` and a [link](https://example.com) in it.\n\n- one item\n- another item\n\n```js\nconst a = 1;\n```\n\n';
  const text = part.repeat(Math.ceil((pieces * PIECE_CHARACTERS) / part.length));
  world.standIn.onMessage(/long/, { content: text }, { latency: 1000 / PIECES_A_SECOND, chunkSize: PIECE_CHARACTERS });
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada');
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const sample = async (): Promise<Sample> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return { at: performance.now(), busy: (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000 };
  };
  await world.api('POST', '/api/blocks/ada/chat', { message: 'a long answer' });
  await page.getByText('A paragraph with').first().waitFor();
  const isOver = page
    .locator('[data-live]')
    .waitFor({ state: 'detached', timeout: 600_000 })
    .then(() => true);
  const samples = [await sample()];
  await page.getByRole('button', { name: 'Newest' }).click();
  while (!(await Promise.race([isOver, sleep(500).then(() => false)]))) samples.push(await sample());
  const [first, last] = [samples[0] as Sample, samples.at(-1) as Sample];
  const rate = (from: Sample | undefined, to: Sample | undefined): number =>
    from === undefined || to === undefined || from === to ? Number.NaN : ((to.busy - from.busy) / (to.at - from.at)) * 1000;
  return {
    streamPercent: rate(first, last) / 10,
    firstMs: rate(
      first,
      samples.find(({ at }) => at >= first.at + SPAN_MS),
    ),
    lastMs: rate(
      samples.findLast(({ at }) => at <= last.at - SPAN_MS),
      last,
    ),
  };
}

/** Milliseconds: when, and how long the main thread has worked until then. */
interface Sample {
  readonly at: number;
  readonly busy: number;
}
