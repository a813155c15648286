import t from 'tap';
import { createAdapters } from '../../../../adapters/index.ts';
import { parseEntry } from '../../../../core/auth/entry.ts';
import { addressFields, addressIn, homeOf } from '../../../../core/gateway/connections/built-entry.ts';

const built = (protocol: string, entry: Record<string, unknown>, preset?: { readonly baseURL?: string; readonly source: string }) => {
  const base = createAdapters().find(({ id }) => id === protocol);
  if (base === undefined) throw new Error(protocol);
  t.teardown(() => base.close());
  return { entry: parseEntry('x', entry), base, preset };
};

t.test('an entry leads elsewhere if any of its addresses does, also by its path, and not by a slash at its end', async (t) => {
  t.same(addressFields(built('bedrock', {})), ['endpoint', 'controlEndpoint']);
  t.same(addressFields(built('openai', {})), ['baseURL']);
  const home = (protocol: string, entry: Record<string, unknown> = {}) => homeOf(built(protocol, entry));
  for (const field of ['endpoint', 'controlEndpoint']) t.not(home('bedrock', { [field]: 'https://other.example' }), home('bedrock'), field);
  t.not(home('openai', { baseURL: 'https://host.example/a' }), home('openai', { baseURL: 'https://host.example/b' }));
  t.not(home('openai', { baseURL: 'https://host.example/a' }), home('anthropic', { baseURL: 'https://host.example/a' }));
  t.equal(home('openai', { baseURL: 'https://host.example/a/' }), home('openai', { baseURL: 'https://HOST.example:443/a' }));
});

t.test('the address of the entry comes first, then that of its preset, then that of its adapter', async (t) => {
  const preset = { baseURL: 'https://preset.example/v1', source: '' };
  t.equal(addressIn(built('openai', { baseURL: 'https://own.example' }, preset), 'baseURL'), 'https://own.example');
  t.equal(addressIn(built('openai', {}, preset), 'baseURL'), 'https://preset.example/v1');
  t.equal(addressIn(built('openai', {}), 'baseURL'), 'https://api.openai.com/v1');
  t.equal(addressIn(built('bedrock', {}), 'endpoint'), undefined);
});
