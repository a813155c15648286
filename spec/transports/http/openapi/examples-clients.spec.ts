import t from 'tap';
import { CLIENT_EXAMPLES } from '../../../../transports/http/openapi/examples-clients.ts';
import { startServer } from '../../../support/server.ts';

const { CreateKey, KeyCreated, KeyList, KeyRevoked, SetAlias, ModelResolved, DefaultProviderSet } = CLIENT_EXAMPLES;

t.test('real answers about keys have the fields of the examples', async (t) => {
  const server = await startServer(t);
  const created = await server.call('POST', '/api/keys', { body: CreateKey.value });
  t.strictSame(Object.keys(created.json), Object.keys(KeyCreated.value));
  const [key] = (await server.call('GET', '/api/keys')).json['keys'] as object[];
  t.strictSame(Object.keys(key ?? {}).sort(), Object.keys(KeyList.value.keys[0]).sort());
  t.strictSame((await server.call('DELETE', '/api/keys/web-app')).json, KeyRevoked.value);
});

t.test('real answers about model names are those of the examples', async (t) => {
  const server = await startServer(t);
  const targets = SetAlias.value.targets.map((target) => target.replace('google', 'ollama'));
  t.match(await server.call('PUT', '/api/models/gpt-4o-mini', { body: { targets } }), { status: 200 });
  t.strictSame(Object.keys((await server.call('GET', '/api/models/gpt-4o-mini')).json), Object.keys(ModelResolved.value));
  t.strictSame((await server.call('PUT', '/api/models', { body: { defaultProvider: 'ollama' } })).json, DefaultProviderSet.value);
});
