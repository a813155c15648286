import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isConnectionName } from '../../../core/auth/connection-name.ts';
import { endpointOf, isOffered } from '../../../core/auth/endpoint.ts';
import { parseEntry } from '../../../core/auth/entry.ts';
import { KeyCommands } from '../../../core/auth/key-command.ts';
import type { KnownPreset } from '../../../core/auth/preset.ts';
import { PresetFile } from '../../../core/auth/preset-file.ts';

const SECRET = 'sk-canary-0123456789';
const GROQ: KnownPreset = { adapter: 'openai', baseURL: 'https://groq.example/v1', variable: 'GROQ_API_KEY', quirks: { streamUsage: false }, source: 'test' };

t.test('an entry of strings is what it was; the settings of an adapter stand apart from what is said of the connection', async (t) => {
  const plain = { apiKey: SECRET, baseURL: 'http://a' };
  t.equal(parseEntry('openai', plain).settings, plain);
  const { settings, fields } = parseEntry('gpu', { ...plain, adapter: 'openai', limits: { inFlight: 2 } });
  t.same(settings, plain);
  t.match(fields, { adapter: 'openai', limits: { inFlight: 2 } });
});

t.test('a wrong entry is told by its field, never by a value', async (t) => {
  for (const [entry, message] of [
    [[SECRET], /^the entry gpu must be an object$/],
    [{ apiKey: 5 }, /^gpu\.apiKey must be a string, not a number$/],
    [{ apiKey: { key: SECRET } }, /^gpu\.apiKey must be a string, not an object$/],
    [{ keys: [] }, /^gpu\.keys must not be empty$/],
    [{ keys: [{ label: 'a' }] }, /^gpu\.keys\[0\] needs either apiKey or apiKeyEnv$/],
    [{ keys: [{ apiKey: SECRET, apiKeyEnv: 'A' }] }, /needs either/],
    [{ keys: [{ label: 'Ä', apiKey: SECRET }] }, /^gpu\.keys\[0\]\.label does not have the allowed form/],
    [{ keys: Array.from({ length: 2 }, () => ({ label: 'a', apiKey: SECRET })) }, /^gpu\.keys\[1\]\.label is used twice \(a\)$/],
    [{ keys: Array.from({ length: 33 }, () => ({ apiKey: SECRET })) }, /^gpu\.keys must not have more than 32 items$/],
    [{ apiKey: SECRET, apiKeyEnv: 'A' }, /^gpu\.apiKeyEnv can't stand beside apiKey; give the key in one way$/],
    [{ keyTtlSeconds: 5 }, /^gpu\.keyTtlSeconds needs a keyCommand$/],
    [{ keyCommand: SECRET }, /^gpu\.keyCommand must be an array, not a string$/],
    [{ headers: { cookie: SECRET } }, /^gpu\.headers\.cookie can't be set/],
    [{ headers: { 'x-a': `${SECRET}\n` } }, /^gpu\.headers\.x-a does not have the allowed form/],
    [{ headers: { 'x-a': 'a'.repeat(4000), 'x-b': 'b'.repeat(100) } }, /^gpu\.headers must not have more than 4096 bytes together$/],
    [{ keyHeader: 'host' }, /^gpu\.keyHeader can't be host/],
    [{ models: { 'a*b': {} } }, /one \*, at the end/],
    [{ models: { a: { price: -1 } } }, /^gpu\.models\.a\.price/],
    [{ models: { a: { price: { input: 1 } } } }, /^gpu\.models\.a\.price/],
    [{ models: { a: { price: { input: Number.NaN, output: 1 } } } }, /^gpu\.models\.a\.price\.input/],
    [{ quirks: { drop: ['nothing'] } }, /^gpu\.quirks\.drop\[0\] must be one of/],
    [{ quirks: { unknown: true } }, /^gpu\.quirks\.unknown is not a known field/],
  ] as const) {
    t.throws(() => parseEntry('gpu', entry), { message }, JSON.stringify(entry));
    t.throws(() => parseEntry('gpu', entry), { message: /^(?!.*canary)/ });
  }
});

t.test('a name is short, in lower case, and none of ours', async (t) => {
  for (const name of ['groq', 'groq-eu', 'a', `a${'b'.repeat(31)}`]) t.ok(isConnectionName(name), name);
  for (const name of ['', 'Groq', '1a', 'a_b', 'a/b', 'block', `a${'b'.repeat(32)}`, '__proto__']) t.notOk(isConnectionName(name), name);
});

t.test('facts of a model: field by field its own id, then the longest pattern; the entry wins over the preset', async (t) => {
  const priced = endpointOf('gpu', true, {
    models: { '*': { price: 0, images: false }, 'x*': { price: 'a/b' }, xy: { contextWindow: 3 }, z: { contextWindow: 4 } },
  });
  t.same(
    ['xy', 'z', 'other', 'xy'].map((model) => priced.factsOf(model)),
    [
      { price: 'a/b', images: false, contextWindow: 3 },
      { price: 0, images: false, contextWindow: 4 },
      { price: 0, images: false },
      { price: 'a/b', images: false, contextWindow: 3 },
    ],
  );
  const models = { 'qwen*': { contextWindow: 1 }, 'qwen3-*': { contextWindow: 2 }, 'qwen3-x': { contextWindow: 3 } };
  const endpoint = endpointOf('gpu', true, { models, quirks: { images: false }, headers: { 'X-A': 'b' } }, GROQ, [SECRET]);
  t.same(
    ['qwen2', 'qwen3-y', 'qwen3-x', 'other'].map((model) => endpoint.factsOf(model)?.contextWindow),
    [1, 2, 3, undefined],
  );
  t.same(endpoint.named, ['qwen3-x']);
  t.same(endpoint.quirks, { streamUsage: false, images: false });
  t.same(endpoint.headers, { 'x-a': 'b' });
  t.same(endpoint.secrets, ['b', SECRET]);
  t.same([isOffered(undefined, 'a'), isOffered(['a*', 'b'], 'ab'), isOffered(['a*', 'b'], 'bc')], [true, true, false]);
});

t.test('presets.json wins by field, holds no secret, and its last good content stays in use', async (t) => {
  const folder = t.testdir({
    'presets.json': JSON.stringify({ groq: { baseURL: 'https://own.example/v1', quirks: { images: false } }, acme: { adapter: 'anthropic' } }),
  });
  let now = 0;
  const file = new PresetFile(folder, [['groq', GROQ]], () => now);
  t.match(file.of('groq'), { adapter: 'openai', baseURL: 'https://own.example/v1', variable: 'GROQ_API_KEY', quirks: { streamUsage: false, images: false } });
  t.same(file.names(), ['acme', 'groq']);
  for (const wrong of ['{', '[]', '{"groq":{"apiKey":"x"}}', '{"groq":{"keyCommand":["x"]}}', '{"groq":{"headers":{"a":"b"}}}', '{"Groq":{}}']) {
    writeFileSync(join(folder, 'presets.json'), wrong);
    now += 1000;
    t.equal(file.of('acme')?.adapter, 'anthropic', wrong);
    t.throws(() => new PresetFile(folder, [['groq', GROQ]]).of('groq'), { code: 'ADAPTER_NOT_CONFIGURED', message: /presets\.json can't be used/ });
  }
  writeFileSync(join(folder, 'presets.json'), '{"acme":{}}');
  now += 1000;
  t.throws(() => file.of('acme'), { message: /acme\.adapter is missing/ });
  t.equal(new PresetFile(undefined, [['groq', GROQ]]).of('groq'), GROQ);
});

t.test('a program is run once for all who wait, again after its time, and its output is only a key', async (t) => {
  let now = 0;
  const commands = new KeyCommands(() => now);
  const entryFor = (code: string, more = {}) => parseEntry('gpu', { keyCommand: [process.execPath, '-e', code], ...more });
  const entry = entryFor("console.log('key-'+process.pid);console.log('rest')", { keyTtlSeconds: 5 });
  const [one, two] = [commands.ready('gpu', entry), commands.ready('gpu', entry)];
  t.equal(one, two);
  await one;
  const first = commands.known(entry);
  t.match(first, /^key-\d+$/);
  t.equal(commands.ready('gpu', entry), undefined);
  now = 5000;
  t.equal(commands.known(entry), undefined);
  await commands.ready('gpu', entry);
  t.not(commands.known(entry), first);
  const runs = async (): Promise<boolean> => {
    const run = commands.ready('gpu', entry);
    await run;
    return run !== undefined;
  };
  commands.refused(entry);
  t.equal(await runs(), true, 'again after a refusal');
  for (let refusals = 0; refusals < 3; refusals += 1) {
    commands.refused(entry);
    t.equal(await runs(), false, 'but not for each: one client may provoke them for all');
  }
  now += 10_000;
  commands.refused(entry);
  t.equal(await runs(), true);
  const failing = entryFor('process.exit(7)');
  const failure = await t.rejects(commands.ready('gpu', failing) ?? Promise.resolve());
  now += 999;
  t.equal(await t.rejects(commands.ready('gpu', failing) ?? Promise.resolve()), failure, 'and a failure holds for a second');
  now += 1;
  t.not(await t.rejects(commands.ready('gpu', failing) ?? Promise.resolve()), failure);
  for (const [code, message] of [
    ["console.log('a b')", /printed no key in its first line/],
    [`console.log('${SECRET}'.repeat(1000))`, /printed more than 16384 bytes/],
    [`console.error('${SECRET}');process.exit(7)`, /ended with the code 7/],
  ] as const)
    await t.rejects(commands.ready('gpu', entryFor(code)) ?? Promise.resolve(), { code: 'ADAPTER_NOT_CONFIGURED', message });
});
