// The page of a decision link in a real browser, which sends its form with the headers that a browser sends.
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import t from 'tap';
import { waitingCall } from '../../../support/notify/waiting-call.ts';
import { findChromium } from '../../../support/find-chromium.ts';
import { until } from '../../../support/server.ts';

/** Where pictures go, to be looked at; none are made without it. */
const PICTURES = process.env['BLOCKHOUSE_PICTURES'];
const WIDTHS = [390, 768, 1280] as const;

async function begin(t: Parameters<typeof waitingCall>[0]): Promise<Browser | undefined> {
  const found = await findChromium();
  if (found === undefined) {
    await t.skip('there is no browser', () => undefined);
    return undefined;
  }
  const browser = await chromium.launch({
    executablePath: found.executablePath,
    env: { ...process.env, ...found.env },
    args: ['--disable-gpu', '--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  });
  t.teardown(() => browser.close());
  return browser;
}

const overflow = (page: Page): Promise<number> => page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

t.test('a person sees all of it at every width, in both themes, and decides with one click', async (t) => {
  const browser = await begin(t);
  if (browser === undefined) return;
  const one = await waitingCall(t);
  const approval = await one.ask({ to: `bob\u202e${'x'.repeat(300)}<script>alert(1)</script>` });
  const link = await one.link();
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of WIDTHS) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('dialog', (dialog) => complaints.push(dialog.message()));
      page.on('request', (request) => request.url() !== link && !request.url().endsWith('/favicon.ico') && complaints.push(request.url()));
      await page.goto(link);
      t.equal(await overflow(page), 0, `${width} ${colorScheme}`);
      for (const name of ['Deny', 'Approve once']) {
        const box = await page.getByRole('button', { name, exact: true }).boundingBox();
        t.ok((box?.height ?? 0) >= 48 && (box?.width ?? 0) >= 100, name);
      }
      t.equal(await page.evaluate<string>('document.activeElement.tagName'), 'BODY', 'Enter decides nothing');
      if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `decide-${colorScheme}-${width}.png`), fullPage: true });
      t.same(
        complaints.filter((text) => !text.includes('favicon')),
        [],
      );
      await context.close();
    }
  }
  const page = await browser.newPage();
  await page.goto(link);
  await page.getByRole('button', { name: 'Approve once' }).click();
  await page.getByRole('heading', { name: 'Approved: bank/pay' }).waitFor();
  await until(async () => (await one.server.core.blocks.history('ada')).some(({ content }) => content === 'Paid.'), 'the run has gone on');
  await page.goto(link);
  await page.getByRole('heading', { name: 'This link is over' }).waitFor();
  if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, 'decide-over.png') });
  const records = (await one.server.core.blocks.run('ada', approval.messageId)).records;
  t.match(
    records.find((record) => record.t === 'decision'),
    { by: { channel: 'link', name: 'phone' } },
  );
});
