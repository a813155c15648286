// A page that is kept open all day.
import type { CDPSession, Page } from 'playwright-core';
import t from 'tap';
import { closeBrowser, inWhole, openWorld, type World } from '../support/browser.ts';

t.teardown(closeBrowser);

const DAY_SECONDS = 28_800;
const ROUNDS = 24;
const WARM_UP = 3;
const COLLECTIONS = 8;
/** One page and one connection that were left may wait for a later collection. In a day the test leaves some 200 pages. */
const ONE_PAGE = { nodes: 400, listeners: 16 } as const;

/** What must be the same in the evening as in the morning. */
interface Held {
  readonly nodes: number;
  readonly listeners: number;
  readonly timers: number;
  readonly sockets: number;
  readonly heap: number;
}

/** Counts timers that run again and again, and open sockets. */
function countOwn(): void {
  const own = { timers: new Set<unknown>(), sockets: new Set<WebSocket>() };
  Object.assign(globalThis, { own });
  const { setInterval, clearInterval, WebSocket } = globalThis;
  Object.assign(globalThis, {
    setInterval(...given: Parameters<typeof setInterval>) {
      const timer = setInterval(...given);
      own.timers.add(timer);
      return timer;
    },
    clearInterval(timer: number) {
      own.timers.delete(timer);
      clearInterval(timer);
    },
    WebSocket: class extends WebSocket {
      constructor(url: string) {
        super(url);
        own.sockets.add(this);
        this.addEventListener('close', () => own.sockets.delete(this));
      }
    },
  });
}

async function held(page: Page, cdp: CDPSession): Promise<Held> {
  await page.getByRole('heading', { name: 'Fleet', level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.toast').length === 0);
  const { timers, sockets } = await page.evaluate(() => {
    const { own } = globalThis as unknown as { own: { timers: Set<unknown>; sockets: Set<unknown> } };
    return { timers: own.timers.size, sockets: own.sockets.size };
  });
  let least = { nodes: Number.MAX_VALUE, listeners: Number.MAX_VALUE, heap: Number.MAX_VALUE };
  // What one collection leaves behind may go with the next.
  for (let turn = 0; turn < COLLECTIONS; turn += 1) {
    await cdp.send('HeapProfiler.collectGarbage');
    const { metrics } = await cdp.send('Performance.getMetrics');
    const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
    least = {
      nodes: Math.min(least.nodes, of('Nodes')),
      listeners: Math.min(least.listeners, of('JSEventListeners')),
      heap: Math.min(least.heap, of('JSHeapUsedSize')),
    };
  }
  return { ...least, timers, sockets };
}

/** A part of the day: something is said, the list changes, every page is looked at, and time passes. */
async function round(page: Page, world: World, turn: number): Promise<void> {
  await world.api('POST', '/api/blocks/ada/chat?wait=60', { message: `Turn ${turn}.` });
  await world.api('PUT', '/api/blocks/bob/config', { description: `as of turn ${turn}` });
  for (const path of ['/ui/gateway', '/ui/costs', '/ui/events', '/ui/blocks/ada', '/ui/blocks/ada/logs', '/ui/blocks/ada/memory', '/ui/settings', '/ui/']) {
    await page.evaluate((to) => {
      const link = document.createElement('a');
      link.href = to;
      document.querySelector('main')?.append(link);
      link.click();
      link.remove();
    }, path);
    await page.waitForURL(world.url + path);
    await page.locator('main h1').first().waitFor({ state: 'attached' });
    if (path === '/ui/blocks/ada') await page.getByText(`Answer to turn ${turn}.`, { exact: true }).waitFor();
  }
  await page.clock.fastForward((DAY_SECONDS / ROUNDS) * 1000);
  await page.locator('.live', { hasText: 'Live' }).waitFor();
  await page.getByText(`as of turn ${turn}`).waitFor();
}

t.test('case 37: after a day of changes on every page, nodes, listeners, timers and sockets are as before, and the heap is within 2 MB', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  for (let turn = 0; turn < ROUNDS + WARM_UP; turn += 1) world.standIn.onMessage(`Turn ${turn}.`, { content: `Answer to turn ${turn}.` });
  await world.block('ada');
  await world.block('bob');
  const page = await world.page('/ui/', {
    async prepare(page) {
      await page.clock.install();
      await page.addInitScript(countOwn);
    },
  });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  for (let turn = 0; turn < WARM_UP; turn += 1) await round(page, world, turn);
  const morning = await held(page, cdp);
  for (let turn = WARM_UP; turn < ROUNDS + WARM_UP; turn += 1) await round(page, world, turn);
  const evening = await held(page, cdp);
  t.equal(evening.sockets, 1);
  t.equal(evening.timers, morning.timers);
  t.ok(evening.listeners <= morning.listeners + ONE_PAGE.listeners, `${morning.listeners} listeners, then ${evening.listeners}`);
  t.ok(evening.nodes <= morning.nodes + ONE_PAGE.nodes, `${morning.nodes} nodes, then ${evening.nodes}`);
  t.ok(evening.heap - morning.heap <= 2 * 1024 * 1024, `${morning.heap} bytes, then ${evening.heap}`);
});
