// What a thief with the key of an application tries: other spellings of the one model, path and key that it may use.
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { openaiChat } from '../conformance/wires/openai-chat.ts';
import { answerWith, startWireServer } from '../support/wire-server.ts';

const MODEL = 'openai/gpt-4o-mini';
const ASK = { model: MODEL, messages: [{ role: 'user', content: 'hi' }] };
const JSON_TEXT = JSON.stringify(ASK);
const PATH = '/v1/chat/completions';
const before = (member: string): string => JSON_TEXT.replace('{', `{${member},`);

const BODIES: readonly [what: string, body: unknown, status: number, headers?: Record<string, string>][] = [
  ['the model twice', before('"model":"openai/gpt-5"'), 403],
  ['a prototype', before('"__proto__":{"model":"openai/gpt-5"}'), 403],
  ['a constructor', before('"constructor":{"prototype":{"model":"x"}}'), 403],
  ['a list of models as the model', { ...ASK, model: [MODEL] }, 400],
  ['an object as the model', { ...ASK, model: { toString: MODEL } }, 400],
  ['a list of requests', [ASK], 400],
  ['JSON in a string', JSON.stringify(JSON_TEXT), 400],
  ['two requests', JSON_TEXT + JSON_TEXT, 400],
  ['a comment', JSON_TEXT.replace('{', '{/**/'), 400],
  ['a byte order mark', `\ufeff${JSON_TEXT}`, 400],
  ['UTF-16', Buffer.from(`\ufeff${JSON_TEXT}`, 'utf16le'), 415, { 'content-type': 'application/json; charset=utf-16' }],
  ['a byte that is no UTF-8', Buffer.from(before('"\xff":1'), 'latin1'), 400],
  ['packed', gzipSync(JSON_TEXT), 415, { 'content-encoding': 'gzip' }],
  ['packed in secret', gzipSync(JSON_TEXT), 400],
  ['a form', 'model=openai/gpt-5', 415, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['parts', '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nx\r\n--x--', 415, { 'content-type': 'multipart/form-data; boundary=x' }],
  ['another host', ASK, 403, { host: 'evil.example' }],
];
const MODELS = ['openai/GPT-4o-mini', 'openai/gpt-4o-mini ', 'openai/gpt-4o-mini.', 'openai//gpt-4o-mini', 'openai/gpt-4o-mini\0', 'openai/./gpt-4o-mini'];
const FURTHER_MODELS = ['openai/%67pt-4o-mini', 'openai/gpt-4o-mini\ud800', 'openai/gpt\u200b-4o-mini', 'openai/*', 'openai/gpt-4o-mini:online'];
const NO_MODELS = ['OpenAI/gpt-4o-mini', ' openai/gpt-4o-mini', 'GPT-4o-mini', 'openai/', '/', '*', '__proto__'];
const PATHS = [
  '/v1//chat/completions',
  '/v1/./chat/completions',
  '/v1/%63hat/completions',
  '/v1/chat/completions/',
  '/v1/chat/completions;a=b',
  '/V1/chat/completions',
];
const FURTHER_PATHS = [
  '//v1/chat/completions',
  '/v1/chat%2fcompletions',
  '/v1/chat/completions%00',
  '/v1/../api/keys',
  '/v1/%2e%2e/api/keys',
  '/v1/..;/api/keys',
  '/API/keys',
];
const SEARCHES = ['?key=x', '?model=openai/gpt-5', '?beta=%00', '?#', '?=', '?__proto__=1', '?api-version=1;key=x'];

t.test('no spelling of a request, a model or a path gets past the limits of a key', async (t) => {
  const { call, upstream } = await startWireServer(t, openaiChat, answerWith(openaiChat));
  const { key } = (await call('POST', '/api/keys', { body: { name: 'app', models: [MODEL] } })).json;
  const ask = async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<number> =>
    (await call('POST', path, { token: false, headers: { authorization: `Bearer ${key}`, ...headers }, body })).status;
  t.equal(await ask(PATH, ASK), 200);
  for (const [what, body, status, headers] of BODIES) t.equal(await ask(PATH, body, headers), status, what);
  for (const model of [...MODELS, ...FURTHER_MODELS]) t.equal(await ask(PATH, { ...ASK, model }), 403, model);
  for (const model of NO_MODELS) t.equal(await ask(PATH, { ...ASK, model }), 404, model);
  for (const path of [...PATHS, ...FURTHER_PATHS]) t.equal(await ask(path, ASK), 404, path);
  for (const search of SEARCHES) t.equal(await ask(PATH + search, ASK), 403, search);
  for (const maxTokens of ['1e309', '-0', '0.5', 'null', '-1', '"5"', '[5]', '1e20'])
    t.equal(await ask('/v1/chat', `{"adapter":"openai","model":"gpt-4o-mini","messages":[],"config":{"maxTokens":${maxTokens}}}`), 400, maxTokens);
  t.equal(upstream.requests.length, 1, 'nothing of it was sent');
});

t.test('two keys in one request are one of them, and two headers of one name are none', async (t) => {
  const { call, upstream, token } = await startWireServer(t, openaiChat, answerWith(openaiChat));
  const make = async (name: string, limits: object) => String((await call('POST', '/api/keys', { body: { name, ...limits } })).json['key']);
  const [spent, free] = [await make('spent', { tokensPerDay: 0 }), await make('free', {})];
  const ask = async (headers: Record<string, string | string[]>): Promise<number> => (await call('POST', PATH, { token: false, headers, body: ASK })).status;
  t.equal(await ask({ authorization: `Bearer ${spent}`, 'x-api-key': free }), 429, 'the bearer counts');
  t.equal(await ask({ authorization: `bEaReR ${spent}`, 'x-api-key': token }), 429);
  t.equal(await ask({ AUTHORIZATION: `Bearer ${free}`, 'x-api-key': spent }), 200);
  t.equal(await ask({ authorization: `Bearer ${spent}, Bearer ${free}` }), 401);
  t.equal(await ask({ 'x-api-key': [spent, free] }), 401);
  for (const name of ['api-key', 'x-goog-api-key', 'cookie', 'proxy-authorization']) t.equal(await ask({ [name]: free }), 401, name);
  t.equal(upstream.requests.length, 1);
});
