// For who listens, who wants no motion, who chooses the colours, and who reads from right to left.
import type { Page } from 'playwright-core';
import t from 'tap';
import { closeBrowser, inWhole, openWorld, type World } from '../support/browser.ts';

t.teardown(closeBrowser);

const LONG = Array.from({ length: 12 }, (_, index) => `Paragraph ${index} has some **bold** words in it, and ends.`).join('\n\n');

/** Asks, and resolves when the answer is being written. */
async function stream(page: Page, world: World): Promise<void> {
  await page.getByText('Nothing has been said yet.').waitFor();
  await world.api('POST', '/api/blocks/ada/chat', { message: 'Tell me much' });
  await page.locator('[data-live]').waitFor();
}

t.test('case 50: a stream produces two announcements, and the growing text is none', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: LONG });
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada');
  await page.getByText('Nothing has been said yet.').waitFor();
  await page.evaluate(() => {
    const told: string[] = [];
    Object.assign(globalThis, { told });
    new MutationObserver((records) => {
      for (const { target } of records) {
        const region = (target instanceof Element ? target : target.parentElement)?.closest('[aria-live], [role="status"], [role="alert"], [role="log"]');
        const text = region?.textContent.trim() ?? '';
        if (region != null && region.getAttribute('aria-live') !== 'off' && text !== '' && told.at(-1) !== text) told.push(text);
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await stream(page, world);
  await page.locator('[role="status"]', { hasText: 'Answer complete' }).waitFor({ state: 'attached' });
  const told = await page.evaluate(() => (globalThis as unknown as { told: string[] }).told);
  t.equal(told.length, 2, told.join(' | '));
  t.match(told, ['ada is writing', /^Answer complete, \d+ tokens?$/]);
});

t.test('case 50: nothing moves by itself but the marks of work, and with reduced motion nothing moves at all', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: LONG.repeat(3) });
  await world.block('ada');
  const page = await world.page('/ui/blocks/ada', { reducedMotion: false });
  await stream(page, world);
  const moving = (): Promise<readonly string[]> =>
    page.evaluate(() =>
      document
        .getAnimations()
        .filter(({ effect, playState }) => playState === 'running' && Number(effect?.getComputedTiming().duration) > 1)
        .map(({ effect }) => effect as KeyframeEffect)
        .map(({ target, pseudoElement }) => `${target?.closest('[data-live] .prose') == null ? target?.className : 'the end of the text'} ${pseudoElement}`),
    );
  await page.waitForFunction(() => document.getAnimations().length > 0);
  t.same(
    [...new Set(await moving())].filter((name) => name !== 'mark working ::before' && name !== 'the end of the text ::after'),
    [],
  );
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.locator('[data-live]').waitFor();
  t.same(await moving(), []);
});

t.test('case 50: with forced colours everything is where it was, and states keep their shapes', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.block('ada');
  await world.api('POST', '/api/blocks', { name: 'bob', config: { adapter: { provider: 'ollama', model: 'stand-in' } } });
  await world.api('POST', '/api/blocks', { name: 'eve' });
  const page = await world.page();
  await page.getByRole('link', { name: 'eve', exact: true }).waitFor();
  await page.locator('[data-name="ada"] .mark.idle').waitFor();
  const places = (): Promise<readonly string[]> =>
    page.evaluate(() =>
      [...document.querySelectorAll('.side, main, h1, .tr, .tr .mark, .btn, input')].map((each) => JSON.stringify(each.getBoundingClientRect())),
    );
  const before = await places();
  await page.emulateMedia({ forcedColors: 'active' });
  t.same(await places(), before);
  const pictures = new Set<string>();
  for (const name of ['ada', 'bob', 'eve']) pictures.add((await page.locator(`[data-name="${name}"] .mark`).screenshot()).toString('base64'));
  t.equal(pictures.size, 3, 'idle, stopped and unconfigured look different');
});

t.test('case 50: from right to left the page is mirrored, and no wider', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: LONG }, { chunkSize: 1000, latency: 1 });
  await world.block('ada', { description: 'Answers' });
  await world.api('POST', '/api/blocks/ada/chat?wait=60', { message: 'Hello' });
  const page = await world.page();
  /** Where things begin, as seen from where a line begins, and how wide they are. */
  const placesOf = (selectors: readonly string[]): Promise<readonly { readonly start: number; readonly width: number }[]> =>
    page.evaluate((list) => {
      const isMirrored = document.documentElement.dir === 'rtl';
      return list.map((selector) => {
        const { left, right, width } = document.querySelector(selector)?.getBoundingClientRect() ?? new DOMRect();
        return { start: Math.round(isMirrored ? innerWidth - right : left), width: Math.round(width) };
      });
    }, selectors);
  for (const [path, selectors] of [
    ['/ui/', ['.side', 'main', 'h1', '.top .btn.primary', '.tr', '.tr .mark', '.tr .c-model', '.tr .c-today']],
    ['/ui/blocks/ada', ['.side', 'main', 'h1', '.tabs a', '.m', '.m .prose', '.composer textarea', '.composer .btn']],
    ['/ui/settings', ['.side', 'main', 'h1', 'main .btn']],
    ['/ui/gateway', ['.side', 'main', 'h1']],
  ] as const) {
    await page.keyboard.press('Escape'); // closes the menu of the page before
    await page.evaluate(() => document.documentElement.removeAttribute('dir'));
    await world.reach(page, path);
    const before = await placesOf(selectors);
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl';
    });
    const after = await placesOf(selectors);
    for (const [index, selector] of selectors.entries()) {
      const [one, other] = [before[index], after[index]];
      const isSame = [(one?.start ?? 0) - (other?.start ?? 0), (one?.width ?? 0) - (other?.width ?? 0)].every((difference) => Math.abs(difference) <= 1);
      t.ok(isSame, `${path} ${selector}: ${JSON.stringify([one, other])}`);
    }
    t.notOk(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), `${path} scrolls sideways`);
    if (path !== '/ui/blocks/ada') continue;
    await page.getByRole('button', { name: 'More', exact: true }).click();
    const { x = -1, width = 0 } = (await page.getByRole('menu').boundingBox()) ?? {};
    t.ok(x >= 0 && x + width <= 1440, `the menu is in view: ${x} and ${width}`);
  }
});

t.test('case 50: a browser that was started without a locale draws plots, too', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Yes.' });
  await world.block('ada');
  await world.api('POST', '/api/blocks/ada/chat?wait=30', { message: 'Hello' });
  const page = await world.page('/ui/gateway', {
    prepare: (page) => page.addInitScript("Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })"),
  });
  await page.locator('.plot .drawn path').first().waitFor();
  t.match(await page.locator('.plot .drawn text').allTextContents(), /\d\d:\d\d/);
});
