// Names that a client chooses: how long those of models may be at each door, what is kept of them, and those that every object of JavaScript has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROUTES } from '../../transports/http/routes.ts';
import { openaiChat } from '../conformance/wires/openai-chat.ts';
import { startManagedServer } from '../support/tools/managed-server.ts';
import { startServer } from '../support/server.ts';
import { sample, sweep } from '../support/sweep.ts';
import { answerWith, startWireServer } from '../support/wire-server.ts';

const LONG = 'A'.repeat(2049);
const messages = [{ role: 'user', content: 'hi' }];
const BIG = `ollama/${'A'.repeat(sweep(5_000_000, 300_000))}`;

const DOORS: readonly [path: string, body: (model: string) => object, shape: object][] = [
  ['/v1/chat/completions', (model) => ({ model, messages }), { error: { param: 'model', type: 'invalid_request_error' } }],
  ['/v1/responses', (model) => ({ model, input: 'hi' }), { error: { param: 'model', type: 'invalid_request_error' } }],
  ['/v1/messages', (model) => ({ model, max_tokens: 9, messages }), { type: 'error', error: { type: 'invalid_request_error', message: /^model/ } }],
  ['/v1/messages/count_tokens', (model) => ({ model, messages }), { type: 'error', error: { type: 'invalid_request_error', message: /^model/ } }],
  ['/v1/embeddings', (model) => ({ model, input: 'hi' }), { error: { param: 'model', type: 'invalid_request_error' } }],
  ['/ollama/api/chat', (model) => ({ model, messages, stream: false }), { error: /^model/ }],
  ['/ollama/api/generate', (model) => ({ model, prompt: 'hi', stream: false }), { error: /^model/ }],
  ['/ollama/api/embed', (model) => ({ model, input: 'hi' }), { error: /^model/ }],
  ['/ollama/api/embeddings', (model) => ({ model, prompt: 'hi' }), { error: /^model/ }],
  ['/ollama/api/show', (model) => ({ model }), { error: /^model/ }],
];

t.test('a name above 2048 characters is refused at every door, to a key and to the token, in the form of its protocol', async (t) => {
  const server = await startServer(t);
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app', tokensPerDay: 1000 } })).json;
  const ended: unknown[] = [];
  server.core.events.on('call.finished', (fact) => ended.push(fact));
  for (const authorization of [`Bearer ${server.token}`, `Bearer ${key}`]) {
    for (const [path, body, shape] of DOORS) {
      for (const model of [LONG, `ollama/${LONG}`, BIG]) {
        const answer = await server.call('POST', path, { body: body(model), headers: { authorization } });
        t.match(answer, { status: 400, json: shape }, `${path} ${model.length}`);
        t.ok(answer.text.length < 1000, path);
      }
    }
    t.match(await server.call('GET', `/v1/models/ollama/${LONG}`, { headers: { authorization } }), { status: 400, json: { error: { param: 'model' } } });
  }
  t.match(await server.call('GET', `/v1/models/ollama/${LONG}`, { headers: { 'anthropic-version': '2023-06-01' } }), { status: 400, json: { type: 'error' } });
  t.same(ended, []);
  t.ok(JSON.stringify(server.log).length < 100_000, 'no line of the log holds a name');
  t.equal(server.upstream.requests.length, 0);
});

t.test('of what a request chooses, no more than 2048 characters are kept', async (t) => {
  const server = await startWireServer(t, openaiChat, answerWith(openaiChat));
  const facts: string[] = [];
  server.core.events.on('*', (_name, fact) => facts.push(JSON.stringify(fact)));
  const body = { model: 'openai/gpt-5', messages, service_tier: 'T'.repeat(1_000_000) };
  t.equal((await server.call('POST', '/v1/chat/completions', { body })).status, 200);
  t.ok(facts.some((fact) => fact.includes('TTTT')));
  for (const fact of facts) t.ok(fact.length < 10_000, fact.slice(0, 100));
  await server.core.close();
  t.ok(readFileSync(join(server.workspace, 'gateway-ledger.jsonl'), 'utf8').length < 10_000);
});

const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'tostring'];

t.test('no route takes what objects inherit for something that exists', async (t) => {
  const server = await startManagedServer(t);
  let asked = 0;
  const makesWhatItNames = ({ method, path }: { readonly method: string; readonly path: string }) => method === 'PUT' && path === '/api/key-groups/:name';
  for (const [index, { method, path }] of ROUTES.filter((route) => route.path.includes(':') && !makesWhatItNames(route)).entries()) {
    for (const name of sample(INHERITED, 3, index)) {
      const answer = await server.call(method, path.replace(/:\w+\*?/g, name), method === 'GET' || method === 'DELETE' ? {} : { body: {} });
      // A delivery to a hook that isn't there reads like one with a wrong signature.
      const expected = path.startsWith('/api/hooks/') ? [401] : [400, 404];
      t.ok(expected.includes(answer.status), `${method} ${path} ${name}: ${answer.status} ${answer.text}`);
      asked += 1;
    }
  }
  t.ok(asked > sweep(200, 100), String(asked));
  for (const model of INHERITED) t.match(await server.call('POST', '/v1/chat/completions', { body: { model, messages } }), { status: 404 }, model);
});

t.test('such a name is like any other once something has it', async (t) => {
  const server = await startServer(t);
  for (const name of ['constructor', 'valueof']) {
    t.match(await server.call('POST', '/api/blocks', { body: { name } }), { status: 200 });
    t.match(await server.call('GET', `/api/blocks/${name}`), { status: 200, json: { name } });
    t.match(await server.call('DELETE', `/api/blocks/${name}`), { status: 200 });
    const { key } = (await server.call('POST', '/api/keys', { body: { name, tokensPerDay: 1 } })).json;
    t.match(await server.call('GET', '/v1/models', { token: false, headers: { authorization: `Bearer ${key}` } }), { status: 200 });
    t.match((await server.call('GET', '/api/keys')).json, { keys: [{ name, spentToday: { calls: 0 } }] });
    t.match(await server.call('DELETE', `/api/keys/${name}`), { status: 200 });
    t.match(await server.call('PUT', `/api/key-groups/${name}`, { body: { usdPerDay: 1 } }), {
      status: 200,
      json: { group: { name, usdPerDay: 1, keys: [] } },
    });
    t.match(await server.call('DELETE', `/api/key-groups/${name}`), { status: 200 });
  }
  for (const name of INHERITED) {
    t.match(await server.call('PUT', `/api/models/${name}`, { body: { targets: ['ollama/llama3.2'] } }), { status: 200 }, name);
    t.match(await server.call('POST', '/v1/chat/completions', { body: { model: name, messages } }), { status: 200 }, name);
    t.match(await server.call('DELETE', `/api/models/${name}`), { status: 200 }, name);
    t.match(await server.call('GET', `/api/models/${name}`), { status: 404 }, name);
  }
});
