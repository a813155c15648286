import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAdapters } from '../../../../adapters/index.ts';
import { CredentialStore } from '../../../../core/auth/credentials.ts';
import { endpointOf } from '../../../../core/auth/endpoint.ts';
import { parseEntry } from '../../../../core/auth/entry.ts';
import { PresetFile } from '../../../../core/auth/preset-file.ts';
import { createBus } from '../../../../core/bus.ts';
import { assertChange } from '../../../../core/gateway/connections/connection-changes.ts';
import { Connections } from '../../../../core/gateway/connections/connections.ts';
import { entryKeys, variablesIn, withKey } from '../../../../core/gateway/connections/entry-keys.ts';
import { offeredIds, ServedModels } from '../../../../core/gateway/connections/served-models.ts';
import { BlockhouseError } from '../../../../core/errors.ts';
import type { Adapter, AdapterCall } from '../../../../core/ports.ts';

const SPEC = { apiKey: { env: ['USUAL_KEY'], secret: true }, baseURL: { default: 'https://a.example' } } as const;
const CALL = { settings: { values: {}, sources: {} } } as unknown as AdapterCall;

function connectionsIn(t: Test, entries: object, names: readonly string[] = []) {
  const workspace = t.testdir({ 'auth.json': JSON.stringify(entries) });
  const clock = { ms: 0 };
  const credentials = new CredentialStore(workspace, createBus(), () => clock.ms);
  const adapters = createAdapters();
  t.teardown(() => Promise.all(adapters.map((adapter) => adapter.close())));
  const presets = adapters.flatMap(({ id, presets: all = {} }) => Object.entries(all).map(([name, preset]) => [name, { ...preset, adapter: id }] as const));
  const connections = new Connections({ adapters, credentials, presets: new PresetFile(workspace, presets, () => clock.ms), names });
  const write = (content: object) => {
    writeFileSync(join(workspace, 'auth.json'), JSON.stringify(content));
    clock.ms += 1000;
  };
  return { connections, write, adapters };
}

t.test('one-look-up: a connection is the same object until a file changes', async (t) => {
  const { connections, write } = connectionsIn(t, { groq: {}, nowhere: { apiKey: 'x' }, openai: {}, gemini: {}, bad: { preset: 'x' } }, ['mistral', 'unknown']);
  const groq = connections.get('groq');
  t.match(groq, { id: 'groq', displayName: 'groq', connection: { protocol: 'openai', preset: { variable: 'GROQ_API_KEY' } } });
  t.equal(connections.get('groq'), groq);
  t.same(connections.names(), ['bad', 'groq', 'mistral', 'unknown']);
  for (const name of ['nowhere', 'openai', 'gemini', 'deepseek', 'GROQ', '']) t.same([connections.has(name), connections.get(name)], [false, undefined], name);
  for (const name of ['bad', 'unknown']) t.throws(() => connections.get(name), { code: 'ADAPTER_NOT_CONFIGURED' }, name);
  write({ groq: { baseURL: 'https://b.example' } });
  t.not(connections.get('groq'), groq);
  t.same(connections.names(), ['groq', 'mistral', 'unknown']);
});

t.test('every preset makes a connection, and one with an address needs nothing but its key', async (t) => {
  const { adapters } = connectionsIn(t, {});
  const all = adapters.flatMap(({ presets = {} }) => Object.entries(presets));
  const { connections } = connectionsIn(
    t,
    {},
    all.map(([name]) => name),
  );
  for (const [name, { variable, isLocal, baseURL, source }] of all) {
    const made = connections.get(name);
    const missing = made?.missingCredential({ values: { baseURL: made.settings['baseURL']?.default }, sources: {} });
    t.match(
      missing,
      isLocal
        ? undefined
        : baseURL === undefined
          ? /needs an address: .* such as https:\/\/<resource>/
          : new RegExp(`${name} needs a key: set ${variable}, or ${name}\\.apiKey`),
      name,
    );
    t.same(made?.settings['apiKey']?.env, variable === undefined ? undefined : [variable], name);
    t.match(source, /^[DIRK]: /, name);
  }
});

t.test('of several keys, the first that can be used counts, and a variable that is named takes the place of the usual one', async (t) => {
  const several = parseEntry('a', { keys: [{ apiKeyEnv: 'GONE' }, { label: 'b', apiKeyEnv: 'THERE' }, { apiKey: 'stored-key-0123456789' }] });
  const keys = entryKeys(several, { THERE: ' value ' });
  t.match(keys, [
    { label: 'b', value: 'value', variable: 'THERE' },
    { label: '…6789', value: 'stored-key-0123456789', variable: undefined },
  ]);
  t.equal(keys.length, 2);
  t.same(variablesIn(several), ['GONE', 'THERE']);
  t.same(withKey(SPEC, several, keys), { spec: { ...SPEC, apiKey: { env: ['THERE'], secret: true } }, stored: {} });
  t.same(withKey(SPEC, several, keys.slice(1)).stored, { apiKey: 'stored-key-0123456789' });
  t.same(withKey(SPEC, parseEntry('a', { apiKeyEnv: 'OWN' }), []).spec.apiKey, { env: ['OWN'], secret: true });
  t.same(withKey(SPEC, parseEntry('a', { keyCommand: ['x'] }), [], 'printed'), { spec: { ...SPEC, apiKey: { secret: true } }, stored: { apiKey: 'printed' } });
  t.same(withKey(SPEC, undefined, []), { spec: SPEC, stored: undefined });
});

t.test('a server is asked for its list once in ten minutes, and one that fails soon again', async (t) => {
  let now = 0;
  let asked = 0;
  let fails = false;
  const adapter = {
    listServed: async () => {
      asked += 1;
      if (fails) throw new Error('defect');
      return [{ id: 'a', contextWindow: 5 }, { id: 'b' }];
    },
  } as unknown as Adapter;
  const served = new ServedModels(() => now);
  const ready = async () => undefined;
  t.equal(served.windowOf(adapter, 'a'), undefined);
  const [one, two] = await Promise.all([served.of(adapter, ready, () => CALL), served.of(adapter, ready, () => CALL)]);
  t.same([asked, one, one === two], [1, [{ id: 'a', contextWindow: 5 }, { id: 'b' }], true]);
  t.equal(served.windowOf(adapter, 'a'), 5);
  now = 599_999;
  await served.of(adapter, ready, () => CALL);
  t.equal(asked, 1);
  now = 600_000;
  fails = true;
  await t.rejects(
    served.of(adapter, ready, () => CALL),
    { message: 'defect' },
  );
  const keyless = { ...adapter };
  const noKey = async () => Promise.reject(new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'The keyCommand of x failed.'));
  t.same(await served.of(keyless, noKey, () => CALL), [], 'a connection without its key hides no list of others');
  const endpoint = endpointOf('x', true, { models: { own: {}, 'p*': {} }, offer: ['a', 'o*'] });
  t.same(offeredIds(endpoint, one), ['a', 'own']);
  t.same(offeredIds(undefined, one), ['a', 'b']);
});

t.test('a change that moves nothing needs no secret again', async (t) => {
  const { adapters } = connectionsIn(t, {});
  const [base] = adapters.filter(({ id }) => id === 'openai');
  const built = (entry: object) => ({ entry: parseEntry('a', entry), base: base as Adapter, preset: undefined });
  const before = built({ adapter: 'openai', baseURL: 'https://a.example/v1', apiKey: 'x' });
  t.doesNotThrow(() =>
    assertChange('a', { baseURL: 'https://a.example/v1/' }, before, built({ adapter: 'openai', baseURL: 'https://a.example/v1/', apiKey: 'x' })),
  );
  t.throws(() => assertChange('a', { baseURL: 'https://a.example/v2' }, before, built({ adapter: 'openai', baseURL: 'https://a.example/v2', apiKey: 'x' })), {
    code: 'INVALID_REQUEST',
    message: /^apiKey of a is needed again/,
  });
});
