// Everything by keys alone.
import type { Page } from 'playwright-core';
import t from 'tap';
import { closeBrowser, inWhole, isWhole, openWorld, type World } from '../support/browser.ts';
import { PAGE_PATHS } from '../support/page-paths.ts';

t.teardown(closeBrowser);

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789/?'];
const NAMED = [
  'Home',
  'End',
  'PageUp',
  'PageDown',
  'ArrowUp',
  'ArrowDown',
  'ArrowLeft',
  'ArrowRight',
  'Escape',
  'Shift+ArrowUp',
  'Shift+ArrowDown',
  'Shift+ArrowLeft',
  'Shift+ArrowRight',
];
const WITH_CONTROL = ['Control+k', 'Control+s'];
const SHOWN: Readonly<Record<string, string>> = {
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  'Shift+ArrowUp': '⇧↑',
  'Shift+ArrowDown': '⇧↓',
  'Shift+ArrowLeft': '⇧←',
  'Shift+ArrowRight': '⇧→',
  'Control+k': 'Ctrl+K',
  'Control+s': 'Ctrl+S',
};
/** So many times a key is pressed before the page is asked what has had the focus. */
const PRESSES = 10;
/** They work in the field of a message only, which another test types in. */
const OF_THE_FIELD: ReadonlySet<string> = new Set(['↵', 'Ctrl+↵', '↑']);

async function furnish(world: World): Promise<void> {
  world.standIn.onMessage(/./, { content: 'Some *words*.' });
  await world.block('ada', { description: 'Answers', budget: { dailyUsd: 2 } });
  await world.api('POST', '/api/blocks/ada/chat?wait=60', { message: 'Hello' });
  await world.api('POST', '/api/blocks', { name: 'old' });
  await world.api('DELETE', '/api/blocks/old');
}

/** What a page shows once what was read for it is there: only then its keys work. */
const CONTENT: Readonly<Record<string, string>> = {
  '/ui/': '.tr',
  '/ui/blocks/ada': '[data-entry]',
  '/ui/blocks/ada/config': 'main textarea, main input',
  '/ui/gateway': '.plot .hit',
};

async function show(world: World, page: Page, path: string): Promise<void> {
  await world.show(page, path);
  await content(page, path);
}

async function content(page: Page, path: string): Promise<void> {
  await page
    .locator(CONTENT[path] ?? 'main h1')
    .first()
    .waitFor({ state: 'attached' });
}

/** The keys that `?` lists, but for those of two in a row. */
async function listed(page: Page): Promise<readonly string[]> {
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keys' });
  await dialog.waitFor();
  const rows = await dialog.locator('dd').evaluateAll((all) => all.map((each) => [...each.querySelectorAll('kbd')].map(({ textContent }) => textContent)));
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  return rows.filter((keys) => keys.length === 1).flat();
}

/** Undoes what a key has done, as far as other keys depend on it: the page is loaded again only where the key has led away, or has opened what Escape does not close. */
async function putBack(world: World, page: Page, path: string): Promise<void> {
  await page.keyboard.press('Escape');
  if ((await page.locator('dialog, [role="dialog"], [role="menu"], .palette').count()) > 0) await show(world, page, path);
  if (new URL(page.url()).pathname === path) return;
  await world.visit(page, path);
  await content(page, path);
}

/** Presses keys, one after the other; those with which the page does something. */
async function taken(page: Page, keys: readonly string[]): Promise<readonly string[]> {
  await page.evaluate(() => {
    const record: boolean[] = [];
    const look = (event: KeyboardEvent): void => {
      if (event.key !== 'Control' && event.key !== 'Shift') record.push(event.defaultPrevented);
    };
    addEventListener('keydown', look);
    Object.assign(globalThis, { pressed: { record, end: () => removeEventListener('keydown', look) } });
    (document.activeElement as HTMLElement | null)?.blur();
  });
  for (const key of keys) await page.keyboard.press(key);
  const record = await page.evaluate(() => {
    const { pressed } = globalThis as unknown as { pressed: { record: boolean[]; end(): void } };
    pressed.end();
    return pressed.record;
  });
  return keys.filter((_, index) => record[index]);
}

t.test('case 47: `?` lists exactly the keys that work, on each page', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await furnish(world);
  const page = await world.page();
  const paths = ['/ui/', '/ui/blocks/ada', '/ui/blocks/ada/config', '/ui/gateway', '/ui/events', '/ui/settings'];
  for (const path of paths) {
    await show(world, page, path);
    const keys = (await listed(page)).filter((key) => path !== '/ui/blocks/ada' || !OF_THE_FIELD.has(key));
    const all = [...LETTERS, ...NAMED, ...WITH_CONTROL];
    const shownAs = (key: string): string => SHOWN[key] ?? (key.length === 1 ? key.toUpperCase() : key);
    // Those that are not listed do nothing, so that they need no page that is put back in between.
    const others = all.filter((key) => !keys.includes(shownAs(key)));
    t.same(await taken(page, others), [], `${path}: no other key`);
    const working: string[] = [];
    for (const key of all.filter((key) => !others.includes(key))) {
      if ((await taken(page, [key])).length === 0) continue;
      working.push(shownAs(key));
      await putBack(world, page, path);
    }
    t.same([...keys].sort(), working.sort(), path);
  }
});

t.test('the plots of a page zoom together by keys, and show their values as tables', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await furnish(world);
  const page = await world.page('/ui/gateway');
  await page.locator('.plot .hit').nth(2).waitFor();
  const firstRows = () => page.locator('.plot-table tbody').evaluateAll((all) => all.map((each) => each.querySelector('td')?.textContent));
  await page.keyboard.press('t');
  await page.locator('.plot-table').nth(2).waitFor();
  const whole = await firstRows();
  t.equal(whole.length, 3, 'each plot is a table');
  await page.keyboard.press('Shift+ArrowUp');
  const span = page.locator('.plot-span .num');
  await span.waitFor();
  const near = await firstRows();
  t.equal(new Set(near).size, 1, 'all show the same time');
  t.not(near[0], whole[0], 'and a shorter one');
  const middle = await span.textContent();
  await page.keyboard.press('Shift+ArrowRight');
  await page.waitForFunction((old) => document.querySelector('.plot-span .num')?.textContent !== old, middle);
  await page.keyboard.press('Escape');
  await span.waitFor({ state: 'detached' });
  await page.keyboard.press('Shift+ArrowUp');
  await page.getByRole('button', { name: 'Show the whole time' }).click();
  await span.waitFor({ state: 'detached' });
  await page.keyboard.press('t');
  const area = page.locator('.plot .hit').first();
  await area.waitFor();
  const box = (await area.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 40);
  const crosshairs = await page.locator('.plot .crosshair').evaluateAll((all) => all.map((each) => Number(each.getAttribute('x1'))));
  await page.mouse.up();
  await span.waitFor();
  await page.mouse.dblclick(box.x + box.width * 0.5, box.y + 40);
  await span.waitFor({ state: 'detached' });
  await page.mouse.move(1, 1);
  t.equal(await page.locator('.plot .crosshair').count(), 0, 'and none is left where no pointer is');
  t.ok(crosshairs.length === 3 && Math.min(...crosshairs) > 0, 'each plot has a crosshair');
  t.ok(Math.max(...crosshairs) - Math.min(...crosshairs) <= 2, 'and all are at one time, but for the pixels that the widths differ');
});

t.test('case 47: Tab reaches everything on each page, in both directions, and is caught nowhere', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await furnish(world);
  const page = await world.page();
  const tabs = ['', '/memory', '/config', '/logs', '/costs', '/history'].map((tab) => `/ui/blocks/ada${tab}`);
  const paths = [...PAGE_PATHS, ...tabs];
  for (const path of isWhole ? paths : ['/ui/']) {
    await show(world, page, path);
    const wanted = await page.evaluate(() => {
      const all = [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex]')];
      const reachable = all.filter((each) => each.tabIndex >= 0 && !each.matches(':disabled') && each.checkVisibility({ visibilityProperty: true }));
      // Of radio buttons with one name, only the chosen one is reached; arrows move on.
      const steps = reachable.filter((each) => !(each instanceof HTMLInputElement && each.type === 'radio' && !each.checked));
      for (const [index, each] of steps.entries()) each.dataset['step'] = String(index);
      return steps.length;
    });
    for (const key of isWhole ? ['Tab', 'Shift+Tab'] : ['Shift+Tab']) {
      const focused = await page.evaluateHandle(() => {
        const steps = new Set<number>();
        (document.activeElement as HTMLElement | null)?.blur();
        addEventListener('focusin', ({ target }) => {
          const { step } = (target as HTMLElement).dataset;
          if (step !== undefined) steps.add(Number(step));
        });
        return steps;
      });
      let seen: readonly number[] = [];
      for (let press = 0; press < wanted * 2 + 10 && seen.length < wanted; press += 1) {
        await page.keyboard.press(key);
        if (press % PRESSES === PRESSES - 1) seen = await focused.evaluate((steps) => [...steps]);
      }
      seen = await focused.evaluate((steps) => [...steps]);
      const missed = Array.from({ length: wanted }, (_, index) => index).filter((step) => !seen.includes(step));
      const names = await page.evaluate((steps) => steps.map((step) => document.querySelector(`[data-step="${step}"]`)?.outerHTML.slice(0, 120)), missed);
      t.same(names, [], `${path} by ${key}`);
    }
  }
});

t.test('case 47: a block is made, talked to, set, looked at and archived by keys alone, and the focus is never nowhere', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Some *words*.' });
  const page = await world.page();
  await page.getByRole('heading', { name: 'Blockhouse runs.' }).waitFor();
  /** The focus goes on when the page has drawn, so it is waited for. */
  const focused = (what: string, selector = ':not(body)'): Promise<unknown> =>
    t.resolves(
      page.waitForFunction((wanted) => document.activeElement?.matches(wanted), selector),
      `after ${what}`,
    );
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  /** Goes on with Tab until something of this name has the focus. */
  const tabTo = async (name: string | RegExp, role: 'button' | 'link' | 'textbox' = 'button'): Promise<void> => {
    const target = page.getByRole(role, { name }).first();
    let element = await target.elementHandle(); // to find it by its role at each turn costs more than all else
    for (let turn = 0; turn < 120; turn += 1) {
      const is = await element?.evaluate((each) => ({ here: each === document.activeElement, gone: !each.isConnected }));
      if (is?.here === true) return;
      if (is?.gone !== false) element = await target.elementHandle();
      await page.keyboard.press('Tab');
    }
    t.fail(`Tab does not reach ${name}`);
  };

  await press('n');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('ada');
  await press('Tab', 'Tab');
  await page.keyboard.type('ollama/stand-in');
  await tabTo('Create the block');
  await press('Enter');
  await page.getByRole('heading', { name: 'ada', level: 1 }).waitFor();
  await focused('a new block', 'textarea');

  await page.keyboard.type('Hello');
  await press('Enter');
  await page.locator('.meta').waitFor();
  await focused('a message');
  await press('Escape');
  await tabTo('More');
  await press('Enter', 'ArrowDown', 'Escape');
  await focused('a menu');

  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await press('2');
  await tabTo('Add a fact', 'textbox');
  await page.keyboard.type('The team is small.');
  await tabTo(/^Add$/);
  await press('Enter');
  await page.getByText('The team is small.').first().waitFor();
  await focused('a new fact');
  await tabTo('Remove');
  await press('Enter');
  await page.getByRole('button', { name: 'Remove' }).waitFor({ state: 'detached' });
  await focused('the end of what had the focus');

  await tabTo('Config', 'link');
  await press('Enter');
  await tabTo('What it is for', 'textbox');
  await page.keyboard.type('by keys');
  await tabTo('Save');
  await press('Enter');
  await page.getByText('Saved.').first().waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll('button')].some(({ textContent, disabled }) => textContent.includes('Save') && disabled));
  await focused('a button that can be pressed no more');

  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  for (const page_ of ['g', 'p', 'c', 'e', 'a', 's', 'f']) {
    await tabTo('Fleet', 'link');
    await press('g', page_);
    await page.locator('main h1').first().waitFor({ state: 'attached' });
    await focused(`G ${page_}`);
  }
  await press('j');
  await page.waitForFunction(() => document.activeElement?.textContent === 'ada');
  await press('x');
  await tabTo('Archive');
  await press('Enter');
  await page.locator('.toast', { hasText: 'Archived' }).waitFor();
  await page.locator('.tr').waitFor({ state: 'detached' });
  await focused('the last row went');
});

t.test('what is typed right after the key that opens a dialog is in its first field, whole', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const page = await world.page();
  await page.getByRole('heading', { name: 'Blockhouse runs.' }).waitFor();
  const named: string[] = [];
  for (let round = 0; round < (isWhole ? 20 : 1); round += 1) {
    // No wait for the dialog: nothing needs to be drawn before the next key comes, as with a fast hand on a busy machine.
    await page.evaluate(() => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true, cancelable: true })));
    await page.keyboard.type('ada');
    named.push(await page.getByRole('dialog').locator('input').first().inputValue());
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Throw it away' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  t.same([...new Set(named)], ['ada']);
});
