import t from 'tap';
import { CLIENT_EXAMPLES } from '../../../../transports/http/openapi/examples-clients.ts';
import { startServer } from '../../../support/server.ts';
import { type Answerer, sendJson } from '../../../support/upstream.ts';

const {
  ChangeKey,
  CreateKey,
  KeyChanged,
  KeyCreated,
  KeyGroupList,
  KeyGroupRemoved,
  KeyGroupSet,
  SetKeyGroup,
  KeyList,
  KeyRevoked,
  SetAlias,
  ModelResolved,
  DefaultProviderSet,
} = CLIENT_EXAMPLES;

t.test('real answers about keys have the fields of the examples', async (t) => {
  const answer: Answerer = (_request, res) => sendJson(res, { models: [{ name: 'gpt-oss:120b-cloud' }] }); // one that is passed on, so that its price is not known
  const server = await startServer(t, { answer });
  const created = await server.call('POST', '/api/keys', { body: CreateKey.value });
  t.strictSame(Object.keys(created.json), Object.keys(KeyCreated.value));
  const [key] = (await server.call('GET', '/api/keys')).json['keys'] as object[];
  t.strictSame(Object.keys(key ?? {}).sort(), Object.keys(KeyList.value.keys[0]).sort());
  t.strictSame(Object.keys((await server.call('PATCH', '/api/keys/web-app', { body: ChangeKey.value })).json), Object.keys(KeyChanged.value));
  t.strictSame((await server.call('DELETE', '/api/keys/web-app')).json, KeyRevoked.value);
});

t.test('real answers about groups of keys have the fields of the examples', async (t) => {
  const server = await startServer(t);
  const set = await server.call('PUT', '/api/key-groups/team', { body: SetKeyGroup.value });
  const keysOf = (value: unknown) => Object.keys(value ?? {}).sort();
  t.strictSame(keysOf(set.json['group']), keysOf(KeyGroupSet.value.group));
  const [group] = (await server.call('GET', '/api/key-groups')).json['groups'] as object[];
  t.strictSame(keysOf(group), keysOf(KeyGroupList.value.groups[0]));
  t.strictSame((await server.call('DELETE', '/api/key-groups/team')).json, KeyGroupRemoved.value);
});

t.test('real answers about model names are those of the examples', async (t) => {
  const server = await startServer(t);
  const targets = SetAlias.value.targets.map((target) => target.replace('google', 'ollama'));
  t.match(await server.call('PUT', '/api/models/gpt-4o-mini', { body: { targets } }), { status: 200 });
  t.strictSame(Object.keys((await server.call('GET', '/api/models/gpt-4o-mini')).json), Object.keys(ModelResolved.value));
  t.strictSame((await server.call('PUT', '/api/models', { body: { defaultProvider: 'ollama' } })).json, DefaultProviderSet.value);
});
