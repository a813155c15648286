// Pages that one test after the other uses: a page in a new context starts two processes, and compiles all scripts again, which takes more than twice what a load takes.
//
// as-new: a page comes without storage, pages beside it, routes, permissions, listeners or a pointer of the test before. Clocks, scripts before each document and
// routes of sockets can't be taken back, so a page that was prepared with one of these is not used again.
import type { Browser, Page } from 'playwright-core';

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
/** Where no element is. */
const OUTSIDE = -10;

/** Narrower windows are those of phones. */
const hasTouch = (width: number): boolean => width < 500;

/** Those that nobody uses, by whether they are touched. */
const free = new Map<boolean, Page[]>();
/** Pages that are touched, which a test may have made wide. */
const touched = new WeakSet<Page>();

/** A page in a context of its own, which nobody has used. */
export async function newPage(browser: Browser, { width, height, theme, reducedMotion }: PageLook): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height },
    locale: 'en-US',
    colorScheme: theme,
    reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    hasTouch: hasTouch(width),
  });
  await context.addInitScript('globalThis.__name = (each) => each'); // functions of a spec refer to it
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
  const { width, height, theme, reducedMotion } = look;
  await page.setViewportSize({ width, height });
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
  const isTouched = touched.has(page);
  free.set(isTouched, [...(free.get(isTouched) ?? []), page]);
}

/** No page is kept, for the browser is closed. */
export function forgetPages(): void {
  free.clear();
}
