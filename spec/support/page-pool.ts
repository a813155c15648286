// Pages that one test after the other uses: a page in a new context starts two processes, and compiles all scripts again, which takes more than twice what a load takes.
//
// as-new: a page comes without storage, pages beside it, routes, permissions, listeners or a pointer of the test before. Clocks, scripts before each document and
// routes of sockets can't be taken back, so a page that was prepared with one of these is not used again.
//
// at-rest: a page that nobody uses runs no script. Else it would count seconds, and draw that its server is away.
import type { Browser, CDPSession, Page } from 'playwright-core';
import { untilSo } from './until.ts';

/** How a page looks at first. */
export interface PageLook {
  readonly width: number;
  readonly height: number;
  readonly theme: 'light' | 'dark';
  readonly reducedMotion: boolean;
}

/** A document that is left asks for nothing more: the next server may have the address of its own. */
const MUTE = 'fetch = () => new Promise(() => undefined); WebSocket = EventTarget;';
const LISTENED = [
  'console',
  'dialog',
  'download',
  'framenavigated',
  'pageerror',
  'popup',
  'request',
  'requestfailed',
  'requestfinished',
  'response',
  'websocket',
];
/** How often a page is asked for what a test waits for. Playwright asks in each frame, and makes the page draw one for it. */
const POLLING_MS = 50;
/** Timers of the page that wait for longer can be hurried. */
const LONG_MS = 500;
/** Functions of a spec refer to `__name`. */
const BEFORE_EACH = `{
  globalThis.__name = (each) => each;
  const { setTimeout: begin, clearTimeout: end, setInterval: beginTurns } = globalThis;
  const waiting = new Map();
  const keep = (id, ms, run) => {
    if (ms >= ${LONG_MS}) waiting.set(id, { ms, run });
    return id;
  };
  globalThis.setTimeout = (run, ms, ...more) => {
    const once = () => {
      globalThis.clearTimeout(id);
      run(...more);
    };
    const id = keep(begin(once, ms), ms, once);
    return id;
  };
  globalThis.setInterval = (run, ms, ...more) => keep(beginTurns(run, ms, ...more), ms, () => run(...more));
  globalThis.clearTimeout = (id) => {
    waiting.delete(id);
    end(id);
  };
  globalThis.clearInterval = globalThis.clearTimeout; // both end either
  globalThis.__hurry = (limit) => {
    for (const { ms, run } of [...waiting.values()]) if (ms <= limit) run();
  };
}`;
/** Where no element is. */
const OUTSIDE = -10;

/** Narrower windows are those of phones. */
const hasTouch = (width: number): boolean => width < 500;

/** Those that nobody uses, by whether they are touched. */
const free = new Map<boolean, Page[]>();
/** Pages that are touched, which a test may have made wide. */
const touched = new WeakSet<Page>();
const debuggers = new WeakMap<Page, CDPSession>();

/** A page in a context of its own, which nobody has used. */
export async function newPage(browser: Browser, { width, height, theme, reducedMotion }: PageLook): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height },
    locale: 'en-US',
    colorScheme: theme,
    reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    hasTouch: hasTouch(width),
  });
  await context.addInitScript(BEFORE_EACH);
  const page = await context.newPage();
  const waitForFunction = page.waitForFunction.bind(page) as typeof page.waitForFunction;
  page.waitForFunction = ((asked: never, arg: never, options?: object) =>
    waitForFunction(asked, arg, { polling: POLLING_MS, ...options })) as typeof page.waitForFunction;
  if (hasTouch(width)) touched.add(page);
  return page;
}

/** A page that a test before has used, or a new one. It shows what it has shown until it goes elsewhere. */
export async function takePage(browser: Browser, look: PageLook): Promise<Page> {
  const page = free.get(hasTouch(look.width))?.pop();
  if (page === undefined) return newPage(browser, look);
  await setRest(page, false);
  const { width, height, theme, reducedMotion } = look;
  const before = page.viewportSize();
  if (before?.width !== width || before.height !== height) await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: reducedMotion ? 'reduce' : 'no-preference', forcedColors: null, contrast: null, media: null });
  return page;
}

/** as-new; the storage is that of an address, and emptied when the next test goes there. */
export async function putBack(page: Page): Promise<void> {
  if (page.isClosed()) return;
  for (const event of LISTENED) page.removeAllListeners(event);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.evaluate(MUTE);
  for (const other of page.context().pages()) if (other !== page) await other.close();
  await page.context().clearPermissions();
  await page.mouse.move(OUTSIDE, OUTSIDE);
  await setRest(page, true);
  const isTouched = touched.has(page);
  free.set(isTouched, [...(free.get(isTouched) ?? []), page]);
}

/** The debugger of a page, one for all its tests. */
async function debuggerOf(page: Page): Promise<CDPSession> {
  const own = debuggers.get(page) ?? (await page.context().newCDPSession(page));
  debuggers.set(page, own);
  return own;
}

/** at-rest. */
async function setRest(page: Page, value: boolean): Promise<void> {
  await (await debuggerOf(page)).send('Emulation.setScriptExecutionDisabled', { value });
}

/** Runs a large script in the document of a page. `page.evaluate` would read it in this process as well, and let the page evaluate it as a text, for twice the time. */
export async function runScript(page: Page, expression: string): Promise<void> {
  const { exceptionDetails } = await (await debuggerOf(page)).send('Runtime.evaluate', { expression: `${expression};0`, silent: true });
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
}

/** Lets time pass for the timers of a page, `ms` at a time, until something is so: what is to run in so long runs at once. Its clock is left alone. */
export async function passTime(page: Page, ms: number, what: string, isSo: () => Promise<boolean>): Promise<void> {
  await untilSo(what, async () => {
    await page.evaluate(`__hurry(${ms})`);
    return isSo();
  });
}

/** No page is kept, for the browser is closed. */
export function forgetPages(): void {
  free.clear();
}
