// What the page knows after a connection, a computer or a tab has slept.
import type { Page } from 'playwright-core';
import t from 'tap';
import { closeBrowser, inWhole, isWhole, openWorld, type World } from '../support/browser.ts';
import { PageSocket } from '../support/page-socket.ts';
import { until } from '../support/until.ts';

t.teardown(closeBrowser);

const LIVE = '.live:has-text("Live")';
const OLD = 'What you see is as it was then.';
/** Of a conversation during which notices of change come all the time. */
const TURNS = 10;

/** One question with its answer, as another client asks it. */
async function converse(world: World, message: string): Promise<void> {
  await world.api('POST', '/api/blocks/ada/chat?wait=60', { message });
}

/** From here on, time goes on only as the test says; what was to be read soon has been asked for. */
async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000);
}

/** Entries that were shown and are not any more, seen after every change of the document. */
async function watchEntries(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(() => {
    const kept = { seen: new Set<string>(), lost: [] as string[] };
    Object.assign(globalThis, { kept });
    const look = (): void => {
      const now = new Set([...document.querySelectorAll<HTMLElement>('[data-entry]')].map(({ dataset }) => dataset['entry'] ?? ''));
      for (const id of kept.seen) if (!now.has(id)) kept.lost.push(id);
      kept.seen = new Set([...kept.seen, ...now]);
    };
    look();
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { kept: { lost: string[] } }).kept.lost);
}

t.test('case 16: a socket that dies without a word is found within 45 s, and what was missed is there after it', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/first/, { content: 'The first answer.' });
  world.standIn.onMessage(/./, { content: 'The missed answer.' });
  await world.block('ada');
  const socket = new PageSocket();
  const page = await world.page('/ui/blocks/ada', {
    async prepare(page) {
      await page.clock.install();
      await socket.between(page);
    },
  });
  await converse(world, 'first');
  await page.getByText('The first answer.').waitFor();
  const before = socket.count;
  await stopClock(page);
  socket.dieSilently();
  await converse(world, 'second');
  await world.block('bob');
  t.equal(await page.getByText('The missed answer.').count(), 0);
  await page.clock.runFor(45_000);
  await until('the page has another connection', () => socket.count > before);
  await page.clock.resume();
  await page.getByText('The missed answer.').waitFor();
  await page.locator(LIVE).waitFor();
  t.equal(socket.count, before + 1, 'by one new connection');
  await page.locator('.nav', { hasText: 'Fleet' }).locator('.n', { hasText: '2' }).waitFor();
});

t.test('as soon as the server answers a request, the page is connected again', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada', { expected: [/./], prepare: (page) => page.clock.install() });
  const field = page.getByRole('textbox', { name: 'Message ada…' });
  for (const each of [page.locator(LIVE), field]) await each.waitFor();
  await world.endServer();
  await page.getByText('Not connected').waitFor();
  await stopClock(page);
  const line = page.locator('.strip', { hasText: OLD });
  while (!/Next try in 1\d s/.test((await line.allTextContents()).join())) await page.clock.runFor(1000);
  await world.startServer();
  await field.fill('Are you there?');
  await page.keyboard.press('Enter');
  await page.locator(LIVE).waitFor();
});

t.test('what has happened before the page was loaded anew is in its events, once', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('eve');
  const page = await world.page('/ui/');
  await page.locator(LIVE).waitFor();
  await world.block('ada');
  await page.locator('[data-name="ada"]').waitFor();
  await page.reload();
  await page.locator('[data-name="ada"]').waitFor();
  await world.block('bob');
  await page.getByRole('link', { name: 'Events' }).click();
  const created = page.locator('.events tr', { hasText: 'block.created' });
  for (const name of ['ada', 'bob']) await created.filter({ hasText: name }).waitFor();
  t.equal(await created.count(), 2);
});

t.test('case 17: after eight hours of sleep the page is marked as old at first, and then right', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Said meanwhile.' });
  await world.block('ada');
  const socket = new PageSocket();
  let wake = (): void => undefined;
  let asleep: Promise<void> = Promise.resolve();
  const page = await world.page('/ui/blocks/ada', {
    async prepare(page) {
      await page.clock.install();
      await socket.between(page);
      await page.route('**/api/**', async (route) => {
        await asleep;
        await route.continue();
      });
    },
  });
  await page.locator(LIVE).waitFor();
  await stopClock(page);
  socket.dieSilently();
  asleep = new Promise((resolve) => {
    wake = resolve;
  });
  await converse(world, 'Are you awake?');
  await page.clock.fastForward('08:00:00');
  await page.getByText(OLD).waitFor();
  t.equal(await page.getByText('Said meanwhile.').count(), 0);
  t.equal(await page.getByRole('heading', { name: 'ada', level: 1 }).count(), 1, 'nothing is emptied');
  wake();
  await page.clock.resume();
  await page.getByText('Said meanwhile.').waitFor();
  await page.getByText(OLD).waitFor({ state: 'detached' });
  await page.locator(LIVE).waitFor();
});

t.test('of a block in which nothing has happened, a new connection brings nothing again', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Said before.' });
  await world.block('ada');
  await converse(world, 'Hello');
  await world.api('POST', '/api/blocks/ada/stop');
  const socket = new PageSocket();
  const page = await world.page('/ui/blocks/ada', { prepare: (page) => socket.between(page) });
  await page.getByText('Said before.').waitFor();
  await page.locator(LIVE).waitFor();
  const answers = new Map<string, number>();
  page.on('response', (response) => void answers.set(new URL(response.url()).pathname, response.status()));
  await socket.end();
  for (const path of ['/api/blocks/ada', '/api/blocks/ada/chat']) await until(`304 for ${path}`, () => answers.get(path) === 304);
  await page.locator(LIVE).waitFor();
  t.equal(await page.getByText('Said before.').count(), 1);
});

t.test('case 18: a hundred notices of change a second make few reads and no flicker, and the last state is shown', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Answered.' });
  await world.block('ada');
  await converse(world, 'message 0');
  const socket = new PageSocket();
  const page = await world.page('/ui/blocks/ada', { prepare: (page) => socket.between(page) });
  await page.getByText('message 0').waitFor();
  let reads = 0;
  page.on('request', (request) => {
    if (/\/api\/blocks\/ada\/chat/.test(request.url())) reads += 1;
  });
  const lost = await watchEntries(page);
  const began = performance.now();
  const asked = (async () => {
    for (let turn = 1; turn <= TURNS; turn += 1) await converse(world, `message ${turn}`);
  })();
  let isAsked = false;
  void asked.then(() => {
    isAsked = true;
  });
  let notices = 0;
  for (; notices < 30 * TURNS || !isAsked; notices += 1) {
    socket.send({ type: 'refresh', block: 'ada' });
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 10)));
  }
  await page.getByText(`message ${TURNS}`, { exact: true }).waitFor();
  const seconds = (performance.now() - began) / 1000;
  t.ok(reads >= 2 && reads <= seconds * 10 + 1, `${reads} reads for ${notices} notices in ${seconds} s`);
  t.same(await lost(), [], 'no entry left the document');
  await page.waitForFunction((count) => document.querySelectorAll('[data-entry]').length === count, 2 * TURNS + 2);
  t.equal(await page.locator('.log article').count(), 2 * TURNS + 2, 'no reply stands beside its entry');
  t.equal(await page.locator('[data-entry]').getByText('Answered.', { exact: true }).count(), TURNS + 1);
});

/** As if the tab went behind another one, or came back. */
async function show(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
    Object.defineProperty(document, 'visibilityState', { value: hidden ? 'hidden' : 'visible', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
}

t.test('case 38: a hidden tab draws nothing and asks nothing, and is right when it is seen again', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Said behind its back.' });
  await world.block('ada');
  const socket = new PageSocket();
  const page = await world.page('/ui/blocks/ada', {
    async prepare(page) {
      await page.clock.install();
      await socket.between(page);
    },
  });
  await page.locator(LIVE).waitFor();
  await page.waitForLoadState('networkidle');
  await stopClock(page);
  await show(page, true);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.evaluate(() => {
    const changed: string[] = [];
    Object.assign(globalThis, { changed });
    new MutationObserver((records) => changed.push(...records.map(({ type, target }) => `${type} ${target.nodeName}`))).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
  });
  await converse(world, 'Is somebody there?');
  await world.block('bob');
  const minutes = isWhole ? 60 : 1;
  for (let ping = 0; ping < minutes * 3; ping += 1) {
    const { heard } = socket;
    await page.clock.runFor(20_000);
    await until('the ping is answered', () => socket.heard > heard);
  }
  t.same(requests, []);
  t.same(await page.evaluate(() => (globalThis as unknown as { changed: string[] }).changed), []);
  await page.clock.resume();
  await show(page, false);
  await page.getByText('Said behind its back.').waitFor();
  await page.locator('.nav', { hasText: 'Fleet' }).locator('.n', { hasText: '2' }).waitFor();
  await page.locator(LIVE).waitFor();
  t.equal(socket.count, 1, 'over the connection that it had');
});

t.test('a page that is opened while the server is away comes when it is back', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const page = await world.page('/ui/', { expected: [/net::ERR_/, /WebSocket/, /503/] });
  await page.locator(LIVE).waitFor();
  await world.endServer(); // a request may be under way: how the browser names its end depends on how much of the answer has come
  await page.locator(LIVE).waitFor({ state: 'hidden' });
  // The settings share a script with the first page of an empty workspace, which may be there already.
  await page.locator('.nav', { hasText: 'Costs' }).click();
  await page.getByText('This page comes as soon as the server answers.').waitFor();
  await world.startServer();
  await page.getByText('This page comes').waitFor({ state: 'hidden' });
  await page.getByRole('heading', { name: 'Costs' }).waitFor();
  t.equal(await page.getByText('This page comes').count(), 0);
});
