import t from 'tap';
import type { Page } from 'playwright-core';
import { axeFindings, closeBrowser, inWhole, openWorld, type World } from '../support/browser.ts';

t.teardown(closeBrowser);

const SWITCH = 'Notify me of what needs me';

interface Told {
  readonly title: string;
  readonly body: string;
  readonly isClosed: boolean;
  onclick(): void;
}

/** Plays the notifications of a browser that answers so when it is asked. What it was asked and told is kept in the page. */
const answering =
  (answer: NotificationPermission, isBroken = false) =>
  (page: Page): Promise<unknown> =>
    page.addInitScript(
      ({ answer, isBroken }) => {
        const kept = { asked: 0, told: [] as unknown[] };
        class Notice {
          static permission: NotificationPermission = (localStorage.getItem('permission') as NotificationPermission | null) ?? 'default';
          static async requestPermission(): Promise<NotificationPermission> {
            kept.asked += 1;
            localStorage.setItem('permission', answer);
            Notice.permission = answer;
            return answer;
          }
          isClosed = false;
          readonly title: string;
          readonly body: string;
          constructor(title: string, { body = '' }: NotificationOptions = {}) {
            if (isBroken) throw new TypeError('Illegal constructor. Use ServiceWorkerRegistration.showNotification() instead.');
            this.title = title;
            this.body = body;
            kept.told.push(this);
          }
          close(): void {
            this.isClosed = true;
          }
        }
        Object.assign(globalThis, { Notification: Notice, kept });
      },
      { answer, isBroken },
    );

type Kept = { readonly kept: { readonly asked: number; readonly told: Told[] } };

const told = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => (globalThis as unknown as Kept).kept.told.map(({ title, body, isClosed }) => `${title}: ${body}${isClosed ? ' (closed)' : ''}`));
const asked = (page: Page): Promise<number> => page.evaluate(() => (globalThis as unknown as Kept).kept.asked);

async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
}

/** A block without a model, for which a message waits. */
async function needy(world: World, name: string): Promise<void> {
  await world.api('POST', '/api/blocks', { name });
  await world.api('POST', `/api/blocks/${name}/chat`, { message: 'Hello' });
}

const needs = (page: Page, count: number): Promise<unknown> => page.waitForFunction((all) => document.title.startsWith(`(${all})`), count);

/** A moment passes in the page, after which what has begun is no news. */
const moment = (page: Page): Promise<void> => page.clock.runFor(2000);

t.test('the browser tells of each block that begins to need somebody while the page is out of view, and a click opens it', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await needy(world, 'before');
  const prepare = async (opened: Page): Promise<void> => {
    await opened.clock.install();
    await answering('granted')(opened);
  };
  const page = await world.page('/ui/settings', { prepare });
  await needs(page, 1);
  const box = page.getByLabel(SWITCH);
  t.notOk(await box.isChecked(), 'off by default');
  t.equal(await asked(page), 0);
  await box.click();
  await page.waitForFunction(() => localStorage.getItem('blockhouse.notify') === 'true');
  t.ok(await box.isChecked());
  t.equal(await asked(page), 1, 'the browser is asked when it is switched on');
  await page.reload();
  await needs(page, 1);
  await moment(page);
  await needy(world, 'seen');
  await needs(page, 2);
  await moment(page);
  await hide(page, true);
  await needy(world, 'ada');
  await needs(page, 3);
  await moment(page);
  t.same(await told(page), ['ada needs you: No model is set. 1 message waits.'], 'neither what was there nor what was seen is told');
  t.equal(await asked(page), 0, 'and the browser is not asked again');
  await world.api('POST', '/api/blocks/ada/chat', { message: 'Hello again' });
  await needy(world, 'bob');
  await needs(page, 4);
  await moment(page);
  t.same((await told(page)).slice(1), ['bob needs you: No model is set. 1 message waits.'], 'each block once');
  await world.api('DELETE', '/api/blocks/ada');
  await needs(page, 3);
  await moment(page);
  t.match(await told(page), [/^ada.*\(closed\)$/, /^bob.*waits\.$/], 'what needs nobody any more is taken away');
  await page.evaluate(() => (globalThis as unknown as Kept).kept.told.at(-1)?.onclick());
  await page.waitForURL('**/ui/blocks/bob');
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 5000);
  for (const name of ['c1', 'c2', 'c3', 'c4', 'c5', 'c6']) await needy(world, name);
  await needs(page, 9);
  await moment(page);
  t.same((await told(page)).slice(2), ['6 blocks need you: '], 'many at once are told in one');
  await hide(page, false);
  await needy(world, 'zoe');
  await needs(page, 10);
  await moment(page);
  t.equal((await told(page)).length, 3, 'none while the page is visible');
});

t.test('a block without a model, for which a message waits, is among those that need somebody', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.api('POST', '/api/blocks', { name: 'ada' });
  const page = await world.page('/ui/');
  await page.getByRole('link', { name: 'ada' }).first().waitFor();
  const list = page.getByRole('region', { name: 'Needs you' });
  t.equal(await list.count(), 0, 'nothing waits for it yet');
  await world.api('POST', '/api/blocks/ada/chat', { message: 'Hello' });
  await list.getByText('No model is set. 1 message waits.').waitFor();
  await list.getByRole('button', { name: 'model' }).click();
  await page.waitForURL('**/ui/blocks/ada/config*');
});

t.test('where the browser refuses notifications, the settings say what to do, and they stay off', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const cases: readonly [NotificationPermission, RegExp][] = [
    ['denied', /^This browser refuses .* Allow them in its settings for this site/],
    ['default', /^The browser was not allowed .* allow it when it asks/],
  ];
  for (const [answer, words] of cases) {
    const page = await world.page('/ui/settings', { prepare: answering(answer) });
    const box = page.getByLabel(SWITCH);
    await box.click();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    t.match(await alert.innerText(), words);
    t.notOk(await box.isChecked());
    for (const finding of await axeFindings(page)) t.fail(finding);
    await page.evaluate(() => {
      Notification.requestPermission = async () => {
        Object.assign(Notification, { permission: 'granted' });
        return 'granted';
      };
    });
    await box.click();
    await alert.waitFor({ state: 'detached' });
    t.ok(await box.isChecked(), 'and switching on again asks again');
    await world.leave(page);
  }
});

t.test('a browser that has notifications, but shows none of a page, switches them off and says so', inWhole, async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const prepare = async (opened: Page): Promise<void> => {
    await opened.clock.install();
    await answering('granted', true)(opened);
  };
  const page = await world.page('/ui/settings', { prepare });
  await page.getByLabel(SWITCH).click();
  await page.waitForFunction(() => localStorage.getItem('blockhouse.notify') === 'true');
  await moment(page);
  await hide(page, true);
  await needy(world, 'ada');
  await needs(page, 1);
  await moment(page);
  await hide(page, false);
  await page.getByText('This browser shows no notifications of pages.').first().waitFor();
  t.notOk(await page.getByLabel(SWITCH).isChecked());
});
