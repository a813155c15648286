import t from 'tap';
import { type Connection, namedOnly } from '../../../../transports/dashboard/data/connections.ts';
import { connectionText } from '../../../../transports/dashboard/text/connections.ts';

const KEY = { label: 'a', source: 'auth.json', state: 'ready', until: null, models: [], inFlight: 0, calls: 0, cachedShare: null } as const;

function connection(fields: Partial<Connection> = {}): Connection {
  return {
    name: 'gpu',
    adapter: 'openai',
    preset: null,
    baseURL: 'http://10.0.0.7:8000/v1',
    ready: true,
    detail: null,
    isLocal: false,
    models: {},
    limits: { inFlight: 64, waiting: 256 },
    atWork: 0,
    waiting: 0,
    breaker: 'closed',
    cachedShare: null,
    keys: [KEY],
    ...fields,
  };
}

t.test('a connection is known by its name: also one whose entry is wrong, and none of the adapters', async (t) => {
  const list = [connection({ name: 'openai' }), connection({ name: 'gpu' }), connection({ name: 'wrong', adapter: 'wrong' })];
  t.same(
    namedOnly(list, [{ id: 'openai' }, { id: 'ollama' }]).map(({ name }) => name),
    ['gpu', 'wrong'],
  );
});

t.test('a row says where a connection is and where its key is, or in the words of the server what is missing', async (t) => {
  t.equal(connectionText(connection()), 'Ready at 10.0.0.7:8000/v1, with the key in auth.json.');
  t.equal(connectionText(connection({ keys: [] })), 'Ready at 10.0.0.7:8000/v1, without a key.');
  t.equal(
    connectionText(connection({ keys: [KEY, { ...KEY, label: 'b', state: 'refused' }] })),
    'Ready at 10.0.0.7:8000/v1, with 2 keys, 1 of them not used now.',
  );
  t.equal(connectionText(connection({ ready: false, detail: 'gpu needs a key.' })), 'gpu needs a key.');
});
