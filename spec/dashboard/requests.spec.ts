import type { Page } from 'playwright-core';
import t from 'tap';
import { PATIENCE_MS } from '../../transports/dashboard/data/socket.ts';
import { closeBrowser, isWhole, openWorld } from '../support/browser.ts';
import { PAGE_PATHS } from '../support/page-paths.ts';
import { passTime } from '../support/page-pool.ts';

t.teardown(closeBrowser);

/** Longer than any page waited between two readings, and shorter than the ping of the socket. */
const IDLE_MS = 15_000;
const TABS = ['', '/memory', '/config', '/logs', '/costs', '/history'].map((tab) => `/ui/blocks/ada${tab}`);
const PATHS = [...PAGE_PATHS, ...TABS, '/ui/gateway?tab=programs', '/ui/search?find=sky'];
/** How long the page waits between two looks at the figures of the gateway, and at the costs. */
const FIGURES_MS = 5000;
const COSTS_MS = 10_000;
/** First steps look for a provider that is started meanwhile; here there is one. */
const IN_SHORT = ['/ui/blocks/ada', '/ui/gateway'];

/** Time can be passed, and a connection is waited for, however busy this machine is. */
async function prepare(page: Page): Promise<void> {
  await page.clock.install();
  await page.addInitScript(`{
    const later = globalThis.setTimeout;
    globalThis.setTimeout = (run, ms, ...more) => later(run, ms === ${PATIENCE_MS} ? 1e9 : ms, ...more);
  }`);
}

t.test('case 50: a page asks for nothing twice when it is opened, and for nothing at all while nothing happens', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Because of the air.' });
  await world.block('ada');
  await world.api('POST', '/api/blocks/ada/chat?wait=60', { message: 'Why is the sky blue?' });
  const page = await world.page('/ui/', { prepare });
  await page.waitForLoadState('networkidle');
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    asked.push(`${request.method()} ${pathname}${search}`);
  });
  for (const path of isWhole ? PATHS : IN_SHORT) {
    asked.length = 0;
    await world.show(page, path);
    await page.locator('.live', { hasText: 'Live' }).waitFor();
    await page.waitForLoadState('networkidle');
    t.same(
      asked.filter((each, index) => asked.indexOf(each) !== index),
      [],
      `${path} asks twice`,
    );
    t.ok(asked.includes('GET /api/health'), 'requests are seen');
    asked.length = 0;
    await page.clock.runFor(IDLE_MS);
    await page.waitForLoadState('networkidle');
    t.same(asked, [], `${path} asks while nothing happens`);
  }
});

t.test('the figures and requests of the gateway, and the costs, are read again when something happens', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Because of the air.' });
  await world.block('ada');
  const ask = () => world.api('POST', '/api/blocks/ada/chat?wait=60', { message: 'Why is the sky blue?' });
  const page = await world.page('/ui/gateway');
  await page.getByText('No request is under way.').waitFor();
  await ask();
  await passTime(page, FIGURES_MS, 'the figures are read again', () => page.locator('.plot').first().isVisible());
  await page.getByRole('button', { name: 'Last 500 1' }).waitFor();
  await world.show(page, '/ui/costs');
  const calls = page.locator('table').first().locator('tbody tr').first();
  await calls.waitFor();
  const before = await calls.innerText();
  await ask();
  await passTime(page, COSTS_MS, 'the costs are read again', async () => (await calls.innerText()) !== before);
});
