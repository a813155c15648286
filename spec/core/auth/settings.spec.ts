import t from 'tap';
import { describeSettings, maskSecret, resolveSettings, type SettingsSpec, secretsOf } from '../../../core/auth/settings.ts';
import type { ChatConfig } from '../../../core/schemas/chat.ts';

const SPEC: SettingsSpec = {
  apiKey: { env: ['FIRST_KEY', 'SECOND_KEY'], secret: true },
  baseURL: { env: ['BASE_URL'], default: 'https://default.example', normalize: (value) => value.replace(/\/v1$/, '') },
  api: { storedOnly: true, oneOf: ['chat', 'responses'], default: 'responses' },
};
const PAIR: SettingsSpec = {
  region: { env: ['REGION'], default: 'us-east-1' },
  accessKeyId: { env: ['KEY_ID'], secret: true },
  secretAccessKey: { env: ['SECRET'], secret: true },
  sessionToken: { env: ['SESSION'], secret: true },
};

t.test('request, auth.json, environment in its order, default: the first that has it wins', async (t) => {
  const config: ChatConfig = { apiKey: 'from-request', baseURL: 'https://request.example' };
  const stored = { apiKey: 'from-file', baseURL: 'https://file.example' };
  const env = { FIRST_KEY: 'from-first', SECOND_KEY: 'from-second', BASE_URL: 'https://env.example' };
  const cases = [
    [{ config, stored, env }, 'from-request', 'request', 'https://request.example', 'request'],
    [{ stored, env }, 'from-file', 'auth.json', 'https://file.example', 'auth.json'],
    [{ env }, 'from-first', 'env:FIRST_KEY', 'https://env.example', 'env:BASE_URL'],
    [{ env: { SECOND_KEY: 'from-second' } }, 'from-second', 'env:SECOND_KEY', 'https://default.example', 'default'],
    [{ stored: { apiKey: '' }, env: { FIRST_KEY: ' ', SECOND_KEY: ' x ', BASE_URL: '' } }, 'x', 'env:SECOND_KEY', 'https://default.example', 'default'],
    [{ env: {} }, undefined, undefined, 'https://default.example', 'default'],
    [{ config: { baseURL: 'https://request.example' }, stored, env }, 'from-file', 'auth.json', 'https://request.example', 'request'],
  ] as const;
  for (const [from, key, keySource, base, baseSource] of cases) {
    const { values, sources } = resolveSettings(SPEC, from);
    t.same([values['apiKey'], sources['apiKey'], values['baseURL'], sources['baseURL']], [key, keySource, base, baseSource], JSON.stringify(from));
  }
});

t.test('a request that brings one secret gets none of the stored ones', async (t) => {
  const stored = { accessKeyId: 'AKIASTORED', secretAccessKey: 'stored', sessionToken: 'stored', region: 'eu-west-1' };
  const env = { KEY_ID: 'AKIAENV', SECRET: 'env', SESSION: 'env' };
  for (const config of [
    { accessKeyId: 'AKIAMINE' },
    { secretAccessKey: 'mine' },
    { sessionToken: 'mine' },
    { accessKeyId: 'AKIAMINE', secretAccessKey: 'mine' },
  ]) {
    const { values, sources } = resolveSettings(PAIR, { config, stored, env });
    t.same({ ...values }, { region: 'eu-west-1', ...config }, JSON.stringify(config));
    t.equal(sources['region'], 'auth.json', 'what is no secret still comes from there');
  }
});

t.test('a stored-only setting can not come with a request', async (t) => {
  const { values } = resolveSettings(SPEC, { config: { api: 'chat' } as ChatConfig, env: {} });
  t.equal(values['api'], 'responses');
  t.equal(resolveSettings(SPEC, { stored: { api: 'chat' }, env: {} }).values['api'], 'chat');
});

t.test("stored values are brought to our spelling, a request's own is left as it is", async (t) => {
  t.equal(resolveSettings(SPEC, { stored: { baseURL: 'https://x.example/v1' }, env: {} }).values['baseURL'], 'https://x.example');
  t.equal(resolveSettings(SPEC, { env: { BASE_URL: 'https://x.example/v1' } }).values['baseURL'], 'https://x.example');
  t.equal(resolveSettings(SPEC, { config: { baseURL: 'https://x.example/v1' }, env: {} }).values['baseURL'], 'https://x.example/v1');
});

t.test('a value that is none of those it takes is refused by name', async (t) => {
  t.throws(() => resolveSettings(SPEC, { stored: { api: 'grpc' }, env: {} }), {
    code: 'ADAPTER_NOT_CONFIGURED',
    message: 'api from auth.json must be one of chat, responses.',
  });
});

t.test('a stored key that could split a header is refused by its source, and is not shown', async (t) => {
  for (const bad of ['sk-a\r\nx-evil: 1', 'sk-a\nb', 'sk-a\0b', 'sk-ключ', 'sk-\u{1f511}', 'sk-a b', `sk-${'k'.repeat(5000)}`]) {
    for (const [from, source] of [
      [{ stored: { apiKey: bad }, env: {} }, 'auth.json'],
      [{ env: { FIRST_KEY: bad } }, 'env:FIRST_KEY'],
    ] as const) {
      t.throws(
        () => resolveSettings(SPEC, from),
        { code: 'ADAPTER_NOT_CONFIGURED', message: new RegExp(`^(?!.*sk-)apiKey from ${source} `) },
        JSON.stringify(bad.slice(0, 12)),
      );
    }
  }
});

t.test('names of Object.prototype are no settings', async (t) => {
  const spec: SettingsSpec = { apiKey: { env: ['toString', 'constructor'], secret: true } };
  t.same(
    {
      ...resolveSettings(spec, {
        config: JSON.parse('{"__proto__":{"apiKey":"x"}}') as ChatConfig,
        env: Object.create(null) as object as Record<string, string>,
      }).values,
    },
    {},
  );
});

t.test('the result can not be changed', async (t) => {
  const { values } = resolveSettings(SPEC, { env: {} });
  t.throws(() => {
    (values as Record<string, string>)['apiKey'] = 'x';
  }, TypeError);
});

t.test('people see where each value came from, and of a secret its last four characters at most', async (t) => {
  const settings = resolveSettings(SPEC, { stored: { apiKey: 'sk-0123456789-abcdef' }, env: { BASE_URL: 'https://env.example' } });
  t.same(describeSettings(SPEC, settings), {
    apiKey: { value: '••••cdef', source: 'auth.json' },
    baseURL: { value: 'https://env.example', source: 'env:BASE_URL' },
    api: { value: 'responses', source: 'default' },
  });
  for (const [secret, shown] of [
    ['', '••••'],
    ['short', '••••'],
    ['a'.repeat(19), '••••'],
    [`${'a'.repeat(16)}tail`, '••••tail'],
  ] as const)
    t.equal(maskSecret(secret), shown);
});

t.test('of an address people see no password and no parameters, since one may be a key', async (t) => {
  for (const [baseURL, shown] of [
    ['https://user:pa55@word@host.example/v1?key=secret#x', 'https://••••@host.example/v1?••••'],
    ['https://token@host.example', 'https://••••@host.example'],
    ['https://host.example/a@b', 'https://host.example/a@b'],
    ['user:secret@host.example/v1', '••••@host.example/v1'],
    ['host.example', 'host.example'],
    ['https://user:pa/ss@host.example/v1', '••••@host.example/v1'],
    ['https://user:pa#ss@host.example/v1', '••••@host.example/v1'],
    ['sk-a-key_in-the-wrong-field-tail', '••••tail'],
    ['myhost', 'myhost'],
  ] as const)
    t.equal(describeSettings(SPEC, { values: { baseURL }, sources: { baseURL: 'auth.json' } })['baseURL']?.value, shown);
});

t.test('the secrets in use are listed for redaction', async (t) => {
  t.same(secretsOf(PAIR, resolveSettings(PAIR, { config: { accessKeyId: 'a', secretAccessKey: 'b' }, env: { SESSION: 'c' } })), ['a', 'b']);
  t.same(secretsOf(SPEC, resolveSettings(SPEC, { env: {} })), []);
});
