import { Ajv } from 'ajv';
import t from 'tap';
import { BlockhouseError } from '../../../core/errors.ts';
import { schemas } from '../../../core/index.ts';
import * as adapterSchemas from '../../../core/schemas/adapter.ts';
import * as chatSchemas from '../../../core/schemas/chat.ts';
import { compile, type Validator } from '../../../core/schemas/validate.ts';

const { VerifyRequest } = adapterSchemas;
const { ChatRequest } = chatSchemas;
type ChatRequest = chatSchemas.ChatRequest;
type VerifyRequest = adapterSchemas.VerifyRequest;

const check: Validator<ChatRequest> = compile(ChatRequest);
const user = { role: 'user', content: 'hi' };
const base = { adapter: 'a', model: 'm', messages: [user] };

function refusal(body: unknown): BlockhouseError | undefined {
  try {
    check(body);
    return undefined;
  } catch (error) {
    if (error instanceof BlockhouseError) return error;
    throw error;
  }
}

const call = { id: 'c1', name: 'f', arguments: {} };
const assistant = (toolCalls: unknown) => ({ ...base, messages: [{ role: 'assistant', toolCalls }] });
const tool = (toolResults: unknown) => ({ ...base, messages: [{ role: 'tool', toolResults }] });
const config = (fields: unknown) => ({ ...base, config: fields });
const tools = (...list: unknown[]) => ({ ...base, tools: list });

t.test('every kind of fault names its field and the cure', async (t) => {
  const cases: [string, unknown, string, RegExp][] = [
    ['null', null, '', /^The body must be an object, not null\.$/],
    ['an array', [], '', /^The body must be an object, not an array\.$/],
    ['a string', 'x', '', /must be an object, not a string/],
    ['a number', 1, '', /must be an object, not a number/],
    ['nothing', undefined, '', /must be an object, not an? undefined/],
    ['no adapter', { model: 'm', messages: [user] }, 'adapter', /^adapter is required\.$/],
    ['no model', { adapter: 'a', messages: [user] }, 'model', /is required/],
    ['no messages', { adapter: 'a', model: 'm' }, 'messages', /is required/],
    ['no message', { ...base, messages: [] }, 'messages', /must not be empty/],
    ['messages as object', { ...base, messages: {} }, 'messages', /must be an array, not an object/],
    ['a message as string', { ...base, messages: ['hi'] }, 'messages[0]', /must be an object, not a string/],
    ['no role', { ...base, messages: [user, { content: 'x' }] }, 'messages[1].role', /is required/],
    ['a foreign role', { ...base, messages: [{ role: 'developer', content: 'x' }] }, 'messages[0].role', /must be one of system, user, assistant, tool/],
    ['an unknown field of one alternative', { ...base, stream: { thoughts: true } }, 'stream.thoughts', /is not a known field|unknown/],
    ['content as number', { ...base, messages: [{ role: 'user', content: 5 }] }, 'messages[0].content', /must be/],
    ['a part of another type', { ...base, messages: [{ role: 'user', content: [{ type: 'video' }] }] }, 'messages[0].content[0].type', /must be one of/],
    ['content null', { ...base, messages: [{ role: 'user', content: null }] }, 'messages[0].content', /must be a string, not null/],
    ['an empty adapter', { ...base, adapter: '' }, 'adapter', /must not be empty/],
    ['a long adapter', { ...base, adapter: 'x'.repeat(65) }, 'adapter', /not have more than 64/],
    ['stream as string', { ...base, stream: 'true' }, 'stream', /must be a boolean, not a string/],
    ['an unknown field', { ...base, max_tokens: 5 }, 'max_tokens', /the fields here are adapter, model, messages, stream, config, tools/],
    ['an unknown config field', config({ max_tokens: 5 }), 'config.max_tokens', /the fields here are maxTokens, temperature/],
    ['an unknown message field', { ...base, messages: [{ ...user, name: 'x' }] }, 'messages[0].name', /the fields here are role, content/],
    ['maxTokens 0', config({ maxTokens: 0 }), 'config.maxTokens', />= 1/],
    ['maxTokens as string', config({ maxTokens: '12' }), 'config.maxTokens', /must be an integer, not a string/],
    ['maxTokens 1.5', config({ maxTokens: 1.5 }), 'config.maxTokens', /must be an integer, not a fractional/],
    ['maxTokens 1e999', config({ maxTokens: JSON.parse('1e999') }), 'config.maxTokens', /must be an integer, not a fractional or infinite/],
    ['maxTokens 2^53+1', config({ maxTokens: 2 ** 53 + 2 }), 'config.maxTokens', /<= 10000000/],
    ['maxTokens NaN', config({ maxTokens: Number.NaN }), 'config.maxTokens', /must be an integer/],
    ['temperature 1.1', config({ temperature: 1.1 }), 'config.temperature', /<= 1/],
    ['temperature -0.1', config({ temperature: -0.1 }), 'config.temperature', />= 0/],
    ['temperature 1e999', config({ temperature: JSON.parse('1e999') }), 'config.temperature', /must be a number/],
    ['temperature as string', config({ temperature: '0.5' }), 'config.temperature', /must be a number, not a string/],
    ['cacheControl 1', config({ cacheControl: 1 }), 'config.cacheControl', /must be a boolean, not a number/],
    ['config null', config(null), 'config', /must be an object, not null/],
    ['an empty model', { ...base, model: '' }, 'model', /^model must not be empty\.$/],
    ['a model with a space', { ...base, model: 'my model' }, 'model', /^model does not have the allowed form \(.*without spaces.*\)\.$/],
    ['a key with a line break', config({ apiKey: 'a\nb' }), 'config.apiKey', /\(.*printable ASCII without spaces\)\.$/],
    ['a region of a path', config({ region: '../x' }), 'config.region', /\(.*such as us-east-1\)\.$/],
    ['an empty baseURL', config({ baseURL: '' }), 'config.baseURL', /must not be empty/],
    ['toolCalls without id', assistant([{ name: 'f', arguments: {} }]), 'messages[0].toolCalls[0].id', /is required/],
    ['toolCalls with text arguments', assistant([{ ...call, arguments: '{}' }]), 'messages[0].toolCalls[0].arguments', /must be an object, not a string/],
    ['arguments as array', assistant([{ ...call, arguments: [] }]), 'messages[0].toolCalls[0].arguments', /must be an object, not an array/],
    ['a call with a bad name', assistant([call, { ...call, name: 'a b' }]), 'messages[0].toolCalls[1].name', /\(At most 64 letters, digits, _ and -/],
    ['257 calls', assistant(Array.from({ length: 257 }, () => call)), 'messages[0].toolCalls', /not have more than 256/],
    ['no result', tool([]), 'messages[0].toolResults', /must not be empty/],
    ['a result without id', tool([{ content: 'x' }]), 'messages[0].toolResults[0].toolCallId', /is required/],
    ['a result with an object', tool([{ toolCallId: 'c', content: {} }]), 'messages[0].toolResults[0].content', /must be a string, not an object/],
    ['isError as text', tool([{ toolCallId: 'c', content: '', isError: 'no' }]), 'messages[0].toolResults[0].isError', /must be a boolean/],
    ['tools as object', { ...base, tools: {} }, 'tools', /must be an array/],
    ['1025 tools', tools(...Array.from({ length: 1025 }, (_, n) => ({ name: `t${n}` }))), 'tools', /not have more than 1024/],
  ];
  for (const [name, body, path, text] of cases) {
    const error = refusal(body);
    t.match(error, { code: 'INVALID_REQUEST', status: 400, message: text, details: [{ path }] }, name);
  }
});

t.test('both forms of a tool are taken, and a fault is reported in the form that was meant', async (t) => {
  t.equal(refusal(tools({ type: 'function', name: 'f', strict: true }, { type: 'function', function: { name: 'g', strict: false } })), undefined);
  t.equal(refusal(tools({ name: 'f' }, { type: 'function', function: { name: 'g', description: 'd', parameters: { type: 'object' } } })), undefined);
  const cases: [unknown, string][] = [
    [{}, 'tools[0].name'],
    [{ name: 5 }, 'tools[0].name'],
    [{ name: 'a b' }, 'tools[0].name'],
    [{ name: 'f', description: 5 }, 'tools[0].description'],
    [{ name: 'f', parameters: 'x' }, 'tools[0].parameters'],
    [{ name: 'f', input_schema: {} }, 'tools[0].input_schema'],
    [{ type: 'function', function: {} }, 'tools[0].function.name'],
    [{ type: 'function', function: { name: 'a b' } }, 'tools[0].function.name'],
    [{ type: 'function', function: { name: 'f', strict: 'yes' } }, 'tools[0].function.strict'],
    [{ type: 'function', function: { name: 'f' }, extra: 1 }, 'tools[0].extra'],
    [{ type: 'web_search', function: { name: 'f' } }, 'tools[0].type'],
  ];
  for (const [form, path] of cases) t.match(refusal(tools(form)), { details: [{ path }] }, JSON.stringify(form));
});

t.test('__proto__ and constructor keys are refused or inert wherever they stand', async (t) => {
  for (const key of ['__proto__', 'constructor', 'prototype', 'toString']) {
    const bad = `"${key}":{"polluted":1}`;
    const refused = [
      `{"adapter":"a","model":"m","messages":[{"role":"user","content":"x"}],${bad}}`,
      `{"adapter":"a","model":"m","messages":[{"role":"user","content":"x"}],"config":{${bad}}}`,
      `{"adapter":"a","model":"m","messages":[{"role":"user","content":"x",${bad}}]}`,
      `{"adapter":"a","model":"m","messages":[{"role":"assistant","toolCalls":[{"id":"1","name":"f","arguments":{},${bad}}]}]}`,
      `{"adapter":"a","model":"m","messages":[{"role":"tool","toolResults":[{"toolCallId":"1","content":"",${bad}}]}]}`,
      `{"adapter":"a","model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"name":"f",${bad}}]}`,
    ];
    for (const text of refused) t.match(refusal(JSON.parse(text)), { code: 'INVALID_REQUEST', message: new RegExp(`${key} is not a known field`) }, text);
    for (const field of ['parameters', 'providerMetadata']) {
      const text =
        field === 'parameters'
          ? `{"adapter":"a","model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","parameters":{${bad}}}]}`
          : `{"adapter":"a","model":"m","messages":[{"role":"user","content":"x","providerMetadata":{${bad}}}]}`;
      t.equal(refusal(JSON.parse(text)), undefined, `free-form JSON keeps it: ${text}`);
    }
  }
  t.equal(({} as Record<string, unknown>)['polluted'], undefined);
});

t.test('a required field is not found on the prototype', async (t) => {
  t.match(refusal(JSON.parse('{"__proto__":{"adapter":"a","model":"m","messages":[]}}')), { code: 'INVALID_REQUEST' });
});

t.test('minus zero is a number like zero', async (t) => {
  t.equal(refusal(config({ temperature: -0 })), undefined);
});

t.test('a key that could split a header is refused without being shown', async (t) => {
  for (const field of ['apiKey', 'accessKeyId', 'secretAccessKey', 'sessionToken']) {
    for (const value of ['sk-a\r\nx: y', 'sk-a\0', 'sk-\u{1f511}', 'sk-a b', '', 's'.repeat(4097)]) {
      const error = refusal(config({ [field]: value }));
      t.match(error, { code: 'INVALID_REQUEST', details: [{ path: `config.${field}` }] }, `${field} ${JSON.stringify(value.slice(0, 12))}`);
      t.notMatch(error?.message, 'sk-');
    }
  }
});

t.test('a model id that leaves its path segment is refused', async (t) => {
  for (const model of ['', '../x', 'a/../b', 'a/..', '.', '..', 'a b', 'a\n', 'é', 'x'.repeat(2049)])
    t.match(refusal({ ...base, model }), { details: [{ path: 'model' }] }, JSON.stringify(model.slice(0, 12)));
  for (const model of ['gpt-5', 'org/model:free', 'us.anthropic.claude-v1:0', 'a..b', 'arn:aws:bedrock:us-east-1:1:x/y', '__proto__', 'constructor'])
    t.equal(refusal({ ...base, model }), undefined, model);
});

t.test('a long foreign key is shown cut off, and nothing is guessed from it', async (t) => {
  for (const part of ['k', '_a', '7', '/', '~']) {
    const key = part.repeat(10_000);
    const error = refusal({ ...base, [key]: 1 });
    t.match(error, { code: 'INVALID_REQUEST', details: [{ path: `${key.slice(0, 64)}…` }] }, part);
    t.ok((error?.message.length ?? 0) < 300, part);
  }
  const [meant, tooLong] = ['a'.repeat(62), 'a'.repeat(63)];
  const checkLong: Validator<unknown> = compile({ type: 'object', additionalProperties: false, properties: { [`${meant}B`]: {}, [`${tooLong}B`]: {} } });
  t.throws(() => checkLong({ [`${meant}_b`]: 1 }), { message: `did you mean ${meant}B?` }, 'of 64 characters');
  t.throws(() => checkLong({ [`${tooLong}_b`]: 1 }), { message: /^((?!did you mean).)*$/ }, 'of 65 characters');
});

t.test('a region has few and short parts, whatever is sent', async (t) => {
  for (const region of [
    'us-east-1',
    'us-gov-west-1',
    'us-isob-east-1',
    'eusc-de-east-1',
    'ap-southeast-12',
    `${'a'.repeat(8)}${`-${'b'.repeat(16)}`.repeat(3)}-12`,
  ])
    t.equal(refusal(config({ region })), undefined, region);
  const bad = [
    'us-1',
    'us-east',
    'us--1',
    'us-east-123',
    `us-${'b'.repeat(17)}-1`,
    'us-a-b-c-d-1',
    `aa${'-a'.repeat(4_750_000)}`,
    `aa${'-a'.repeat(4_750_000)}-1`,
  ];
  for (const region of bad) t.match(refusal(config({ region })), { code: 'INVALID_REQUEST', details: [{ path: 'config.region' }] }, region.slice(0, 24));
});

t.test('keys with slashes and tildes come back as they were', async (t) => {
  t.match(refusal({ ...base, 'a/b~c': 1 }), { details: [{ path: 'a/b~c' }] });
});

t.test('huge bodies get their answer quickly', async (t) => {
  const many = <T>(length: number, make: (n: number) => T) => Array.from({ length }, (_, n) => make(n));
  const bodies: [string, unknown][] = [
    ['100,001 messages', { ...base, messages: many(100_001, () => user) }],
    ['100,000 messages, the last one bad', { ...base, messages: [...many(99_999, () => user), { role: 'x' }] }],
    ['100,000 tools', { ...base, tools: many(100_000, () => ({})) }],
    ['1,000 tools, the last one bad', { ...base, tools: [...many(999, (n) => ({ name: `t${n}` })), {}] }],
    ['200,000 unknown keys', { ...base, ...Object.fromEntries(many(200_000, (n) => [`k${n}`, n])) }],
  ];
  for (const [name, body] of bodies) {
    const startedAt = performance.now();
    t.match(refusal(body), { code: 'INVALID_REQUEST' }, name);
    // A generous bound: these take some milliseconds, and a check that grows with the square would take minutes.
    t.ok(performance.now() - startedAt < 3000, `${name} is quick`);
  }
});

t.test('the pattern of a schema is not run on text beyond its length', async (t) => {
  const startedAt = performance.now();
  t.match(refusal({ ...base, model: `${'a/'.repeat(2_000_000)}..` }), { details: [{ path: 'model' }] });
  t.match(refusal(config({ region: `us${'-a'.repeat(2_000_000)}!` })), { details: [{ path: 'config.region' }] });
  t.ok(performance.now() - startedAt < 3000);
});

t.test('each schema has a check of its own', async (t) => {
  const verify: Validator<VerifyRequest> = compile(VerifyRequest);
  t.doesNotThrow(() => verify({}));
  t.doesNotThrow(() => verify({ provider: 'x', config: { region: 'eu-central-1' } }));
  t.throws(() => verify({ adapter: 'x' }), { code: 'INVALID_REQUEST', details: [{ path: 'adapter' }] });
});

t.test('a known word in the wrong place, or in snake case, is answered with the right one', async (t) => {
  const request = { adapter: 'a', model: 'm', messages: [{ role: 'user', content: 'x' }] };
  const cases: [object, string][] = [
    [{ temperature: 1 }, 'config.temperature'],
    [{ max_tokens: 1 }, 'config.maxTokens'],
    [{ config: { max_tokens: 1 } }, 'maxTokens'],
    [{ apiKey: 'k' }, 'config.apiKey'],
  ];
  for (const [extra, meant] of cases) t.match(refusal({ ...request, ...extra }), { message: `did you mean ${meant}?` });
  t.notMatch(refusal({ ...request, nonsense: 1 }), { message: 'did you mean' });
});

t.test('every schema is valid and compiles; the server itself checks none when it starts, because that takes time', (t) => {
  const judge = new Ajv({ strict: true, strictTypes: false, strictRequired: false });
  const all = Object.entries<unknown>({ ...schemas, ...schemas.frames }).filter(
    (entry): entry is [string, object] => typeof entry[1] === 'object' && entry[1] !== null && ('type' in entry[1] || 'anyOf' in entry[1]),
  );
  t.ok(all.length > 40, `${all.length} schemas`);
  for (const [name, schema] of all) {
    t.ok(judge.validateSchema(schema), name);
    t.doesNotThrow(() => compile(schema).prepare(), name);
  }
  t.notOk(judge.validateSchema({ type: 'text' }), 'the judge says no');
  t.end();
});

t.test('a text is as long as it has characters, whatever their units', async (t) => {
  const limited: Validator<unknown> = compile({ type: 'object', properties: { text: { type: 'string', minLength: 2, maxLength: 3 } } });
  const fits = (text: string): boolean => {
    try {
      limited({ text });
      return true;
    } catch {
      return false;
    }
  };
  const texts = ['', 'a', '😀', 'ab', 'a😀', '😀😀', 'abc', '😀😀😀', 'a\ud83d', 'abcd', '😀😀😀😀', 'ab\ud83d\udc00\ud83d', 'é'.repeat(4)];
  t.same(
    texts.map(fits),
    texts.map((text) => [...text].length >= 2 && [...text].length <= 3),
  );
  t.throws(() => limited({ text: 'abcd' }), { message: 'text must not have more than 3 characters.' });
});
