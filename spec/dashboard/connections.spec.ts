import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
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
  await world.reach(page, '/ui/gateway');
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
  await page.getByRole('button', { name: 'Set a price…' }).click();
  const model = dialog.getByRole('combobox', { name: 'Model' });
  await model.fill('oll');
  await page.getByRole('option', { name: /^ollama\/(?: |$)/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  t.equal(await model.inputValue(), 'ollama/', 'the provider first, then its models');
  t.same(await axeFindings(page), []);
  await model.fill('gpu/*');
  t.equal(await model.inputValue(), 'gpu/*', 'any other name can be typed');
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

t.test('a program gets a key that is shown once, with its address and a line that works; its limits change, and it is revoked', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  world.standIn.onMessage(/./, { content: 'Hello' });
  await world.api('PUT', '/api/models/coder', { targets: ['ollama/stand-in'] });
  const page = await world.page('/ui/gateway');
  await page.getByRole('link', { name: 'Programs' }).click();
  await page.getByText('No program has a key yet.').waitFor();
  await page.getByRole('button', { name: 'New key…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Make the key' }).click();
  await dialog.getByText('A name has up to 64').waitFor();
  await dialog.getByLabel('Name of the program').fill('my-app');
  await dialog.getByLabel('A day', { exact: true }).fill('five');
  await dialog.getByRole('button', { name: 'Make the key' }).click();
  await dialog.getByText('An amount such as 5').waitFor();
  await dialog.getByLabel('A day', { exact: true }).fill('5');
  t.ok(await dialog.getByLabel(/price is not known/).isChecked(), 'a cap in USD alone refuses what it would not count');
  await dialog.getByLabel(/price is not known/).uncheck();
  t.same(await axeFindings(page), []);
  await dialog.getByRole('button', { name: 'Make the key' }).click();
  const field = dialog.getByLabel('Key', { exact: true });
  const key = await field.inputValue();
  t.match(key, /^bhk_/);
  t.ok(await field.evaluate((element) => element === document.activeElement), 'the focus is at the key');
  t.equal(await dialog.getByLabel('Base URL').inputValue(), `${world.url}/v1`);
  t.same(await axeFindings(page), []);
  await page.mouse.click(5, 5);
  const line = await dialog.getByLabel('Try it in a terminal').inputValue();
  const answer = await promisify(execFile)('/bin/sh', ['-c', `${line} -sS`]);
  t.match(answer.stdout, /"content":"Hello"/);
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage, body: document.body.innerHTML }));
  t.notOk(stored.includes(key), 'nothing of the page has the key afterwards');
  await page.reload();
  await page.getByRole('heading', { name: 'Names of models' }).waitFor();
  const row = page.getByRole('listitem').filter({ has: page.getByText('my-app', { exact: true }) });
  await row.getByText('$0.00 of $5.00 today').waitFor();
  await row.getByText('Used today').waitFor();
  await row.getByRole('button', { name: 'Change…' }).click();
  t.equal(await dialog.getByLabel('A day', { exact: true }).inputValue(), '5');
  await world.api('PATCH', '/api/keys/my-app', { usdPerMonth: 40 });
  await dialog.getByLabel('A week').fill('20');
  await dialog.getByText('More limits').click();
  await dialog.getByLabel('Models that it may use').fill('ollama/*\ncoder');
  await dialog.getByRole('button', { name: 'Save the limits' }).click();
  await row.getByText('of $20.00 this week').waitFor();
  await row.getByText('of $40.00 this month').waitFor();
  await row.getByText('ollama/*, coder').waitFor();
  t.same(await axeFindings(page), []);
  await row.getByRole('button', { name: 'Revoke…' }).click();
  await page.getByRole('button', { name: 'Revoke my-app' }).click();
  await page.getByText('No program has a key yet.').waitFor();
  t.same(await world.api('GET', '/api/keys'), { keys: [] });
});

t.test(
  'an alias is made of models that are chosen from lists, by keys alone, says what answers now, is changed, and comes back after its removal',
  async (t) => {
    const world = await openWorld(t, { env: { OPENAI_API_KEY: '' } });
    if (world === undefined) return;
    const page = await world.page('/ui/gateway?tab=programs', { expected: [/status of 404/] });
    await page.getByRole('button', { name: 'New alias…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name that programs ask for').fill('coder');
    const first = dialog.getByRole('combobox', { name: 'Model 1' });
    await first.focus();
    await page.keyboard.type('openai/gpt-x');
    await page.keyboard.press('Escape');
    await dialog.waitFor();
    t.equal(await first.inputValue(), 'openai/gpt-x', 'a name that no list has stands');
    await dialog.getByText(/openai needs a key/i).waitFor();
    await dialog.getByRole('button', { name: 'Add a model to try next' }).click();
    await dialog.getByRole('combobox', { name: 'Model 2' }).focus();
    await page.keyboard.press('ArrowDown');
    t.match(await dialog.locator('.picker-list [aria-selected="true"]').innerText(), /^ollama\/\s.*ready$/s, 'what is ready comes first');
    await page.keyboard.press('Enter');
    await page
      .getByRole('option', { name: /^ollama\/\S/ })
      .first()
      .waitFor();
    t.same(await axeFindings(page), []);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const chosen = await dialog.getByRole('combobox', { name: 'Model 2' }).inputValue();
    t.match(chosen, /^ollama\/./);
    await dialog
      .locator('.model-rows > .row')
      .nth(1)
      .getByText(/^free|^price not known|^\$/)
      .waitFor();
    await dialog.getByRole('button', { name: 'Save the alias' }).click();
    const row = page.getByRole('listitem').filter({ has: page.getByText('coder', { exact: true }) });
    await row.getByText(`Answers now: ${chosen}`).waitFor();
    await row.getByText('not ready').waitFor();
    t.same(await axeFindings(page), []);
    await row.getByRole('button', { name: 'Change…' }).click();
    await dialog.getByRole('button', { name: 'Try model 2 earlier' }).click();
    await dialog.getByLabel('Spread conversations').check();
    await dialog.getByLabel('Share 1').fill('3');
    await dialog.getByLabel('Share 2').fill('1');
    await dialog.getByLabel('refuses what was asked').check();
    await dialog.getByRole('button', { name: 'Save the alias' }).click();
    await row.getByText('(share 3)').waitFor();
    const asStored = { name: 'coder', targets: [chosen, 'openai/gpt-x'], weights: [3, 1], on: ['rate', 'down', 'key', 'context', 'content'] };
    const aliases = async () => (await world.api<{ readonly aliases: readonly object[] }>('GET', '/api/models')).aliases;
    t.same(await aliases(), [asStored]);
    await page.getByLabel('What does a name mean?').fill('coder');
    await page.getByRole('button', { name: 'Look' }).click();
    await page.getByText(`coder is an alias of ${chosen}, then openai/gpt-x.`).waitFor();
    await page.getByLabel('What does a name mean?').fill('nobody-knows-it');
    await page.getByRole('button', { name: 'Look' }).click();
    await page
      .getByText(/nobody-knows-it/)
      .first()
      .waitFor();
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('There is no alias yet.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await row.waitFor();
    t.same(await aliases(), [asStored], 'with its shares and its failures');
  },
);

t.test('the model of a block and its fallbacks are chosen from lists, a row that is no model is not saved, and no list is needed for a name', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.api('POST', '/api/blocks', { name: 'ada' });
  const page = await world.page('/ui/blocks/ada/config');
  await page.getByRole('combobox', { name: 'Provider' }).click();
  await page.getByRole('option', { name: /^ollama/ }).click();
  const model = page.getByRole('combobox', { name: 'Model', exact: true });
  await model.click();
  const option = page.locator('.picker-list [role=option]').first();
  await option.waitFor();
  t.same(await axeFindings(page), []);
  await option.click();
  const name = await model.inputValue();
  t.ok(name !== '' && !name.startsWith('ollama/'), 'the models of the provider alone');
  await page.getByRole('button', { name: 'Add a model', exact: true }).click();
  await page.getByRole('combobox', { name: 'Model 1' }).fill('half');
  await page.getByText('Choose a model in each row, or remove the row.').waitFor();
  await page.getByRole('combobox', { name: 'Model 1' }).fill('openai/of-my-own');
  await page.getByRole('button', { name: 'Add a model to try next' }).click();
  await page.getByRole('combobox', { name: 'Model 2' }).fill('ollama/other');
  await page.getByRole('button', { name: 'Try model 2 earlier' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').first().waitFor();
  const { config } = await world.api<{ readonly config: object }>('GET', '/api/blocks/ada/config');
  t.match(config, {
    adapter: { provider: 'ollama', model: name },
    fallbacks: [
      { provider: 'ollama', model: 'other' },
      { provider: 'openai', model: 'of-my-own' },
    ],
  });
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 844 });
    t.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `no sideways scroll at ${width}`);
  }
});

t.test('the first steps look for a local server when somebody wants it; one that is added is the model that was missing', async (t) => {
  const world = await openWorld(t, { isAlone: true });
  if (world === undefined) return;
  const page = await world.page('/ui/start');
  let looks = 0;
  await page.route('**/api/connections/detect', (route) => {
    looks += 1;
    return route.fulfill({ json: { servers: [{ preset: 'vllm', baseURL: 'http://127.0.0.1:8000/v1', connection: looks === 1 ? null : 'vllm' }] } });
  });
  await page.locator('.providers li').nth(4).waitFor();
  t.equal(await page.locator('.steps .done').count(), 1);
  t.equal(looks, 0, 'never unasked');
  await page.getByRole('button', { name: 'Look for local servers' }).click();
  await page.getByText('vllm answers at 127.0.0.1:8000/v1.').waitFor();
  t.same(await axeFindings(page), []);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('vllm answers at 127.0.0.1:8000/v1, as vllm.').waitFor();
  await page.locator('.steps .done').nth(1).waitFor();
  t.match(await world.api('GET', '/api/connections'), { connections: [{}, {}, {}, {}, {}, { name: 'vllm', ready: true }] });
});
