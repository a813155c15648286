// The table of what a request may choose: each field of each row is sent by everybody to each of its routes, and the answer is the promised one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { RequestFields } from '../../core/index.ts';
import { ANTHROPIC } from '../../transports/http/dialects/anthropic/index.ts';
import { OLLAMA_CHAT } from '../../transports/http/dialects/ollama/index.ts';
import { OPENAI_CHAT } from '../../transports/http/dialects/openai-chat/index.ts';
import { COMPLETION_FIELDS } from '../../transports/http/dialects/openai-completions/request-fields.ts';
import { EMBEDDINGS_FIELDS } from '../../transports/http/dialects/openai-embeddings/request-fields.ts';
import { OPENAI_RESPONSES } from '../../transports/http/dialects/openai-responses/index.ts';
import { ROOT } from '../cli/run.ts';
import type { Wire } from '../conformance/wire.ts';
import { anthropic } from '../conformance/wires/anthropic.ts';
import { bedrock } from '../conformance/wires/bedrock.ts';
import { ollama } from '../conformance/wires/ollama.ts';
import { openaiChat } from '../conformance/wires/openai-chat.ts';
import { openaiResponses } from '../conformance/wires/openai-responses.ts';
import { CLIENTS, type Fields } from '../support/dialect-clients.ts';
import type { Answer } from '../support/server.ts';
import { sample as takenOf, sweep } from '../support/sweep.ts';
import { type Answerer, sendJson } from '../support/upstream.ts';
import { PLAIN, startWireServer, type WireServer } from '../support/wire-server.ts';

interface Row {
  readonly fields: string;
  readonly where: string;
  readonly owner: string;
  readonly key: string;
  readonly block: string;
}

function rowsOf(page: string): Row[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const section = text.slice(text.indexOf('## What a request may choose'), text.indexOf('## What comes in'));
  return section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---') && !line.startsWith('| field'))
    .map((line) => {
      const [fields = '', where = '', , owner = '', key = '', block = ''] = line.slice(2, -2).split(' | ');
      return { fields, where, owner, key, block };
    });
}

const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** The keys of applications. The last one has a list without the model that is asked. */
const LIMITS = {
  free: {},
  tokens: { tokensPerDay: 1e9 },
  usd: { usdPerDay: 1e6 },
  list: { models: ['*'] },
  other: { models: ['other/*'] },
} as const;
type Kind = keyof typeof LIMITS;
const KINDS: readonly Kind[] = ['free', 'tokens', 'usd', 'list'];
/** Which of them may, by the words of the page. */
const MAY: Readonly<Record<string, readonly Kind[]>> = {
  yes: KINDS,
  no: KINDS,
  'of its list': KINDS,
  never: [],
  'without limits': ['free'],
  'without a cap': ['free', 'list'],
  'without a cap in USD': ['free', 'tokens', 'list'],
  'without a list of models': ['free', 'tokens', 'usd'],
  'without a list of models or a cap in USD': ['free', 'tokens'],
};

/** A client that reads this sends the whole conversation instead. */
const NO_THREADS = 'thread_unsupported_request';

interface Door {
  /** As the page writes it. */
  readonly path: string;
  readonly url: string;
  readonly wire: Wire;
  readonly isNative?: boolean;
  readonly fields?: RequestFields;
  ask(model: string): Fields;
}

const clientOf = (path: string) => CLIENTS.find((client) => client.path === path) as (typeof CLIENTS)[number];
const NATIVE: readonly Door[] = [
  { path: '/v1/chat/completions', wire: openaiChat, fields: OPENAI_CHAT.fields },
  { path: '/v1/responses', wire: openaiResponses, fields: OPENAI_RESPONSES.fields },
  { path: '/v1/messages', wire: anthropic, fields: ANTHROPIC.fields },
].map((door) => ({ ...door, url: door.path, isNative: true, ask: (model) => clientOf(door.path).ask(model) }));
const hi = { messages: [{ role: 'user', content: 'hi' }] };
const COMPATIBLE: readonly Door[] = [
  ...NATIVE,
  ...NATIVE.map((door) => ({ ...door, wire: ollama, isNative: false })),
  { path: '/v1/messages/count_tokens', url: '/v1/messages/count_tokens', wire: ollama, fields: ANTHROPIC.fields, ask: (model) => ({ model, ...hi }) },
  { path: '/v1/completions', url: '/v1/completions', wire: ollama, fields: COMPLETION_FIELDS, ask: (model) => ({ model, prompt: 'hi' }) },
  { path: '/v1/embeddings', url: '/v1/embeddings', wire: ollama, fields: EMBEDDINGS_FIELDS, ask: (model) => ({ model, input: 'hi' }) },
  ...[{ chat: hi }, { generate: { prompt: 'hi' } }, { embed: { input: 'hi' } }, { embeddings: { prompt: 'hi' } }]
    .flatMap(Object.entries)
    .map(([name, body]) => ({
      path: '/ollama/api',
      url: `/ollama/api/${name}`,
      wire: ollama,
      fields: OLLAMA_CHAT.fields,
      ask: (model: string) => ({ model, stream: false, ...(body as Fields) }),
    })),
];
const OWN: readonly Door[] = [
  { path: '/v1/chat', url: '/v1/chat', wire: openaiChat, ask: () => ({ adapter: 'openai', model: openaiChat.model, ...hi }) },
  { path: '/v1/adapters/{provider}/verify', url: '/v1/adapters/openai/verify', wire: openaiChat, ask: () => ({}) },
];

function doorsOf({ where }: Row): readonly Door[] {
  const paths = quoted(where);
  // Translated, most of these mean nothing.
  const named = [...OWN, ...COMPATIBLE].filter(({ path, isNative }) => paths.includes(path) && isNative !== false);
  const further = where.includes('compatible') ? COMPATIBLE : where.endsWith('native') ? NATIVE : [];
  return [...named, ...further];
}

/** What is sent to choose something. */
interface Sample {
  readonly title: string;
  readonly body?: Fields;
  readonly edit?: (json: string) => string;
  readonly search?: string;
  readonly headers?: Record<string, string>;
  /** Set for what decides nothing, so that everybody may send it. */
  readonly isHarmless?: boolean;
}

const WEB_SEARCH = { type: 'web_search_20250305', name: 'web_search' };
const HOSTED = { type: 'image_generation', model: 'gpt-image-1' };
const VALUES: Readonly<Record<string, Fields>> = {
  tools: { tools: [{ type: 'function', name: 'f', function: { name: 'f' } }, HOSTED] },
  modalities: { modalities: ['text', 'audio'] },
  'reasoning.mode': { reasoning: { effort: 'low', mode: 'pro' } },
  'input[].tools': {
    input: [
      { role: 'user', content: 'hi' },
      { type: 'additional_tools', role: 'developer', tools: [HOSTED] },
    ],
  },
  'messages[].content[].tool': {
    messages: [...hi.messages, { role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition: WEB_SEARCH } }] }],
  },
  'context_management.edits': { context_management: { edits: [{ type: 'clear_thinking_20251015' }, { type: 'compact_20260112' }] } },
  background: { background: true },
  'venice_parameters.enable_web_search': { venice_parameters: { enable_web_search: 'on' } },
  'venice_parameters.enable_web_scraping': { venice_parameters: { enable_web_scraping: true } },
  'venice_parameters.enable_x_search': { venice_parameters: { enable_x_search: true } },
  'usage.include': { usage: { include: false } },
  'config.region': { config: { region: 'us-east-1' } },
};

function fieldSample(name: string, value?: string): Sample {
  const given: unknown = value ?? 'x';
  const plain = name.startsWith('config.') ? { config: { [name.slice('config.'.length)]: given } } : { [name.replace('*', 'x')]: given };
  const nested = name.startsWith('reasoning.') && value !== undefined ? { reasoning: { mode: value } } : undefined;
  const body = nested ?? (value === undefined ? VALUES[name] : undefined) ?? plain;
  return { title: value === undefined ? name : `${name} ${value}`, body, isHarmless: value !== undefined };
}

/** `"a":1,` before the first member. */
const before = (members: string) => (json: string) => json.replace('{', `{${members},`);
const behind = (members: string) => (json: string) => json.replace(/\}$/, `,${members}}`);
const EVIL = 'http://evil.example';
const IMAGE = 'https://images.example/a.png';
const named = ({ path, wire }: Door, model: string): string => (path === '/v1/chat' ? model : `${wire.adapter}/${model}`);
const SPECIAL: Readonly<Record<string, (door: Door, fields: string) => readonly Sample[]>> = {
  'a parameter of the URL': () => [
    { title: 'a parameter', search: '?key=x' },
    { title: 'a second parameter', search: '?beta=true&k%65y=x' },
    { title: 'a second one behind a semicolon', search: '?beta=1;api_base=http://evil.example' },
    { title: 'versions', search: '?beta=true&api-version=2026-01-01', isHarmless: true },
  ],
  'one of these deeper': () => [
    { title: 'a fallback', body: { fallbacks: [{ model: 'm', api_base: EVIL, api_key: 'k' }] } },
    { title: 'headers of a fallback', body: { fallbacks: [{ model: 'm', headers: { a: 'b' } }] } },
    { title: 'a model that is an address', body: { fallback_models: [`huggingface/${EVIL}`] } },
    { title: 'a list of models', body: { model_list: [{ model_name: 'a', litellm_params: { model: 'openai/a', api_base: EVIL } }] } },
    { title: 'more of the body', body: { extra_body: { api_base: EVIL } } },
    { title: 'options of providers', body: { provider_options: { gateway: { byok: { openai: [{ apiKey: 'k', baseURL: EVIL }] } } } } },
    { title: 'the same, undivided', body: { providerOptions: { gateway: { only: [{ apiKey: 'k' }] } } } },
    { title: 'a tool', body: { tools: [{ type: 'function', name: 'f', function: { name: 'f', parameters: {} }, api_base: EVIL, api_key: 'k' }] } },
    { title: 'labels', body: { metadata: { fallbacks: [{ model: 'm', api_base: EVIL }] } } },
    { title: 'a label', body: { metadata: { api_base: EVIL } } },
    { title: 'a message', body: { messages: [{ role: 'user', content: 'x', api_base: EVIL }] } },
    { title: 'a part of a message', body: { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', api_key: 'k' }] }] } },
    ...['response_format', 'stream_options', 'thinking', 'reasoning'].map((name) => ({ title: name, body: { [name]: { type: 'x', api_base: EVIL } } })),
  ],
  'a `model` with the suffix': (door) =>
    ['m:online', 'm@preset/x', 'm:online@preset/x'].map((model) => ({ title: model, body: { model: named(door, model) } })),
  'several models in': (door) => [{ title: 'two models', body: { model: named(door, 'm,dear') } }],
  'an address (': (door) => [{ title: 'an address', body: { model: `${door.wire.adapter}/huggingface/${EVIL}` } }],
  'a text in a field that is unknown here': () => [
    { title: 'a text', body: { unheard_of: 'x' } },
    { title: 'a text deep within', body: { unheard_of: [{ deep: { within: ['x'] } }] } },
    { title: 'no text', body: { unheard_of: [1, true, null, '', {}] }, isHarmless: true },
  ],
  'a member that stands twice': () => [
    { title: 'the model twice', edit: before('"model":"openai/dear"') },
    { title: 'the model twice, escaped', edit: before('"mod\\u0065l":"openai/dear"') },
    { title: 'the model in other letters', edit: behind('"Model":"dear"') },
    { title: 'a switch twice', edit: before('"background":false,"background":true') },
    { title: 'a switch twice, escaped', edit: before('"background":true,"b\\u0061ckground":false') },
    { title: 'a switch in other letters', edit: behind('"BACKGROUND":true') },
    { title: 'the type of a tool twice', edit: behind('"tools":[{"type":"web_search","name":"f","type":"function","function":{"name":"f"}}]') },
    { title: 'once in each of two objects', edit: behind('"metadata":{"model":"x","a":{"model":"y"}}'), isHarmless: true },
  ],
  'the URL of an image or a document': ({ path }) => {
    const image: Record<string, Fields> = {
      '/v1/chat': { messages: [{ role: 'user', content: [{ type: 'image', url: IMAGE }] }] },
      '/v1/chat/completions': { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: IMAGE } }] }] },
      '/v1/responses': { input: [{ role: 'user', content: [{ type: 'input_image', image_url: IMAGE }] }] },
      '/v1/messages': { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: IMAGE } }] }] },
    };
    return [{ title: 'an image', body: image[path] as Fields }];
  },
  'the headers': (_door, fields) => quoted(fields).map((name) => ({ title: name, headers: { [name]: 'chosen' } })),
  '`model`': () => [{ title: 'the model' }],
};

function samplesOf({ fields }: Row, door: Door): readonly Sample[] {
  const special = Object.entries(SPECIAL).find(([beginning]) => fields.startsWith(beginning));
  if (special !== undefined) return special[1](door, fields);
  return fields.split('; ').flatMap((part) => {
    const [names = '', values = ''] = part.split(', other than ');
    return quoted(names).flatMap((name) => [fieldSample(name), ...quoted(values).map((value) => fieldSample(name, value))]);
  });
}

const answering =
  (wire: Wire): Answerer =>
  (request, res) => {
    if (request.path.endsWith('/models')) return sendJson(res, { data: [] });
    if (request.path.endsWith('/embed')) return sendJson(res, { embeddings: [[0.5, 1]], prompt_eval_count: 3 });
    const { body, type } = wire.whole(PLAIN);
    res.writeHead(200, { 'content-type': type });
    res.end(body);
  };

/** A server with the keys of everybody. */
async function start(t: Test, wire: Wire) {
  const server = await startWireServer(t, wire, answering(wire));
  const bearer = (key: unknown) => ({ authorization: `Bearer ${key}` });
  const keys = {} as Record<Kind, Record<string, string>>;
  for (const [name, limits] of Object.entries(LIMITS))
    keys[name as Kind] = bearer((await server.call('POST', '/api/keys', { body: { name, ...limits } })).json['key']);
  const { code } = (await server.call('POST', '/api/session/code')).json;
  const page = bearer((await server.call('POST', '/api/session', { token: false, body: { code } })).json['key']);
  return { server, keys, owners: { token: bearer(server.token), page } };
}

async function send({ call }: WireServer, door: Door, { body, edit = (json) => json, search = '', headers }: Sample, who: Record<string, string>, own = {}) {
  const asked = door.ask(`${door.wire.adapter}/${door.wire.model}`);
  const json = edit(JSON.stringify({ ...asked, ...body, ...own }));
  return call('POST', door.url + search, { token: false, headers: { ...who, ...headers }, body: json });
}

t.test('everybody gets the answer that the table promises, and nothing is sent of what is refused', async (t) => {
  const servers = new Map<Wire, Awaited<ReturnType<typeof start>>>();
  for (const wire of [openaiChat, openaiResponses, anthropic, ollama]) servers.set(wire, await start(t, wire));
  const problems: string[] = [];
  let sent = 0;
  for (const row of rowsOf('docs/security.md')) {
    const may = MAY[row.key];
    if (may === undefined || !['yes', 'no'].includes(row.owner)) throw new Error(`The table has words that nobody knows: ${row.owner}, ${row.key}.`);
    t.ok(doorsOf(row).length > 0, row.fields);
    const doors = doorsOf(row);
    for (const [place, door] of doors.entries()) {
      const { server, keys, owners } = servers.get(door.wire) as Awaited<ReturnType<typeof start>>;
      // A stored key does not go to every address.
      const own = row.fields.includes('config.baseURL') ? { config: { baseURL: `${server.upstream.url}/v1`, apiKey: 'my-own-key' } } : {};
      const [first, ...others] = samplesOf(row, door);
      // The first one is sent to every door, and `npm test` sends each of the others to each sixth.
      for (const [index, sample] of [...(first === undefined ? [] : [first]), ...takenOf(others, Math.min(6, doors.length), place)].entries()) {
        const title = `${door.wire.name} ${door.url}: ${sample.title}`;
        const allowed = sample.isHarmless === true ? KINDS : may;
        const report = (who: string, { status, text }: Answer) => problems.push(`${who}, ${title}: ${status} ${text}`);
        // One sample of a row is sent by everybody, the others by one key each that may not send them.
        for (const [name, who] of index === 0 ? Object.entries(owners) : []) {
          const answer = await send(server, door, sample, who, sample.title === 'config.baseURL' ? own : {});
          if (answer.status !== 200) report(name, answer);
        }
        for (const kind of index === 0 ? KINDS : [KINDS.findLast((one) => !allowed.includes(one)) ?? 'usd']) {
          const before = server.upstream.requests.length;
          const answer = await send(server, door, sample, keys[kind]);
          sent += 1;
          const arrived = server.upstream.requests.slice(before);
          const isRight = allowed.includes(kind)
            ? answer.status === 200 && Object.keys(sample.headers ?? {}).every((header) => arrived[0]?.headers[header] === undefined)
            : answer.status === 403 && (answer.text.includes(`with the key ${kind}: `) || answer.text.includes(NO_THREADS)) && arrived.length === 0;
          if (!isRight) report(kind, answer);
        }
        if (row.key === 'of its list') {
          const answer = await send(server, door, sample, keys.other);
          if (answer.status !== 403) report('other', answer);
        }
      }
    }
  }
  t.same(problems, []);
  t.ok(sent > sweep(500, 300), `${sent} requests`);
});

t.test('the table names every field that the tables of the code name, for each route', async (t) => {
  const rows = rowsOf('docs/security.md');
  for (const { path, fields = {}, isNative, wire } of COMPATIBLE) {
    const documented = new Set(
      rows
        .filter((row) => doorsOf(row).some((door) => door.path === path && door.wire === wire))
        .flatMap(({ fields: cell }) => cell.split('; ').flatMap((part) => quoted(part.split(', other than ')[0] ?? '')))
        .map((name) => name.split(/[.[]/)[0]),
    );
    for (const [name, rule] of Object.entries(fields)) {
      if (rule === 'answer' || isNative === false || (isNative === undefined && rule.decides !== 'address')) continue;
      t.ok(documented.has(name), `${path}: ${name}`);
    }
  }
});

t.test('the config of a block takes an address and a model, and no secret', async (t) => {
  const server = await startWireServer(t, openaiChat, answering(openaiChat), { adapters: [openaiChat.create(), bedrock.create()] });
  await server.call('POST', '/api/blocks', { body: { name: 'a' } });
  for (const { fields, block } of rowsOf('docs/security.md').filter((row) => row.block !== '–')) {
    for (const name of quoted(fields)) {
      const field = name.split('.').at(-1) ?? '';
      const value = { baseURL: 'https://proxy.example/v1', region: 'us-east-1' }[field] ?? 'x';
      const provider = field === 'region' ? 'bedrock' : 'openai';
      const { status } = await server.call('PUT', '/api/blocks/a/config', { body: { adapter: { provider, model: 'm', [field]: value } } });
      t.equal(status, block === 'yes' ? 200 : 400, name);
    }
  }
});

t.test('a price is not chosen where the request is translated either', async (t) => {
  const { server, keys, owners } = await start(t, ollama);
  for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages'] as const) {
    const door = COMPATIBLE.find((one) => one.path === path && one.isNative === false) as Door;
    const sample = { title: 'service_tier', body: { service_tier: 'priority' } };
    t.equal((await send(server, door, sample, owners.token)).status, 200, path);
    t.equal((await send(server, door, sample, keys.tokens)).status, 200, path);
    t.match(await send(server, door, sample, keys.usd), { status: 403, text: /service_tier may not be sent with the key usd/ }, path);
  }
});
