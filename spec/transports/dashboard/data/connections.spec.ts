import t from 'tap';
import {
  type Connection,
  type ConnectionKey,
  changeOf,
  entryOf,
  faultsOf,
  keyChangeOf,
  keyOf,
  namedOnly,
  type Preset,
  termsOf,
} from '../../../../transports/dashboard/data/connections.ts';
import { modelNames } from '../../../../transports/dashboard/data/models.ts';
import { keyFromText } from '../../../../transports/dashboard/text/gateway.ts';
import { atWorkText, connectionText, keyModelsText, keyStateText, presetKeyText, shareText } from '../../../../transports/dashboard/text/connections.ts';

const KEY: ConnectionKey = {
  label: 'a',
  source: 'auth.json',
  state: 'ready',
  until: null,
  models: [],
  weight: 1,
  maxInFlight: null,
  inFlight: 0,
  calls: 0,
  cachedShare: null,
};
const GROQ: Preset = {
  name: 'groq',
  adapter: 'openai',
  baseURL: 'https://api.groq.com/openai/v1',
  baseURLForm: null,
  variable: 'GROQ_API_KEY',
  isSet: false,
  isLocal: false,
  prices: 'groq',
  source: '',
};

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

t.test(
  "a service is stored with as little as it needs, a server of one's own with its protocol and address, and without a key as one that needs none",
  async (t) => {
    const typed = { name: 'groq', preset: 'groq', adapter: 'openai', baseURL: '' };
    t.same(entryOf(typed, ''), {}, 'its variable has the key');
    t.same(entryOf({ ...typed, name: 'groq-eu' }, 'sk'), { preset: 'groq', apiKey: 'sk' });
    const own = { name: 'gpu', preset: '', adapter: 'openai', baseURL: 'http://10.0.0.7:8000/v1' };
    t.same(entryOf(own, ''), { adapter: 'openai', baseURL: own.baseURL, auth: 'none' });
    t.same(entryOf(own, 'sk'), { adapter: 'openai', baseURL: own.baseURL, apiKey: 'sk' });
  },
);

t.test('a name of another form, a name that is taken and a missing address are known before anything is sent', async (t) => {
  const typed = { name: 'gpu', preset: '', adapter: 'openai', baseURL: 'http://10.0.0.7:8000/v1' };
  const taken = new Set(['openai', 'groq']);
  t.same(faultsOf(typed, undefined, taken), {});
  for (const name of ['', 'GPU', '1gpu', 'a b', 'block', 'x'.repeat(33)]) t.same(faultsOf({ ...typed, name }, undefined, taken), { name: 'form' }, name);
  t.same(faultsOf({ ...typed, name: 'openai', baseURL: '' }, undefined, taken), { name: 'taken', baseURL: 'missing' });
  t.same(faultsOf({ ...typed, preset: 'groq', baseURL: '' }, GROQ, taken), {}, 'a service has its address');
  t.same(faultsOf({ ...typed, preset: 'azure', baseURL: '' }, { ...GROQ, baseURL: null }, taken), { baseURL: 'missing' });
});

t.test('only what was changed is sent, and a typed key takes the place of every key that there was', async (t) => {
  const before = connection();
  t.equal(changeOf(before, 'http://10.0.0.7:8000/v1', ''), undefined);
  t.same(changeOf(before, 'http://10.0.0.8:8000/v1', ''), { baseURL: 'http://10.0.0.8:8000/v1' }, 'the server says that it needs the key again');
  t.same(changeOf(before, '', 'sk'), { apiKey: 'sk', apiKeyEnv: null, keys: null, auth: null });
});

t.test('terms of a key that are empty are those of the server, and go back to them', async (t) => {
  t.same(keyOf('sk', { label: '', weight: '', inFlight: '' }), { apiKey: 'sk' });
  t.same(keyOf('sk', { label: 'b', weight: '2', inFlight: '4' }), { apiKey: 'sk', label: 'b', weight: 2, inFlight: 4 });
  t.same(keyChangeOf(KEY, { label: 'a', weight: '', inFlight: '3' }), { weight: null, inFlight: 3 });
  t.same(keyChangeOf(KEY, { label: 'main', weight: '2', inFlight: '' }), { label: 'main', weight: 2, inFlight: null });
  const unnamed = { ...KEY, label: '…abcd', weight: 3 };
  t.same(termsOf(unnamed), { label: '', weight: '3', inFlight: '' });
  t.same(keyChangeOf(unnamed, termsOf(unnamed)), { weight: 3, inFlight: null }, 'what is not touched stays');
});

t.test('a key says whether it is used, until when it is not and for which models; a state of a later server keeps its name', async (t) => {
  const until = '2026-11-27T10:05:00.000Z';
  const text = (fields: object): string => keyStateText({ ...KEY, ...fields } as ConnectionKey);
  t.equal(text({}), 'Ready');
  t.match(text({ state: 'cooling', until }), /^Pauses until \d\d:05$/);
  t.match(text({ state: 'refused', until }), /^Refused, tried again at \d\d:05$/);
  t.match(text({ state: 'empty', until: null }), /^No quota left$/);
  t.equal(text({ state: 'unset', source: 'GPU_B' }), 'GPU_B is not set');
  t.equal(text({ state: 'elsewhere' }), 'Not sent to this address');
  t.equal(text({ state: 'resting' }), 'resting');
  t.equal(keyModelsText({ ...KEY, models: ['m'] }), 'for m');
  t.equal(keyModelsText({ ...KEY, models: ['m', 'n', 'o'] }), 'for m and 2 other models');
});

t.test('what is not known is no zero: the share of cached tokens before the first call', async (t) => {
  t.equal(shareText(null), '–');
  t.equal(shareText(0), '0 %');
  t.equal(shareText(0.754), '75 %');
  t.equal(atWorkText({ ...KEY, inFlight: 2 }), '2');
  t.equal(atWorkText({ ...KEY, inFlight: 2, maxInFlight: 4 }), '2 of 4');
});

t.test('where a key is stands in a few words, and of several how many are not used now', async (t) => {
  t.equal(keyFromText(undefined, undefined), '–');
  t.equal(keyFromText(connection({ keys: [] }), undefined), '–');
  t.equal(keyFromText(connection(), undefined), 'auth.json');
  t.equal(keyFromText(connection(), { adapter: 'openai', configured: true, source: 'env', variable: 'OPENAI_API_KEY', hint: 'abcd' }), 'OPENAI_API_KEY …abcd');
  t.equal(keyFromText(connection({ keys: [KEY, { ...KEY, state: 'unset' }] }), undefined), '2 keys, 1 not used now');
});

t.test(
  'models are offered with their provider or connection, or bare for one of them; an alias is no model of the provider that answers it first',
  async (t) => {
    const models = [
      { id: 'coder', adapter: 'gpu' },
      { id: 'openai/gpt-4o', adapter: 'openai' },
      { id: 'gpu/prod', adapter: 'gpu' },
      { id: 'gpu/a/b', adapter: 'gpu' },
    ];
    t.same(modelNames(models), ['openai/gpt-4o', 'gpu/prod', 'gpu/a/b']);
    t.same(modelNames(models, 'gpu'), ['prod', 'a/b']);
    t.same(modelNames(models, 'gp'), []);
  },
);

t.test('before a key is typed, it is said whether one is needed', async (t) => {
  t.match(presetKeyText({ ...GROQ, isSet: true }), /^Leave it empty to use GROQ_API_KEY/);
  t.match(presetKeyText(GROQ), /^Needed, because GROQ_API_KEY is not set/);
  t.match(presetKeyText({ ...GROQ, variable: null, isLocal: true }), /^Leave it empty/);
});
