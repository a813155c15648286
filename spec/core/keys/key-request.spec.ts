import t from 'tap';
import type { FieldEffect, RequestFields } from '../../../core/keys/field-rules.ts';
import { assertMayAsk, assertMayPass, CONFIG_FIELDS } from '../../../core/keys/key-request.ts';
import type { NamedKey } from '../../../core/keys/named-key.ts';
import { ChatConfig } from '../../../core/schemas/chat.ts';
import { keyWith } from '../../support/key-requests.ts';

const key = keyWith;
const KEYS = {
  free: key(),
  tokens: key({ tokensPerDay: 0 }),
  usd: key({ usdPerDay: 0 }),
  month: key({ usdPerMonth: 0 }),
  minute: key({ tokensPerMinute: 1 }),
  group: key({}, { usdPerWeek: 0 }),
  list: key({ models: ['m'] }),
  timed: key({ expiresAt: '2099-01-01' }),
};

/** The field that a request is refused for; undefined if it passes. */
function refused(who: NamedKey, fields: RequestFields, body: unknown, search = ''): string | undefined {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return caught(() => assertMayPass(who, fields, { body: JSON.parse(text), bytes: Buffer.from(text), search }));
}

function caught(act: () => void): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    const { code, details, message } = error as { code: string; details: { path: string }[]; message: string };
    t.equal(code, 'KEY_FORBIDDEN');
    t.match(message, /^\S.* may not be sent with the key app: [^.]+\. [A-Z].*\.$/s);
    return details[0]?.path;
  }
}

t.test('each effect is forbidden to the keys whose limits it gets around', async (t) => {
  const forbidden: Record<FieldEffect, readonly (keyof typeof KEYS)[]> = {
    address: ['free', 'tokens', 'usd', 'month', 'minute', 'group', 'list', 'timed'],
    models: ['usd', 'month', 'group', 'list'],
    price: ['usd', 'month', 'group'],
    unseen: ['usd', 'month', 'group', 'tokens', 'minute'],
    spends: ['tokens', 'minute', 'usd', 'month', 'group', 'list'],
  };
  for (const [decides, names] of Object.entries(forbidden) as [FieldEffect, readonly (keyof typeof KEYS)[]][]) {
    for (const [name, who] of Object.entries(KEYS)) {
      const isForbidden = names.includes(name as keyof typeof KEYS);
      t.equal(refused(who, { f: { decides } }, { f: 'x' }), isForbidden ? 'f' : undefined, `${decides}, ${name}`);
      const isTranslated = decides === 'address' || decides === 'price';
      const asked = caught(() => assertMayAsk(who, { f: { decides } }, { f: 'x' }, 'at.'));
      t.equal(asked, isForbidden && isTranslated ? 'at.f' : undefined, `${decides}, ${name}, translated`);
    }
  }
  t.equal(
    caught(() => assertMayAsk(KEYS.usd, { f: { decides: 'address' } }, ['f'])),
    undefined,
    'no object',
  );
});

t.test('a field that is null, missing or harmless decides nothing', async (t) => {
  const fields: RequestFields = { f: { decides: 'spends', except: [false, 'auto'] }, own: 'answer' };
  for (const value of [null, false, 'auto', ['auto'], ['auto', false], []]) t.equal(refused(KEYS.tokens, fields, { f: value, own: 'x' }), undefined);
  for (const value of [true, 'x', ['auto', 'x'], {}, 0]) t.equal(refused(KEYS.tokens, fields, { f: value }), 'f', JSON.stringify(value));
});

t.test('of a list of tools each type counts, wherever it is hidden', async (t) => {
  const types = ['function', 'bash_*', 'namespace'];
  const find = (tools: unknown) => refused(KEYS.tokens, { tools: { decides: 'spends', types } }, { tools });
  for (const tools of [[], null, [{ type: 'function' }, { type: 'bash_20250124' }, { name: 'no type' }, { type: null }]]) t.equal(find(tools), undefined);
  t.equal(find([{ type: 'function', parameters: { properties: { tools: { type: 'web_search' } } } }]), undefined, 'a schema is no tool');
  t.equal(find([{ type: 'function' }, { type: 'web_search' }]), 'tools[1]');
  t.equal(find([{ type: 'namespace', tools: [{ type: 'function' }, { type: 'image' }] }]), 'tools[0].tools[1]');
  t.equal(find([{ type: 'function', definition: { Type: 'image' } }]), 'tools[0].definition');
  t.equal(find([{ type: 'function', TYPE: 'image' }]), 'tools[0]');
  for (const type of [1, ['function'], {}]) t.equal(find([{ type }]), 'tools[0]');
  for (const tools of ['web_search', 1]) t.equal(find(tools), 'tools');
  t.equal(find({ type: 'image' }), 'tools');
  for (const tools of [{ a: { type: 'image' } }, { type: 'function' }, {}]) t.equal(find(tools), 'tools', 'an object is no list');
  t.equal(find([{ type: 'namespace', tools: { a: { type: 'image' } } }]), 'tools[0].tools');
  t.match(find(JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`)), /^tools\[0\]/, 'what nests too deep is not looked for');
});

t.test('a tool that holds an object in a member that nobody knows may run by that member, whatever its type is', async (t) => {
  const fields: RequestFields = { tools: { decides: 'spends', types: ['function'], parts: ['function', 'parameters'] } };
  const find = (tools: unknown) => refused(KEYS.tokens, fields, { tools });
  const own = { type: 'function', function: { name: 'f', googleSearch: {} }, Parameters: {}, strict: true, callers: ['x'], unknown: null };
  t.equal(find([own, { name: 'f', parameters: {} }]), undefined);
  t.equal(find([{ googleSearch: {} }]), 'tools[0].googleSearch');
  t.equal(find([own, { ...own, google_search: {} }]), 'tools[1].google_search');
  t.equal(find([{ tools: [{ systemTool: { name: 'grounding' } }] }]), 'tools[0].tools[0].systemTool');
});

t.test('tools in messages count as well, and the input of a call does not', async (t) => {
  const fields: RequestFields = { messages: { decides: 'spends', types: ['function', 'addition'], within: ['tool', 'changes'] } };
  const find = (messages: unknown) => refused(KEYS.list, fields, { messages });
  t.equal(find('hi'), undefined);
  t.equal(find([{ content: 'hi' }, { content: [{ type: 'image' }, { type: 'use', input: { tool: { type: 'x' } } }] }]), undefined);
  t.equal(find([{ tool: { type: 'function' }, content: [{ content: [{ tool: [{ type: 'function' }] }] }] }]), undefined);
  t.equal(find([{ content: [{ content: [{ Tool: { type: 'x' } }] }] }]), 'messages[0].content[0].content[0].Tool');
  t.equal(find([{ changes: [{ type: 'addition', tool: { type: 'function', definition: { type: 'x' } } }] }]), 'messages[0].changes[0].tool.definition');
  t.equal(find([{ tool: 'x' }]), 'messages[0].tool');
  t.equal(find([{ content: [{ tool: { a: { type: 'x' } } }] }]), undefined, 'one tool without a type');
  t.equal(find([{ changes: { a: { type: 'x' } } }]), 'messages[0].changes');
  let deep: unknown = 'x';
  for (let level = 0; level < 1000; level += 1) deep = { content: [deep] };
  t.match(find([deep]), /^messages\[0\]\.content/);
});

t.test('of a field with members that decide, the others are free', async (t) => {
  const fields: RequestFields = {
    r: { decides: 'price', members: ['mode'], except: ['standard'] },
    c: { decides: 'spends', members: ['edits'], types: ['clear_*'] },
    v: { decides: 'spends', members: ['search', 'scrape'], except: ['off'] },
  };
  for (const body of [{ r: { effort: 'high' } }, { r: { mode: 'standard' } }, { r: 'x' }, { r: {} }, { c: { edits: [{ type: 'clear_1' }] } }, { c: {} }])
    t.equal(refused(KEYS.usd, fields, body), undefined, JSON.stringify(body));
  t.equal(refused(KEYS.usd, fields, { r: { mode: 'pro' } }), 'r.mode');
  t.equal(refused(KEYS.usd, fields, { r: { Mode: 'pro' } }), 'r.Mode');
  t.equal(refused(KEYS.usd, fields, { v: { other: 'x', search: 'off', scrape: true } }), 'v.scrape');
  t.equal(refused(KEYS.usd, fields, { c: { edits: [{ type: 'clear_1' }, { type: 'compact' }] } }), 'c.edits[1]');
});

t.test('with a list of models, a field that nobody knows holds no text', async (t) => {
  for (const value of [1, true, null, '', [], {}, [[{ a: 1 }]]]) t.equal(refused(KEYS.list, {}, { f: value }), undefined);
  for (const value of ['x', ['x'], { a: { b: ['x'] } }]) t.equal(refused(KEYS.list, {}, { f: value }), 'f');
  for (const who of Object.values(KEYS)) t.match(refused(who, {}, `{"f":${'['.repeat(5000)}${']'.repeat(5000)}}`), /^f\[0\]/);
  t.equal(refused(KEYS.list, {}, { constructor: 'x' }), 'constructor');
  t.equal(refused(KEYS.usd, {}, { f: 'x', __proto__: 1, constructor: 'x' }), undefined);
});

t.test('an entry can stand for all names that begin alike', async (t) => {
  const fields: RequestFields = { 'aws_*': { decides: 'address' }, aws_free: 'answer' };
  for (const name of ['aws_role', 'AWS_Role', 'awsRole']) t.equal(refused(KEYS.free, fields, { [name]: 'x' }), name);
  for (const name of ['aws', 'aws_', 'aws_free', 'my_aws_role', '_', '*']) t.equal(refused(KEYS.free, fields, { [name]: 'x' }), undefined, name);
});

t.test('bytes that pass mean the same to every parser', async (t) => {
  const fields: RequestFields = { model: 'answer', service: { decides: 'price' }, ask: { decides: 'spends' } };
  for (const [body, path] of [
    ['{"model":"a","model":"b"}', 'model'],
    ['{"model":"a","mod\\u0065l":"a"}', 'model'],
    ['{"x":[{"type":1,"type":1}]}', 'type'],
    ['{"Model":"a"}', 'Model'],
    ['{"MODEL":"a","model":"b"}', 'MODEL'],
    ['{"\u017fervice":"a"}', '\u017fervice'],
    ['{"as\u212a":"a"}', 'as\u212a'],
  ] as const)
    for (const who of Object.values(KEYS)) t.equal(refused(who, fields, body), path, body);
});

t.test('no parameter of the URL passes but versions', async (t) => {
  for (const search of ['', '?', '?beta=true', '?api-version=1&beta=1', '?beta=a,b-2025.01:x']) t.equal(refused(KEYS.free, {}, {}, search), undefined, search);
  for (const search of [
    '?key=x',
    '?beta=1&model=x',
    '?%6bey=x',
    '?Beta=1',
    '?x',
    '?beta=1;api_base=http://evil',
    '?beta=1%26key=x',
    '?beta=a/b',
    '?beta=1&beta=a%20b',
  ])
    t.match(refused(KEYS.free, {}, {}, search), /^The query parameter /, search);
});

t.test('no model is an address', async (t) => {
  for (const who of Object.values(KEYS)) {
    t.equal(refused(who, { model: 'answer' }, { model: 'huggingface/https://evil.example' }), 'model');
    t.equal(
      caught(() => assertMayAsk(who, {}, { model: 'x/http://evil.example' })),
      'model',
    );
  }
  for (const model of ['arn:aws:bedrock:us-east-1:1:inference-profile/x', 'hf.co/a/b:Q4', 'a//b'])
    t.equal(refused(KEYS.free, { model: 'answer' }, { model }), undefined);
});

t.test('no key with limits buys a search or tools by the suffix of a model, or asks several models in one', async (t) => {
  const suffixes = [
    'openai/x:online',
    'x:ONLINE',
    'x:online:nitro',
    'x:free:online',
    'x:online ',
    'x:online@preset/a',
    'x@preset/a',
    '@PRESET/a',
    'x:online/b',
  ];
  for (const model of [...suffixes, 'cheap,dear', 'openai/cheap, dear', ',']) {
    for (const [name, who] of Object.entries(KEYS)) {
      const expected = name === 'free' || name === 'timed' ? undefined : 'model';
      t.equal(refused(who, { model: 'answer' }, { model }), expected, `${name}: ${model}`);
      t.equal(
        caught(() => assertMayAsk(who, {}, { model })),
        expected,
      );
    }
  }
  for (const model of ['online', 'x:onlineish', 'x-online', 'x:nitro', 'online:7b', 'x:online-7b', 'x@presets', 'claude-opus-4@20250514', 'preset/x'])
    t.equal(refused(key({ tokensPerDay: 1, models: ['*'] }), { model: 'answer' }, { model }), undefined, model);
});

t.test('what holds further requests decides what their fields decide, however deep they are', async (t) => {
  const fields: RequestFields = {
    more: { decides: 'models', holdsRequests: true },
    metadata: 'answer',
    plugins: { decides: 'spends' },
    stored: { decides: 'unseen' },
    tier: { decides: 'price', except: ['auto'] },
    tools: { decides: 'spends', types: ['function'] },
  };
  const find = (who: NamedKey, more: unknown) => refused(who, fields, { more });
  const own = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { plugins: {}, stored: { type: 'string' } } } } };
  for (const more of ['x', null, {}, { thinking: { level: 'high' } }, { tier: 'auto' }, { tools: [own] }, { plugins: null }])
    t.equal(find(KEYS.tokens, more), undefined);
  t.equal(find(KEYS.tokens, { plugins: [{ id: 'web' }] }), 'more.plugins');
  t.equal(find(KEYS.tokens, { google: { Stored: 'x' } }), 'more.google.Stored');
  t.equal(find(KEYS.tokens, { gateway: { tools: [own, { type: 'web_search' }] } }), 'more.gateway.tools[1]');
  t.equal(find(KEYS.tokens, [{ a: [{ plugins: 'x' }] }]), 'more[0].a[0].plugins');
  t.equal(find(KEYS.tokens, { tier: 'fast' }), undefined);
  t.equal(find(KEYS.free, { plugins: [{ id: 'web' }] }), undefined);
  t.equal(refused(KEYS.tokens, fields, { metadata: { more: { plugins: ['x'] } } }), 'metadata.more.plugins');
  t.match(refused(KEYS.tokens, fields, `{"more":${'{"a":'.repeat(5000)}{"plugins":1}${'}'.repeat(5000)}}`), /^more\.a\.a/);
  for (const model of ['x:online', 'x,dear', 'x/http://evil.example']) t.equal(find(KEYS.tokens, { model }), 'more.model');
  for (const name of ['stream', 'Stream_Options', 'n', 'max_tokens', 'max_completion_tokens', 'max_output_tokens']) {
    t.equal(find(KEYS.tokens, { a: { [name]: 9 } }), `more.a.${name}`);
    for (const [who, value] of [
      [KEYS.tokens, null],
      [KEYS.free, 9],
    ] as const)
      t.equal(find(who, { [name]: value }), undefined);
  }
  t.equal(find(KEYS.tokens, { model: 'x' }), undefined);
});

t.test('among labels, lists and objects decide what the fields of these names decide', async (t) => {
  const fields: RequestFields = { metadata: 'answer', tags: { decides: 'models' }, fallbacks: { decides: 'spends' }, api_base: { decides: 'address' } };
  const find = (who: NamedKey, metadata: unknown) => refused(who, fields, { metadata });
  for (const metadata of ['x', null, { tags: 'home', fallbacks: 'no', user: 'x' }, { tags: null }, { other: { a: ['x'] } }])
    t.equal(find(KEYS.list, metadata), undefined);
  t.equal(find(KEYS.list, { fallbacks: ['dear'] }), 'metadata.fallbacks');
  t.equal(find(KEYS.usd, { Tags: ['dear'] }), 'metadata.Tags');
  t.equal(find(KEYS.free, { fallbacks: ['dear'] }), undefined);
  t.equal(find(KEYS.free, { api_base: 'x' }), 'metadata.api_base');
});

t.test('the table of settings has all of them', async (t) => {
  t.same(Object.keys(CONFIG_FIELDS).sort(), Object.keys(ChatConfig.properties).sort());
});
