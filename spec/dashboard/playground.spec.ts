import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Page } from 'playwright-core';
import { axeFindings, closeBrowser, openWorld, type World } from '../support/browser.ts';

t.teardown(closeBrowser);

/** A provider whose server is the stand-in, so that the price of its models is not known. */
const withOpenAi = (workspace: string, standInUrl: string): void =>
  writeFileSync(join(workspace, 'auth.json'), JSON.stringify({ openai: { apiKey: 'sk-test-0123456789abcdef', baseURL: `${standInUrl}/v1` } }), { mode: 0o600 });

async function ask(page: Page, models: readonly string[], message: string): Promise<void> {
  for (const [index, model] of models.entries()) {
    const field = page.getByLabel(`provider/model ${index + 1}`, { exact: true });
    if ((await field.count()) === 0) await page.getByRole('button', { name: 'Add a model' }).click();
    await field.fill(model);
  }
  await page.getByLabel('Message').fill(message);
  await page.getByRole('button', { name: 'Ask' }).click();
}

const priced = (world: World): Promise<unknown> => world.api('PUT', '/api/prices/ollama%2Fstand-in', { price: { input: 1000, output: 2000 } });

t.test('an answer of the playground is drawn as in a conversation, and says what it has cost', async (t) => {
  const world = await openWorld(t, { files: withOpenAi });
  if (world === undefined) return;
  await priced(world);
  world.standIn.onMessage(/./, { content: '# Head\n\nSome **bold** words, <b>as text</b>.\n\n- one\n- two\n\n![a picture](https://elsewhere.example/x.png)' });
  const page = await world.page('/ui/playground');
  await ask(page, ['ollama/stand-in', 'openai/unheard-of'], 'Play');
  const [known, unknown] = [page.locator('.answer').first(), page.locator('.answer').nth(1)];
  await known.locator('footer', { hasText: '$' }).waitFor();
  await unknown.locator('footer', { hasText: 'not priced' }).waitFor();
  for (const answer of [known, unknown]) {
    t.equal(await answer.locator('.prose h3').innerText(), 'Head');
    t.equal(await answer.locator('.prose strong').innerText(), 'bold');
    t.equal(await answer.locator('.prose li').count(), 2);
    t.equal(await answer.locator('.prose :is(b, img)').count(), 0, 'what a model writes never becomes HTML');
  }
  const { ended } = await world.api<{ ended: { adapter: string; usage: { inputTokens: number; outputTokens: number } }[] }>('GET', '/api/gateway/requests');
  const { inputTokens = 0, outputTokens = 0 } = ended.find(({ adapter }) => adapter === 'ollama')?.usage ?? {};
  const cost = (inputTokens * 1000 + outputTokens * 2000) / 1e6;
  t.match(await known.locator('footer').innerText(), `$${cost.toFixed(cost < 0.01 ? 4 : 2)}`);
  for (const finding of await axeFindings(page)) t.fail(finding);
});

t.test('an alias is picked in the playground, and the next of its models answers when the first can not', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await priced(world);
  await world.api('PUT', '/api/models/quick', { targets: ['openai/gpt-5.4-mini', 'ollama/stand-in'] });
  world.standIn.onMessage(/./, { content: 'Answered by the **second**.' });
  const page = await world.page('/ui/playground', { expected: [/404/] });
  const field = page.getByLabel('provider/model 1', { exact: true });
  await field.fill('qui');
  await page.getByRole('option', { name: 'quick' }).click();
  t.equal(await field.inputValue(), 'quick');
  await ask(page, [], 'Play');
  const answer = page.locator('.answer');
  await answer.locator('footer', { hasText: '$' }).waitFor();
  t.match(await answer.locator('footer').innerText(), /^ollama\/stand-in\s+\d+ in, \d+ out\s+\$/);
  t.equal(await answer.locator('.prose strong').innerText(), 'second');
  t.match(await answer.locator('.warn').innerText(), /Passed over: openai\/gpt-5\.4-mini key/);
  await ask(page, ['nothing-is-called-so'], 'Play');
  await answer.getByText('No provider has a model "nothing-is-called-so"').waitFor();
});

t.test('tools of an alias are answered by hand', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  await world.api('PUT', '/api/models/quick', { targets: ['ollama/stand-in'] });
  world.standIn.on({ hasToolResult: true }, { content: 'It was found.' });
  world.standIn.onMessage(/./, { toolCalls: [{ name: 'find', arguments: JSON.stringify({ what: 'it' }) }] });
  const page = await world.page('/ui/playground');
  await page.locator('.play-form summary').click();
  await page.getByLabel('Tools, as a JSON list').fill('[{"name":"find","parameters":{"type":"object","properties":{"what":{"type":"string"}}}}]');
  await ask(page, ['quick'], 'Find it');
  await page.getByText('wants a tool').waitFor();
  t.match(await page.locator('.tool pre').innerText(), /"what": "it"/);
  await page.getByLabel('Result of the tool').fill('Here.');
  await page.getByRole('button', { name: 'Go on with these results' }).click();
  await page.getByText('It was found.').waitFor();
});

t.test('an answer in JSON is shown as it came', async (t) => {
  const world = await openWorld(t);
  if (world === undefined) return;
  const json = '{"text": "*not* a _mark_",\n\n"list": ["- one"]}';
  world.standIn.onMessage(/./, { content: json });
  const page = await world.page('/ui/playground');
  await page.locator('.play-form summary').click();
  await page.getByLabel('Schema of the answer, as JSON').fill('{"type":"object"}');
  await ask(page, ['ollama/stand-in'], 'Play');
  await page.locator('.answer footer', { hasText: 'end_turn' }).waitFor();
  t.equal(await page.locator('.answer pre').textContent(), json);
  t.equal(await page.locator('.answer .prose em').count(), 0);
});
