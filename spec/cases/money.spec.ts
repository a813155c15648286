// Money: the prices that an operator gives, in which order they count, and the comparison with a provider's bill. The numbers are those of the cases in the design.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import { connectStore } from '../../core/index.ts';
import { openDesk, runHere } from '../cli/run.ts';
import { createBlock, RUNNABLE } from '../support/block-calls.ts';
import { startPriceRig } from '../support/price-rig.ts';
import { migratedStore } from '../support/migrated.ts';
import { noPostgres } from '../support/postgres.ts';
import { startServer, type TestServerOptions, until } from '../support/server.ts';
import { type Answerer, sendJson, startUpstream } from '../support/upstream.ts';

async function startRig(t: Test, entry: Record<string, unknown> = {}) {
  const rig = await startPriceRig(t, entry);
  return { ...rig, cli: (...args: string[]) => runHere(t, [...args, '--workspace', rig.workspace]) };
}

const MINUTE = { input: 1, output: 0 };

t.test('49: `prices update` shows what changes and asks, writes prices.json with its origin, and refuses rubbish', async (t) => {
  const gpu = await startRig(t);
  const file = join(gpu.workspace, 'new-prices.json');
  const update = async (content: unknown, ...more: string[]) => {
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return gpu.cli('prices', 'update', file, ...more);
  };
  const two = { models: { 'gpu/a': MINUTE, 'gpu/b': MINUTE } };
  t.match(await update(two), { code: 2, stdout: 'new     gpu/a\nnew     gpu/b\n', stderr: /add --yes/ });
  t.notOk(existsSync(join(gpu.workspace, 'prices.json')), 'nothing is written without an answer');
  t.match(await update(two, '--yes'), { code: 0, stderr: /prices\.json is written/ });
  const changed = { models: { 'gpu/b': { input: 2, output: 0, cacheRead: 0.1 }, 'gpu/c': MINUTE } };
  t.match(JSON.parse((await update(changed, '--yes', '--json')).stdout), { written: true, added: ['gpu/c'], changed: ['gpu/b'], gone: ['gpu/a'] });
  t.match(await update(changed, '--yes'), { code: 0, stderr: /Nothing changes/ });
  t.match(JSON.parse(readFileSync(join(gpu.workspace, 'prices.json'), 'utf8')), {
    source: { file: 'new-prices.json', sha256: /^[0-9a-f]{64}$/, date: /Z$/ },
    models: changed.models,
  });
  await delay(210);
  t.same([await gpu.costOf('b'), await gpu.costOf('c')], [2, 1]);
  for (const [rubbish, problem] of [
    ['{', /new-prices\.json can't be used: it is not valid JSON/],
    ['[]', /no price of any model/],
    ['"text"', /neither/],
    ['{}', /models/],
    [{ models: { 'gpu/a': { input: '1', output: 0 } } }, /models\.gpu\/a\.input/],
    [{ models: { 'gpu/a': { input: 1e300, output: 0 } } }, /models\.gpu\/a\.input/],
    [{ models: { a: MINUTE } }, /models\["a"\] must be named connection\/model/],
    [[{ id: 'openai', models: [{ price: 1 }] }], /without an id/],
    [[{ name: 'openai' }], /no provider/],
  ] as const)
    t.match(await update(rubbish, '--yes'), { code: 2, stderr: problem }, JSON.stringify(rubbish));
  await gpu.filed('{');
  t.match(await update(two, '--yes'), { stderr: /prices\.json of the workspace can't be used/ }, 'what can not be read is not overwritten');
  t.equal(readFileSync(join(gpu.workspace, 'prices.json'), 'utf8'), '{');
});

t.test('50: the bill is compared with both ledgers: equal, one line off, and a call outside of Blockhouse', async (t) => {
  const { workspace, on } = await openDesk(t);
  await on(['prices', 'set', 'ollama/m', '--input', '1000', '--output', '2000']);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  await on(['send', 'one', '--wait', 'hi']); // the ledger of blocks
  const { url } = JSON.parse(readFileSync(join(workspace, '.lock'), 'utf8')) as { url: string };
  const authorization = `Bearer ${readFileSync(join(workspace, '.api-token'), 'utf8').trim()}`;
  const called = await fetch(`${url}/v1/chat`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
  });
  t.equal(called.status, 200); // the ledger of clients
  const report = JSON.parse((await on(['costs', '--by', 'model', '--json'])).stdout) as { rows: { input: number; output: number; costUsd: number }[] };
  const [one] = report.rows;
  const usd = (one?.costUsd ?? 0) * 2;
  t.ok(usd > 0);
  const day = new Date().toISOString().slice(0, 10);
  const file = join(workspace, 'bill.csv');
  const reconcile = async (...lines: string[]) => {
    writeFileSync(file, ['Day,Model,Cost', ...lines].join('\n'));
    const outcome = await on(['costs', '--reconcile', file, '--columns', 'date=Day,model=Model,usd=Cost', '--json']);
    return { code: outcome.code, ...(JSON.parse(outcome.stdout) as { connection: string; matched: number; differs: object[] }) };
  };
  t.same(await reconcile(`${day},m,${usd}`), { code: 0, connection: 'ollama', matched: 1, differs: [] });
  t.match(await reconcile(`${day},m,${usd * 1.01}`), {
    code: 1,
    matched: 0,
    differs: [{ date: day, model: 'm', ours: { usd, calls: 2 }, theirs: { usd: usd * 1.01 } }],
  });
  t.match(await reconcile(`${day},m,${usd}`, `${day},n,1`), { code: 1, matched: 1, differs: [{ date: day, model: 'n', ours: null, theirs: { usd: 1 } }] });
  t.match(await on(['costs', '--reconcile', file, '--columns', 'date=Day,model=Model,usd=Cost']), {
    code: 1,
    stdout: /n +usd +- +\$1\.000000/,
    stderr: /1 line of ollama agrees, 1 differs/,
  });
});

const MESSAGES = [{ role: 'user', content: 'hi' }];

/** What a key with a cap gets, and has spent, that asks so often for a model of an entry at a server on this machine. */
async function spentAt(t: Test, entries: Record<string, object>, answer: Answerer, limits: object, asked: readonly string[]) {
  const upstream = await startUpstream(t, answer);
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0 });
  const placed = Object.entries(entries).map(([name, entry]) => [name, { baseURL: upstream.url, ...entry }] as const);
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(Object.fromEntries(placed)), { mode: 0o600 });
  await delay(210);
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app', ...limits } })).json;
  const statuses: number[] = [];
  for (const model of asked) {
    const body = { model, messages: MESSAGES };
    statuses.push((await server.call('POST', '/v1/chat/completions', { body, token: false, headers: { authorization: `Bearer ${key}` } })).status);
    await server.call('GET', '/api/costs?source=gateway'); // after every call is priced
  }
  return { statuses, spent: await server.core.accounts?.spentToday('app'), server };
}

const chatAnswer = (usage: object) => ({ choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } }], usage });
const TELLS = { adapter: 'openai', quirks: { costField: 'usage.cost' } };

t.test('a server on this machine is not free if its answers tell what they cost', async (t) => {
  const told: Answerer = (_request, res) => sendJson(res, chatAnswer({ prompt_tokens: 5, completion_tokens: 5, cost: 0.4 }));
  const four = Array.from({ length: 4 }, () => 'proxy/m');
  for (const limits of [{ usdPerDay: 1 }, { usdPerDay: 1, unpriced: 'refuse' }])
    for (const entry of [TELLS, { ...TELLS, models: { m: { price: 0 } } }])
      t.match(await spentAt(t, { proxy: entry }, told, limits, four), { statuses: [200, 200, 200, 429], spent: { unpricedCalls: 0 } });
  const untold: Answerer = (_request, res) => sendJson(res, chatAnswer({ prompt_tokens: 5, completion_tokens: 5 }));
  t.match(
    await spentAt(t, { proxy: TELLS }, untold, { usdPerDay: 1 }, ['proxy/m']),
    { spent: { usd: 0, unpricedCalls: 1 } },
    'what it does not tell is not known',
  );
  t.match(await spentAt(t, { proxy: { ...TELLS, models: { m: { price: 0 } } } }, untold, { usdPerDay: 1 }, ['proxy/m']), { spent: { unpricedCalls: 0 } });
  t.match(await spentAt(t, { proxy: TELLS }, untold, { usdPerDay: 1, unpriced: 'refuse' }, four), { statuses: [200, 403, 403, 403] });
});

t.test('a key that refuses unknown prices may ask a server on this machine, and a model whose price is 0', async (t) => {
  const answer: Answerer = (_request, res) => sendJson(res, chatAnswer({ prompt_tokens: 5, completion_tokens: 5 }));
  const entries = { local: { adapter: 'openai' }, free: { ...TELLS, models: { m: { price: 0 } } }, proxy: TELLS };
  const asked = ['local/m', 'free/m', 'local/m', 'free/m', 'proxy/m', 'proxy/m', 'local/m', 'free/m'];
  t.match(await spentAt(t, entries, answer, { usdPerDay: 1, unpriced: 'refuse' }, asked), {
    statuses: [200, 200, 200, 200, 200, 403, 200, 200],
    spent: { usd: 0, calls: 7, unpricedCalls: 1 },
  });
});

t.test('what the answers of one connection cost says nothing of those of another', async (t) => {
  let isFirst = true;
  const answer: Answerer = ({ method }, res) => {
    sendJson(res, chatAnswer({ prompt_tokens: 5, completion_tokens: 5, ...(isFirst && { cost: 0.001 }) }));
    if (method === 'POST') isFirst = false;
  };
  const { statuses, spent } = await spentAt(t, { cheap: TELLS, dear: TELLS }, answer, { usdPerDay: 1 }, ['cheap/m', 'dear/m', 'cheap/m']);
  t.same(statuses, [200, 200, 200]);
  t.match(spent, { calls: 3, unpricedCalls: 1 });
});

t.test('a price that a person has given counts for a model whose name hides what it is', async (t) => {
  const candidates = [{ content: { role: 'model', parts: [{ text: 'x' }] }, finishReason: 'STOP' }];
  const usageMetadata = { promptTokenCount: 100_000, candidatesTokenCount: 100_000, totalTokenCount: 200_000 };
  const answer: Answerer = (_request, res) => sendJson(res, { candidates, usageMetadata });
  const model = 'tunedModels/mine';
  for (const price of [{ input: 1, output: 4 }, 'google/gemini-2.5-flash'] as const) {
    const google = { apiKey: 'k'.repeat(30), models: { [model]: { price } } };
    const { statuses, spent, server } = await spentAt(
      t,
      { google },
      answer,
      { usdPerDay: 0.6 },
      Array.from({ length: 4 }, () => `google/${model}`),
    );
    t.match(statuses.at(-1), 429, JSON.stringify(price));
    t.match(spent, { unpricedCalls: 0 });
    t.match((await server.call('GET', `/api/prices?model=google/${model}`)).json, { prices: [{ from: 'own', price: { input: Number } }] });
  }
});

t.test('a whole answer with text that is said to have no tokens counts by its size, on every lane; an empty one counts nothing', async (t) => {
  const LONG = 'word '.repeat(400);
  const zeros = { prompt_tokens: 9, completion_tokens: 0, input_tokens: 9, output_tokens: 0 };
  const answers: Record<string, (text: string) => object> = {
    '/chat/completions': (content) => ({ choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }], usage: zeros }),
    '/responses': (text) => ({
      object: 'response',
      status: 'completed',
      reasoning: { summary: 'auto' },
      output: text === '' ? [] : [{ type: 'message', content: [{ type: 'output_text', text }] }],
      usage: zeros,
    }),
    '/messages': (text) => ({
      type: 'message',
      role: 'assistant',
      stop_reason: 'end_turn',
      content: text === '' ? [] : [{ type: 'text', text }],
      usage: zeros,
    }),
  };
  let text = LONG;
  const upstream = await startUpstream(t, ({ path, method }, res) => {
    const answer = Object.entries(answers).find(([end]) => path.endsWith(end))?.[1];
    sendJson(res, method === 'GET' || answer === undefined ? {} : answer(text));
  });
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0 });
  const entry = { baseURL: `${upstream.url}/v1`, auth: 'none' };
  const entries = {
    chat: { ...entry, adapter: 'openai', api: 'chat' },
    responses: { ...entry, adapter: 'openai', api: 'responses' },
    claude: { ...entry, adapter: 'anthropic' },
  };
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(entries), { mode: 0o600 });
  await delay(210);
  const outputOf = async (path: string, body: object): Promise<number> => {
    const { key } = (await server.call('POST', '/api/keys', { body: { name: `k${Math.random()}`, tokensPerDay: 100_000 } })).json;
    t.equal((await server.call('POST', path, { body, token: false, headers: { authorization: `Bearer ${key}` } })).status, 200, path);
    const lines = await server.core.accounts
      ?.costs('model')
      .then(() => readFileSync(join(server.workspace, 'gateway-ledger.jsonl'), 'utf8').trim().split('\n'));
    return JSON.parse(lines?.at(-1) ?? '').usage.outputTokens;
  };
  const asks = [
    ['/v1/chat/completions', { model: 'chat/m', messages: MESSAGES }],
    ['/v1/responses', { model: 'responses/m', input: 'hi' }],
    ['/v1/messages', { model: 'claude/m', max_tokens: 9, messages: MESSAGES }],
    ['/v1/chat', { adapter: 'chat', model: 'm', messages: MESSAGES }],
    ['/v1/chat/completions', { model: 'claude/m', messages: MESSAGES }],
  ] as const;
  for (const [path, body] of asks) t.ok((await outputOf(path, body)) >= 500, `${path} ${JSON.stringify(body)}`);
  text = '';
  for (const [path, body] of asks) t.equal(await outputOf(path, body), 0, `${path} ${JSON.stringify(body)}, empty`);
});

/** What a key with a cap in USD gets from a block with this model of a server on this machine, and from the model itself, and what it has spent after each. */
async function askedBoth(
  t: Test,
  entry: object,
  told: object,
  limits: object,
  asked: readonly string[],
  options: TestServerOptions & { readonly left?: Record<string, string>; readonly ofBlock?: Readonly<Record<'adapter' | 'budget', object>> } = {},
) {
  const upstream = await startUpstream(t, ({ method, body }, res) => {
    if (method === 'GET') return sendJson(res, { data: [] });
    const usage = { prompt_tokens: 100, completion_tokens: 100 };
    const message = { role: 'assistant', content: 'x' };
    const choice = { index: 0, finish_reason: 'stop' };
    if (!body.includes('"stream":true')) return sendJson(res, { choices: [{ ...choice, message }], usage, ...told });
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(`data: ${JSON.stringify({ choices: [{ ...choice, delta: message }], usage, ...told })}\n\ndata: [DONE]\n\n`);
  });
  const { left = {}, ofBlock, ...more } = options;
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0, ...more });
  for (const [name, text] of Object.entries(left)) writeFileSync(join(server.workspace, name), text);
  const shop = { adapter: 'openai', api: 'chat', auth: 'none', baseURL: `${upstream.url}/v1`, ...entry };
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ shop }), { mode: 0o600 });
  await delay(210);
  const adapter = { provider: 'shop', model: 'm', ...ofBlock?.adapter };
  const retry = { baseMs: 1, maxDelayMs: 1, maxAttempts: 1 };
  await createBlock(server, 'ada', { ...RUNNABLE, adapter, retry, ...(ofBlock && { budget: ofBlock.budget }) });
  await server.call('POST', '/api/blocks/ada/start');
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app', rights: ['blocks'], ...limits } })).json;
  const found: object[] = [];
  for (const [index, model] of asked.entries()) {
    const body = { model, messages: [{ role: 'user', content: `hi ${index}` }] };
    const { status } = await server.call('POST', '/v1/chat/completions', { body, token: false, headers: { authorization: `Bearer ${key}` } });
    const { usd = 0, unpricedCalls } = (await server.core.accounts?.spentToday('app').catch(() => undefined)) ?? {};
    found.push({ status, usd: Number(usd.toFixed(6)), unpricedCalls });
  }
  return { found, requests: upstream.requests.filter(({ method }) => method === 'POST').length };
}

t.test('a call of a block in a tier without a price counts for the key of its message what it costs at least, as a call of the key itself does', async (t) => {
  const entry = { models: { m: { price: { input: 1000, output: 3000 } } } };
  const { found } = await askedBoth(t, entry, { service_tier: 'priority' }, { usdPerDay: 1 }, ['block/ada', 'shop/m', 'block/ada', 'block/ada']);
  t.match(found, [
    { status: 200, usd: 0.4, unpricedCalls: 0 },
    { status: 200, usd: 0.8, unpricedCalls: 0 },
    { status: 200, usd: 1.2, unpricedCalls: 0 },
    { status: 429, usd: 1.2 },
  ]);
});

t.test('calls in a tier without a price count for the cap of their block what they cost at least', async (t) => {
  const entry = { models: { m: { price: { input: 1000, output: 3000 } } } };
  const asked = ['block/ada', 'block/ada', 'block/ada', 'block/ada'];
  const ofBlock = { adapter: { maxTokens: 50 }, budget: { dailyUsd: 0.9 } };
  const stores = { 'a folder': async () => undefined, ...(noPostgres === false && { 'a database': async () => connectStore(await migratedStore(t)) }) };
  for (const [place, storeOf] of Object.entries(stores)) {
    const store = await storeOf();
    const { found, requests } = await askedBoth(t, entry, { service_tier: 'priority' }, {}, asked, { ofBlock, ...(store !== undefined && { store }) });
    t.match(found, [{ status: 200 }, { status: 200 }, { status: 429 }, { status: 429 }], place);
    t.equal(requests, 2, place);
  }
});

t.test('a call of a block that times out counts for the block and for the key of its message what a model may have reasoned in silence', async (t) => {
  const upstream = await startUpstream(t, ({ method }, res) => {
    if (method === 'GET') sendJson(res, { data: [] }); // the others get no answer
  });
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0 });
  const shop = { adapter: 'openai', api: 'chat', auth: 'none', baseURL: `${upstream.url}/v1`, timeouts: { firstByteMs: 200 }, ...PRICED };
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ shop }), { mode: 0o600 });
  await delay(210);
  const retry = { baseMs: 1, maxDelayMs: 1, maxAttempts: 1 };
  await createBlock(server, 'ada', { ...RUNNABLE, adapter: { provider: 'shop', model: 'm' }, retry });
  await server.call('POST', '/api/blocks/ada/start');
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app', rights: ['blocks'], usdPerDay: 1 } })).json;
  for (const model of ['block/ada', 'shop/m']) {
    const body = { model, messages: [{ role: 'user', content: 'hi' }] };
    await server.call('POST', '/v1/chat/completions', { body, token: false, headers: { authorization: `Bearer ${key}` } });
  }
  await server.core.accounts?.costs('key');
  const linesOf = (name: string) => readFileSync(join(server.workspace, name), 'utf8').trim().split('\n');
  const lines = [...linesOf('ledger.jsonl'), ...linesOf('gateway-ledger.jsonl')];
  const outputs = lines.map((line) => Number(JSON.parse(line).usage.outputTokens));
  t.equal(outputs.length, 3, 'the call of the block, the same for the key, and the call of the key');
  for (const [index, output] of outputs.entries()) t.ok(output >= 20, `${lines[index]}`);
});

t.test('a key that refuses unknown prices pays no call of a block without a known price either', async (t) => {
  const unknown = { models: { m: { price: 'openai/no-such-model' } } };
  const cases = [
    [{ quirks: { costField: 'usage.cost' } }, ['block/ada', 'block/ada', 'shop/m'], [200, 502, 403], 1],
    [{ quirks: { costField: 'usage.cost' } }, ['shop/m', 'block/ada'], [200, 502], 1],
    [unknown, ['block/ada', 'shop/m'], [502, 403], 0],
  ] as const;
  for (const [entry, asked, statuses, sent] of cases) {
    const { found, requests } = await askedBoth(t, entry, {}, { usdPerDay: 1, unpriced: 'refuse' }, asked);
    t.match(
      found,
      statuses.map((status) => ({ status })),
      JSON.stringify([entry, asked]),
    );
    t.equal(requests, sent, JSON.stringify([entry, asked]));
  }
  t.match(await askedBoth(t, unknown, {}, { usdPerDay: 1, unpriced: 'allow' }, ['block/ada', 'shop/m']), {
    found: [{ status: 200 }, { status: 200, unpricedCalls: 2 }],
    requests: 2,
  });
});

t.test('what a block uses for a message of a key counts towards the tokens a minute of the key and of its group', async (t) => {
  const told = { usage: { prompt_tokens: 2000, completion_tokens: 100 } };
  const statuses = async (limits: object, asked: readonly string[]) =>
    (await askedBoth(t, {}, told, limits, asked)).found.map((one) => (one as { status: number }).status);
  t.same(await statuses({ tokensPerMinute: 1000 }, ['block/ada', 'block/ada', 'shop/m']), [200, 429, 429]);
  t.same(await statuses({ tokensPerMinute: 10_000 }, ['block/ada', 'block/ada']), [200, 200], 'within the limit nothing is refused');
  t.same(await statuses({ requestsPerMinute: 2 }, ['block/ada', 'shop/m', 'block/ada']), [200, 200, 429]);
});

t.test('a model with a price has it under every name by which a daemon of this machine takes the model', async (t) => {
  const one = { price: { input: 1, output: 0 } };
  const gpu = await startRig(t, { models: { plain: one, 'listed:latest': one, 'big:70b': one } });
  await gpu.filed({ models: { 'gpu/filed:latest': { input: 2, output: 0 } } });
  const names = [
    'plain',
    'plain:latest',
    'Plain:Latest',
    'library/plain',
    'registry.example/library/plain:latest',
    'listed',
    'listed:latest',
    'library/big:70b',
  ];
  for (const name of names) t.equal(await gpu.costOf(name), 1, name);
  for (const name of ['filed', 'filed:latest', 'library/filed']) t.equal(await gpu.costOf(name), 2, name);
  for (const name of ['big', 'big:latest', 'plain:7b', 'mine/plain']) t.equal(await gpu.costOf(name), 0, `${name} is another model`);
});

const PRICED = { models: { m: { price: { input: 1000, output: 3000 } } } };
const statusesOf = ({ found }: { readonly found: readonly object[] }) => found.map((one) => (one as { status: number }).status);

t.test('a cap that was reached before the server started refuses the first question to a block, and so does what can not be read', async (t) => {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const line = {
    at: new Date().toISOString(),
    requestId: 'r',
    key: 'app',
    provider: 'shop',
    model: 'm',
    usage,
    costUsd: 1,
    firstTextMs: 1,
    durationMs: 1,
    error: null,
  };
  const asked = ['block/ada', 'shop/m'];
  const reached = { 'gateway-ledger.jsonl': `${JSON.stringify(line)}\n` };
  t.same(statusesOf(await askedBoth(t, PRICED, {}, { usdPerDay: 1 }, asked, { left: reached })), [429, 429]);
  const [ofBlock, ofModel] = statusesOf(await askedBoth(t, PRICED, {}, { usdPerDay: 1 }, asked, { left: { 'gateway-spend.json': '{' } }));
  t.ok((ofModel ?? 0) >= 400);
  t.equal(ofBlock, ofModel);
});

t.test('a cap of a key holds for questions to blocks also where the calls are counted in a database', { skip: noPostgres }, async (t) => {
  const store = await connectStore(await migratedStore(t));
  t.same(statusesOf(await askedBoth(t, PRICED, {}, { usdPerDay: 0.5 }, ['block/ada', 'block/ada', 'block/ada', 'shop/m'], { store })), [200, 200, 429, 429]);
});

t.test('messages that wait at a block when a cap of their key is reached are not answered: one run alone passes it', async (t) => {
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const usage = { prompt_tokens: 100, completion_tokens: 100 };
  const upstream = await startUpstream(t, async ({ method }, res) => {
    if (method === 'GET') return sendJson(res, { data: [] });
    await held;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }], usage })}\n\ndata: [DONE]\n\n`);
  });
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0 });
  const shop = { adapter: 'openai', api: 'chat', auth: 'none', baseURL: `${upstream.url}/v1`, ...PRICED };
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ shop }), { mode: 0o600 });
  await delay(210);
  await createBlock(server, 'ada', { ...RUNNABLE, adapter: { provider: 'shop', model: 'm' } });
  await server.call('POST', '/api/blocks/ada/start');
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app', rights: ['blocks'], usdPerDay: 0.3 } })).json;
  const ask = (content: string, headers?: Record<string, string>) =>
    server.call('POST', '/v1/chat/completions', {
      body: { model: 'block/ada', messages: [{ role: 'user', content }] },
      ...(headers !== undefined && { token: false as const, headers }),
    });
  const answers = Array.from({ length: 5 }, (_, index) => ask(`hi ${index}`, { authorization: `Bearer ${key}` }));
  const posted = async () =>
    ((await server.call('GET', '/api/blocks/ada/chat')).json['messages'] as { role: string }[]).filter(({ role }) => role === 'user').length;
  await until(async () => (await posted()) === 5, 'all messages are there');
  const owner = ask('of the owner');
  release?.();
  const statuses = (await Promise.all(answers)).map(({ status, text }) => (status === 200 ? 'answered' : text.replace(/^.*\((\w+)\).*$/, '$1')));
  t.same(statuses.sort(), ['KEY_CAP_REACHED', 'KEY_CAP_REACHED', 'KEY_CAP_REACHED', 'KEY_CAP_REACHED', 'answered']);
  t.equal((await owner).status, 200, 'others are answered');
  t.equal(upstream.requests.filter(({ method }) => method === 'POST').length, 2);
  t.match(await server.core.accounts?.spentToday('app'), { usd: 0.4, calls: 1 });
});
