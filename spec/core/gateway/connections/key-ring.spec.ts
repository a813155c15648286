// Which key a call gets, by counts over thousands of calls.
import t from 'tap';
import { createBus } from '../../../../core/bus.ts';
import { BlockhouseError } from '../../../../core/errors.ts';
import { entryKeys, type UsableKey } from '../../../../core/gateway/connections/entry-keys.ts';
import { KeyLine } from '../../../../core/gateway/connections/key-line.ts';
import { KeyRing } from '../../../../core/gateway/connections/key-ring.ts';
import { KeyRings } from '../../../../core/gateway/connections/key-rings.ts';
import { KeyTurns } from '../../../../core/gateway/connections/key-turns.ts';

const key = (label: string, more: Partial<UsableKey> = {}): UsableKey => ({
  label,
  value: `value of ${label}`,
  variable: undefined,
  weight: 1,
  inFlight: Number.POSITIVE_INFINITY,
  ...more,
});
const call = (id: string | undefined, client = 'token', model = 'm') => ({ client, model, conversation: () => id });
const limited = (retryAfterMs = 5000) => new BlockhouseError('UPSTREAM_RATE_LIMITED', 'slow down', { retryAfterMs });

/** Numbers from 0 to 1, the same in each run. */
function seeded(seed = 7): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function ringOf(keys: readonly UsableKey[], clock = { ms: 0 }) {
  const ring = new KeyRing('gpu', () => clock.ms, { cooled: () => undefined, recovered: () => undefined });
  ring.use(keys);
  return { ring, clock };
}

t.test('thousands of conversations have one key each, and the keys have as many as their weights say', (t) => {
  const { ring } = ringOf([key('a', { weight: 3 }), key('b'), key('c', { weight: 2 }), key('d')]);
  const random = seeded();
  const keys = new Map<string, string>();
  const underWay: { readonly state: ReturnType<typeof ring.take>; readonly tokens: number }[] = [];
  let strays = 0;
  for (let each = 0; each < 20_000; each += 1) {
    const id = `conversation ${Math.floor(random() * 4000)}`;
    const state = ring.take(call(id), undefined);
    const label = state?.label ?? '';
    if ((keys.get(id) ?? label) !== label) strays += 1;
    keys.set(id, label);
    underWay.push({ state, tokens: Math.floor(random() * 2000) });
    while (underWay.length > 20) {
      const [ended] = underWay.splice(Math.floor(random() * underWay.length), 1);
      if (ended?.state === undefined) continue;
      ended.state.count(ended.tokens, 10, 0, 0);
      ring.release(ended.state, 'token');
    }
  }
  t.equal(strays, 0);
  const counts = ['a', 'b', 'c', 'd'].map((label) => [...keys.values()].filter((used) => used === label).length / keys.size);
  for (const [index, share] of [3 / 7, 1 / 7, 2 / 7, 1 / 7].entries()) t.ok(Math.abs((counts[index] ?? 0) - share) < 0.05, `${counts[index]} of ${share}`);
  t.end();
});

t.test('servers that know nothing agree on the key of a conversation, and half of them differ from those of another client', (t) => {
  const keys = [key('a'), key('b')];
  const first = (id: string, client = 'token') => ringOf(keys).ring.take(call(id, client), undefined)?.label;
  const ids = Array.from({ length: 2000 }, (_, index) => `session ${index}`);
  t.same(
    ids.map((id) => first(id)),
    ids.map((id) => first(id)),
  );
  const ofA = ids.filter((id) => first(id) === 'a').length;
  t.ok(ofA > 900 && ofA < 1100, `${ofA} of 2000`);
  const others = ids.filter((id) => first(id) !== first(id, 'key app')).length;
  t.ok(others > 900 && others < 1100, `${others} of 2000`);
  t.end();
});

t.test('a key has no more calls at a time than it may; a call that finds all busy waits until one ends, or leaves', async (t) => {
  const { ring } = ringOf([key('a', { inFlight: 1 }), key('b', { inFlight: 2 })]);
  const taken = [1, 2, 3].map((id) => ring.take(call(`${id}`), undefined));
  t.same(taken.map((state) => state?.label).sort(), ['a', 'b', 'b']);
  t.equal(ring.take(call('4'), undefined), undefined);
  const leaver = new AbortController();
  const left = ring.freed(call('4'), undefined, leaver.signal);
  leaver.abort();
  await left;
  const freed = ring.freed(call('4'), undefined, new AbortController().signal);
  const [first] = taken;
  if (first !== undefined) ring.release(first, 'token');
  const kept = await freed;
  t.equal(kept?.label, first?.label);
  t.equal(ring.take(call('5'), undefined), undefined, 'it is kept for the one that has waited');
  t.equal(ring.take(call('4'), undefined, kept)?.label, first?.label);
  t.end();
});

const forever = new AbortController().signal;

t.test('callers take turns at a key that becomes free; one that leaves, or gives up what was kept for it, has had no turn', async (t) => {
  const { ring } = ringOf([key('a', { inFlight: 1 }), key('b', { inFlight: 1 })]);
  const held = ['1', '2'].map((id) => ring.take(call(id, 'greedy'), undefined));
  const order: string[] = [];
  const leaver = new AbortController();
  const wait = async (client: string, signal = forever): Promise<void> => {
    const kept = await ring.freed(call(undefined, client), undefined, signal);
    order.push(client);
    if (kept === undefined) return;
    if (client !== 'gives up') ring.take(call(undefined, client), undefined, kept);
    ring.release(kept, client);
  };
  const waits = [wait('greedy'), wait('greedy'), wait('greedy'), wait('leaver', leaver.signal), wait('gives up'), wait('polite'), wait('greedy')];
  leaver.abort();
  const [first] = held;
  if (first !== undefined) ring.release(first, 'greedy');
  await Promise.all(waits);
  t.same(order, ['leaver', 'gives up', 'polite', 'greedy', 'greedy', 'greedy', 'greedy'], 'who has the fewest comes first');
  t.same(ring.states.map(({ inFlight }) => inFlight).sort(), [0, 1]);
  t.equal(ring.clients, 1);
});

t.test('clients who have no key and do not wait are not in memory', (t) => {
  const line = new KeyLine<undefined>();
  const waiter = (client: string) => ({ client, call: undefined, tried: undefined, go: () => undefined });
  const [one, two, other] = [waiter('one'), waiter('one'), waiter('other')];
  for (const each of [one, two, other]) line.add(each);
  line.take('other');
  t.same(line.inTurn(), [one, two, other]);
  line.remove(one, true);
  line.leave('other');
  t.same(line.inTurn(), [other, two], 'the turn of the other one was longer ago');
  line.remove(other, false);
  line.remove(two, true);
  t.ok(line.isEmpty);
  t.equal(line.clients, 0);
  t.end();
});

t.test('a call that waits has the key whose pause ends, whatever the others do, and fails when none is left for it', async (t) => {
  const { ring, clock } = ringOf([key('a', { inFlight: 1 }), key('b', { inFlight: 1 })]);
  const [a, b] = ring.states;
  if (a === undefined || b === undefined) throw new Error('no keys');
  ring.fail(a, 'm', 'cooling', limited(1000), 1);
  t.equal(ring.take(call('1', 'greedy'), undefined), b);
  t.equal(ring.take(call('2', 'polite'), undefined), undefined);
  const freed = ring.freed(call('2', 'polite'), undefined, forever);
  const refused = ring.freed(call('3', 'other'), new Set([a]), forever);
  clock.ms = 1001;
  const keepAlive = setInterval(() => undefined, 1000);
  t.equal(await freed, a);
  clearInterval(keepAlive);
  t.equal(ring.take(call('2', 'polite'), undefined, a), a);
  ring.fail(b, 'm', 'cooling', limited(1000), 1002);
  ring.release(b, 'greedy');
  t.equal(await refused, undefined);
  t.throws(() => ring.take(call('3', 'other'), new Set([a])), { code: 'UPSTREAM_RATE_LIMITED' });
});

t.test('an edit keeps the conversations and the pauses of the keys that stay, and tries a refused one again', (t) => {
  const { ring, clock } = ringOf([key('a'), key('b'), key('c')]);
  const homes = Array.from({ length: 30 }, (_, id) => ring.take(call(`${id}`), undefined)?.label);
  const [a, b] = ring.states;
  clock.ms = 1;
  if (a !== undefined) ring.fail(a, 'm', 'refused', new BlockhouseError('UPSTREAM_AUTH', 'no', { upstreamStatus: 401 }), 1);
  if (b !== undefined) ring.fail(b, 'm', 'cooling', limited(), 1);
  ring.use([key('a'), key('b'), key('d')]);
  t.same(
    ring.states.map((state) => state.shown(2).fault),
    [undefined, 'cooling', undefined],
  );
  clock.ms = 10_000;
  for (const [id, home] of homes.entries()) if (home !== 'c') t.equal(ring.take(call(`${id}`), undefined)?.label, home);
  t.equal(ring.conversations, homes.filter((home) => home !== 'c').length);
  t.end();
});

t.test('a call is made with each key once, also when the pause of one is over meanwhile', (t) => {
  const clock = { ms: 0 };
  const bus = createBus();
  const facts: unknown[] = [];
  bus.on('*', (name, fact) => facts.push([name, fact]));
  const rings = new KeyRings({ bus, now: () => clock.ms });
  t.equal(rings.of('gpu', [key('a')]), undefined);
  const ring = rings.of('gpu', [key('a'), key('b')]);
  if (ring === undefined) throw new Error('no ring');
  t.equal(rings.of('gpu', [key('a'), key('b')]), ring, 'the same until the keys change, and then, too');
  t.equal(rings.of('gpu', [key('a'), key('b'), key('c')]), ring);
  const keys = { ring, settingsOf: () => ({ values: {}, sources: {} }) };
  const turns = new KeyTurns(call('one'), () => clock.ms);
  const labels: (string | undefined)[] = [];
  for (let each = 0; each < 3; each += 1) {
    clock.ms += 10_000;
    labels.push(turns.take(keys)?.label);
    const next = turns.failed(limited(1000));
    if (each < 2) t.equal(next, 'another');
    else t.match(next, { code: 'UPSTREAM_RATE_LIMITED' });
    turns.giveBack();
  }
  t.same([...labels].sort(), ['a', 'b', 'c']);
  clock.ms += 10_000;
  t.throws(() => turns.take(keys), { code: 'UPSTREAM_RATE_LIMITED', retryAfterMs: 1000, message: /No key of gpu \(a, b, c\)/ });
  t.same(
    ring.states.map(({ inFlight }) => inFlight),
    [0, 0, 0],
  );
  t.match(facts[0], ['credential.cooled', { connection: 'gpu', credential: labels[0], model: 'm', state: 'cooling', untilMs: 1000 }]);
  t.notMatch(JSON.stringify(facts), /value of/);
  t.end();
});

t.test('keys without a label have the end of a long key, or their number', (t) => {
  const keys = [
    { apiKey: 'a-long-key-that-ends-in-1234' },
    { apiKey: 'another-one-that-ends-in-1234' },
    { apiKey: 'short' },
    { label: 'own', apiKeyEnv: 'SET' },
  ];
  const entry = { settings: {}, fields: { keys: [...keys, { apiKeyEnv: 'UNSET' }, { apiKeyEnv: 'SAME' }] } };
  const found = entryKeys(entry, { SET: ' of-a-variable ', SAME: 'short' });
  t.same(
    found.map(({ label, value }) => [label, value]),
    [
      ['…1234', 'a-long-key-that-ends-in-1234'],
      ['#2', 'another-one-that-ends-in-1234'],
      ['#3', 'short'],
      ['own', 'of-a-variable'],
    ],
  );
  t.end();
});

t.test('what the calls of one client bring about keeps that client from the keys, and all others when a second one has failed', (t) => {
  for (const [fault, extras] of [
    ['empty', { upstreamStatus: 402, retryable: false }],
    ['cooling', { upstreamStatus: 429 }],
    ['refused', { upstreamStatus: 401 }],
    ['refused', { upstreamStatus: 403 }],
  ] as const) {
    const { ring, clock } = ringOf([key('a'), key('b')]);
    const failsOf = (client: string): void => {
      for (const state of ring.states) {
        clock.ms += 1;
        ring.fail(state, 'm', fault, new BlockhouseError('UPSTREAM_REJECTED', `words for ${client}`, extras), clock.ms, client);
      }
    };
    const takes = (client: string) => () => ring.take(call(undefined, client), undefined)?.label;
    failsOf('key greedy');
    t.throws(takes('key greedy'), { code: /^UPSTREAM_/ }, fault);
    t.type(takes('key other')(), 'string', fault);
    t.type(takes('token')(), 'string', fault);
    failsOf('key other');
    for (const client of ['key greedy', 'key other', 'key third']) {
      const text = String(t.throws(takes(client), { code: /^UPSTREAM_/ }, `${fault} ${client}`));
      t.notMatch(text, /words for|\(a, b\)/, 'and no application reads what was said to another one, or which keys there are');
    }
    t.throws(takes('token'), { message: /\(a, b\).*words for key other/ }, 'the owner does');
  }
  const { ring } = ringOf([key('a')]);
  const turns = new KeyTurns(call(undefined, 'key one'), () => 1);
  turns.take({ ring, settingsOf: () => ({ values: {}, sources: {} }) });
  t.match(turns.failed(limited()), { message: /slow down/ }, 'its own answer it does read');
  t.end();
});
