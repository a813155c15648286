import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import t from 'tap';
import { axeFindings, closeBrowser, openWorld } from '../support/browser.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

t.teardown(closeBrowser);

const KEY = 'gsk-canary-0123456789abcdef';

t.test('the settings list the connections beside the providers: where each is, whether it is ready, and never a key', async (t) => {
  const world = await openWorld(t, {
    env: { GROQ_API_KEY: KEY },
    files(workspace) {
      const entries = { groq: {}, gpu: { adapter: 'openai', baseURL: 'http://10.0.0.7:8000/v1' }, wrong: { adapter: 'openai', baseURL: 'ftp://x' } };
      writeFileSync(`${workspace}/auth.json`, JSON.stringify(entries), { mode: 0o600 });
    },
  });
  if (world === undefined) return;
  const page = await world.page('/ui/settings');
  const row = (name: string) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
  await row('groq').getByText('Ready at api.groq.com/openai/v1, with the key in GROQ_API_KEY.').waitFor();
  await row('gpu')
    .getByText(/^gpu needs a key/)
    .waitFor();
  await row('wrong')
    .getByText(/baseURL must be an absolute http or https URL/)
    .waitFor();
  t.notMatch(await page.content(), /canary/);
  await world.show(page, '/ui/gateway');
  const keys = page.getByRole('button', { name: 'groq', exact: true });
  await keys.click();
  t.equal(await keys.getAttribute('aria-expanded'), 'true');
  await page.getByRole('cell', { name: 'Ready', exact: true }).last().waitFor();
  await page.getByRole('columnheader', { name: 'From cache' }).waitFor();
  t.same(await axeFindings(page), []);
  t.notMatch(await page.content(), /canary/);
  await page.getByRole('row', { name: /^gpu/ }).getByRole('link', { name: 'Not ready' }).click();
  await page.getByLabel('gpu: Key').waitFor();
});

t.test("a server of one's own is added with its key, which is checked, gets a second key, and goes; no key is in the page afterwards", async (t) => {
  const world = await openWorld(t, { isAlone: true });
  if (world === undefined) return;
  const upstream = await startUpstream(t, ({ headers }, res) =>
    headers.authorization?.includes('sk-good') === true ? sendJson(res, { data: [{ id: 'prod' }] }) : sendJson(res, { error: { message: 'No such key' } }, 401),
  );
  const page = await world.page('/ui/settings', { expected: [/status of 400/] });
  await page.getByRole('button', { name: 'Add a connection…' }).click();
  const add = page.locator('.key-form');
  await add.getByRole('button', { name: 'Check and store' }).click();
  await add.getByText('An address is needed.').waitFor();
  await add.getByLabel('Service').selectOption('groq');
  t.equal(await add.getByLabel('Name').inputValue(), 'groq');
  await add.getByLabel('Service').selectOption('');
  await add.getByLabel('Name').fill('gpu');
  await add.getByLabel('Address').fill(`${upstream.url}/v1`);
  await add.getByLabel('Key').fill('sk-canary-bad-0123456789');
  await add.getByRole('button', { name: 'Check and store' }).click();
  await add.getByText(/No such key/).waitFor();
  t.same(await axeFindings(page), []);
  await add.getByLabel('Key').fill('sk-good-canary-0123456789');
  await add.getByRole('button', { name: 'Check and store' }).click();
  const row = page.getByRole('listitem').filter({ has: page.getByText('gpu', { exact: true }) });
  await row.getByText(/^Ready at 127\.0\.0\.1:\d+\/v1, with the key in auth\.json\.$/).waitFor();
  await row.getByRole('button', { name: 'Change…' }).click();
  await row.getByRole('button', { name: 'Add a key…' }).click();
  await row.getByLabel('Key').fill('sk-good-canary-second-key');
  await row.getByLabel('Label').fill('b');
  await row.getByRole('button', { name: 'Check and store' }).click();
  await row.getByText(/with 2 keys\.$/).waitFor();
  await row.getByRole('button', { name: 'Commands for this key: b' }).click();
  await page.getByRole('menuitem', { name: 'Earlier' }).click();
  await row.getByRole('row').nth(1).getByRole('cell', { name: 'b', exact: true }).waitFor();
  t.same(await axeFindings(page), []);
  await typeAtOnce(page, 'Address and key…', 'gpu: Address', `${upstream.url}/other`);
  t.equal(await row.getByLabel('gpu: Address').inputValue(), `${upstream.url}/other`, 'what is typed before the form is painted stays');
  await row.getByRole('button', { name: 'Check and store' }).click();
  await row.getByText(/is needed again/).waitFor();
  await row.getByRole('button', { name: 'Cancel' }).click();
  t.notMatch(`${await page.content()}${await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))}`, /canary/);
  await row.getByRole('button', { name: 'Remove…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove gpu' }).click();
  await page.getByText('There is no connection yet.').waitFor();
});

t.test('a call without a known price is no free one: the costs say so, and lead to the price, which is set and removed there', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Hello' });
  await world.api('POST', '/v1/chat', { adapter: 'ollama', model: 'big:cloud', messages: [{ role: 'user', content: 'Hi' }] });
  const page = await world.page('/ui/costs?of=gateway&by=connection');
  await page.getByText('1 call has no known price and is not in the sum.').waitFor();
  t.match(
    await page
      .getByRole('row', { name: /^ollama/ })
      .first()
      .innerText(),
    /1 not priced/,
  );
  t.notMatch(await page.locator('.costs-page table').first().innerText(), /\$0/);
  await page.getByRole('link', { name: 'See prices' }).click();
  const row = page.getByRole('row', { name: /ollama\/big:cloud/ });
  t.match(await row.innerText(), /not known/);
  await row.getByRole('button', { name: 'Set price…' }).click();
  const dialog = page.getByRole('dialog');
  t.equal(await dialog.getByLabel('Model').inputValue(), 'ollama/big:cloud');
  await dialog.getByRole('button', { name: 'Set the price' }).click();
  await dialog.getByText('An amount in USD, such as 0.59.').first().waitFor();
  await dialog.getByLabel('In', { exact: true }).fill('1000000');
  await dialog.getByLabel('Out', { exact: true }).fill('1000000');
  await dialog.getByRole('button', { name: 'Set the price' }).click();
  await row.getByText('auth.json').waitFor();
  t.same(await axeFindings(page), []);
  const { price } = (await world.api<{ prices: { price: object }[] }>('GET', '/api/prices')).prices[0] ?? {};
  t.match(price, { input: 1_000_000, output: 1_000_000 });
  await row.getByRole('button', { name: 'Remove' }).click();
  await row.getByText('not known').waitFor();
});

t.test('a bill is chosen as a file, and what differs from the calls is shown beside them', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Hello' });
  await world.api('POST', '/v1/chat', { adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
  const page = await world.page('/ui/costs?of=gateway', { expected: [/400 \(Bad Request\)/] });
  const day = new Date().toISOString().slice(0, 10);
  const choose = (text: string) => page.getByLabel('Choose a file…').setInputFiles({ name: 'bill.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await choose(`Day,SKU,Out\n${day},m,999`);
  await page.getByText('its columns are Day, SKU, Out').waitFor();
  await page.getByLabel('Columns').fill('date=Day,model=SKU,output=Out');
  await choose(`Day,SKU,Out\n${day},m,999\n${day},<b>n</b>,7`);
  await page.getByText('0 lines of ollama agree, 2 differ.').waitFor();
  t.match(await page.getByRole('row', { name: new RegExp(`${day} m Out`) }).innerText(), /2\s+999\s*$/);
  t.match(await page.getByRole('row', { name: /<b>n<\/b>/ }).innerText(), /–\s+7\s*$/);
  t.equal(await page.getByRole('alert').count(), 0);
  t.same(await axeFindings(page), []);
  await page.setViewportSize({ width: 390, height: 844 });
  t.notOk(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth));
});

/** Presses a button and fills the field that it shows before the browser paints it; returns two frames later, when all effects have run. */
async function typeAtOnce(page: Page, button: string, label: string, text: string): Promise<void> {
  await page.getByRole('button', { name: button }).evaluate(
    async (element: HTMLElement, { label, text }) => {
      const find = (): HTMLInputElement | undefined =>
        [...document.querySelectorAll('label')].find((each) => each.textContent?.trim() === label)?.control as HTMLInputElement | undefined;
      element.click();
      for (let turns = 0; turns < 100 && !find(); turns += 1) await Promise.resolve();
      const field = find();
      if (field === undefined) throw new Error(`no field ${label}`);
      field.value = text;
      field.dispatchEvent(new Event('input', { bubbles: true }));
      const frame = (): Promise<void> => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      await frame();
      await frame();
    },
    { label, text },
  );
}
