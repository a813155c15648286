import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { BlockhouseError } from '../../../core/errors.ts';
import { PlaceLimit } from '../../../core/gateway/place-limit.ts';
import type { NamedKey } from '../../../core/keys/named-key.ts';
import type { CoreEvents } from '../../../core/bus.ts';
import type { Core } from '../../../core/runtime.ts';
import { PlaceLine } from '../../../core/workers/place-line.ts';
import { gate, HELLO, passingFault, type Step } from '../../support/stepped-adapter.ts';
import { until } from '../../support/until.ts';
import { startWorkers } from '../../support/workers.ts';

const REQUEST = { adapter: 'stepped', model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] } as const;
const APP = { key: 'app' } as const;
/** 1,000 tokens. */
const LONG: Step = async (call) => {
  call.sink.emit([
    { type: 'text', text: 'x' },
    { type: 'usage', usage: { inputTokens: 400, outputTokens: 600 } },
    { type: 'stop', stopReason: 'end_turn' },
  ]);
};
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: BlockhouseError) => error.code,
  );
const ledgerOf = (workspace: string): string[] => readFileSync(join(workspace, 'gateway-ledger.jsonl'), 'utf8').trim().split('\n');

t.test('the cap of a key holds over workers: of calls in turn, the last one passes it, whichever worker has it', async (t) => {
  const { workers, core } = await startWorkers(t, [LONG]);
  await workers[0].core.keys?.create('app', { tokensPerDay: 2500 });
  const codes: string[] = [];
  for (let call = 0; call < 6; call += 1) codes.push(await codeOf((workers[call % 2] ?? workers[0]).core.chat(REQUEST, APP)));
  t.same(codes, ['ok', 'ok', 'ok', 'KEY_CAP_REACHED', 'KEY_CAP_REACHED', 'KEY_CAP_REACHED']);
  for (const one of [core, workers[0].core, workers[1].core]) t.match(await one.accounts?.spentToday('app'), { tokens: 3000, calls: 3 });
});

t.test('a worker knows the server of the workspace: the process that holds it', async (t) => {
  const { workers, core } = await startWorkers(t, [LONG]);
  const [own] = await core.nodes();
  t.match(own, { self: true, alive: true, blocks: 0 });
  t.match(await workers[0].core.nodes(), [{ id: own?.id, startedAt: own?.startedAt }]);
});

t.test('calls under way of one worker leave as much less room for the other, and each is in the ledger once', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    await LONG(call);
  };
  const { workers, workspace, core } = await startWorkers(t, [wait]);
  await workers[0].core.keys?.create('app', { tokensPerDay: 2500 });
  const calls = Array.from({ length: 20 }, (_, index) => codeOf((workers[index % 2] ?? workers[0]).core.chat(REQUEST, APP)));
  await until('the first are sent', () => workers[0].adapter.calls.length + workers[1].adapter.calls.length >= 3);
  held.open();
  const codes = await Promise.all(calls);
  t.equal(codes.filter((code) => code === 'ok').length, 3, 'each is expected to have 1,000 tokens of output');
  t.match(await workers[1].core.accounts?.costs('key'), { total: { calls: 20, output: 1800 } }, 'refused ones have their lines, too');
  await core.close();
  t.equal(ledgerOf(workspace).length, 20);
});

t.test('a worker that dies leaves what its calls may have used, at once, and the files of its turns are free', async (t) => {
  const { workers, workspace, core } = await startWorkers(t, [() => new Promise(() => undefined)]);
  const [first, second] = workers;
  await first.core.keys?.create('app', { tokensPerDay: 5000 });
  void codeOf(first.core.chat(REQUEST, APP));
  await until('it is sent', () => first.adapter.calls.length === 1);
  t.match(await second.core.accounts?.spentToday('app'), { tokens: 0 }, 'it is under way');
  t.match(readFileSync(join(workspace, 'gateway-open.jsonl'), 'utf8'), /"key":"app"/, 'and in the journal');
  await first.kill();
  const { tokens = 0 } = (await second.core.accounts?.spentToday('app')) ?? {};
  t.ok(tokens >= 1000, `${tokens} tokens, as the journal has it`);
  t.match((await second.core.view.calls()).ended, [{ fact: { code: 'SHUTTING_DOWN', key: 'app' } }]);
  await second.core.keys?.create('other', {});
  await until('the primary sees it', () => core.keys?.list().length === 2);
  await core.close();
  t.equal(ledgerOf(workspace).length, 1);
  t.ok(!existsSync(join(workspace, 'gateway-open.jsonl')) || readFileSync(join(workspace, 'gateway-open.jsonl'), 'utf8') === '');
});

t.test('a worker that dies while it changes a file holds up no other', async (t) => {
  const { workers } = await startWorkers(t, [HELLO]);
  const [first, second] = workers;
  // Its turn has begun, and its end is never told.
  void first.core.keys?.create('one', {}).catch(() => undefined);
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await first.kill();
  await second.core.keys?.create('two', {});
  t.ok(second.core.keys?.list().some(({ name }) => name === 'two'));
});

t.test('of changes that workers make at once none is lost, and each sees those of the other at once', async (t) => {
  const { workers } = await startWorkers(t, [HELLO]);
  const [one, two] = workers.map(({ core }) => core) as [Core, Core];
  await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : two).keys?.create(`key-${index}`)));
  await Promise.all([one.modelsFile?.setAlias('a', ['stepped/x']), two.modelsFile?.setAlias('b', ['stepped/y'])]);
  t.same([one.keys?.list().length, two.keys?.list().length], [20, 20]);
  for (const core of [one, two]) t.equal(Object.keys(core.modelsFile?.document().aliases ?? {}).length, 2);
  const key = (await one.keys?.create('new')) ?? '';
  t.equal(two.keys?.find(key)?.name, 'new', 'known to the other before its maker has it');
  await one.keys?.revoke('new');
  t.equal(two.keys?.find(key), undefined, 'and refused by it once it is revoked');
});

t.test('a change does not wait long for a worker that does not answer', async (t) => {
  const { workers, primary } = await startWorkers(t, [HELLO]);
  t.teardown(primary.add({ send: () => undefined, onMessage: () => undefined }));
  const key = (await workers[0].core.keys?.create('new')) ?? '';
  t.equal(workers[1].core.keys?.find(key)?.name, 'new');
});

t.test('figures and calls are those of all workers, and a worker that does not answer is left out', async (t) => {
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    call.sink.emit(HELLO);
  };
  const { workers } = await startWorkers(t, [wait]);
  const calls = workers.map(({ core }) => core.chat(REQUEST));
  await until('both are sent', () => workers.every(({ adapter }) => adapter.calls.length === 1));
  t.match(await workers[0].core.view.figures('15m'), [{ id: 'stepped', load: { atWork: 2, limits: { concurrency: 128 } } }]);
  t.equal((await workers[1].core.view.calls()).live.length, 2);
  held.open();
  await Promise.all(calls);
  const { live, ended } = await workers[0].core.view.calls();
  t.match({ live: live.length, ended: ended.length }, { live: 0, ended: 2 });
  const [{ series } = { series: [] }] = await workers[1].core.view.figures('15m');
  t.equal(
    series.reduce((sum, { requests }) => sum + requests, 0),
    2,
  );
  await workers[1].kill();
  t.match(await workers[0].core.view.figures('15m'), [{ load: { limits: { concurrency: 64 } } }]);
});

t.test('lines of a log come to the primary, and events of all workers to each', async (t) => {
  const { workers, lines } = await startWorkers(t, [new Error('no')], { retries: 0 });
  workers[1].log(['one\n', 'two\n']);
  const seen: string[] = [];
  const stop = workers[0].core.recent.follow((event) => seen.push('name' in event ? event.name : 'missed'));
  for (let turn = 0; turn < 8; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  t.same(lines, ['one\n', 'two\n']);
  await codeOf(workers[1].core.chat(REQUEST));
  await until('its line in the ledger is told', () => seen.includes('call.counted'));
  t.same(seen, ['call.started', 'attempt.started', 'attempt.ended', 'call.finished', 'call.counted']);
  stop();
});

t.test('the limits by the minute of a key hold over workers, refused calls have no line, and each worker knows what is left', async (t) => {
  const clock = { ms: 0 };
  const { workers, core } = await startWorkers(t, [LONG], { now: () => clock.ms });
  const [one, two] = workers.map((worker) => worker.core) as [Core, Core];
  await one.keys?.create('app', { requestsPerMinute: 3 });
  await until('the key is seen', () => two.keys?.named('app') !== undefined);
  const codes: string[] = [];
  for (let call = 0; call < 8; call += 1) codes.push(await codeOf((call % 2 === 0 ? one : two).chat(REQUEST, APP)));
  t.same(codes, ['ok', 'ok', 'ok', ...Array<string>(5).fill('KEY_RATE_LIMITED')]);
  t.match(await one.accounts?.costs('key'), { total: { calls: 3 } });
  t.match(core.accounts?.rates(core.keys?.named('app') as NamedKey), { requests: { limit: 3, remaining: 0 } });
  clock.ms = 60_000;
  t.equal(await codeOf(two.chat(REQUEST, APP)), 'ok');
  t.match(two.accounts?.rates(two.keys?.named('app') as NamedKey), { requests: { limit: 3, remaining: 2 } });
  await one.models('stepped', APP);
  await until('the primary knows it', () => core.accounts?.rates(core.keys?.named('app') as NamedKey)?.requests?.remaining === 1);
});

t.test('tokens a minute are those of the group over workers, settled at the end of each call', async (t) => {
  const { workers, core } = await startWorkers(t, [LONG], { now: () => 0 });
  const [one, two] = workers.map((worker) => worker.core) as [Core, Core];
  await one.keys?.setGroup('team', { tokensPerMinute: 2500 });
  for (const key of ['a', 'b']) await one.keys?.create(key, { group: 'team' });
  await until('the keys are seen', () => two.keys?.named('b') !== undefined);
  t.equal(await codeOf(one.chat(REQUEST, { key: 'a' })), 'ok');
  t.equal(await codeOf(two.chat(REQUEST, { key: 'b' })), 'ok');
  t.equal(await codeOf(one.chat(REQUEST, { key: 'b' })), 'KEY_RATE_LIMITED');
  t.match(core.accounts?.rates(core.keys?.named('a') as NamedKey), { tokens: { remaining: 500 } }, 'each has used 1,000');
  t.match(await two.accounts?.spent('group', 'team'), { month: { tokens: 2000 } });
});

t.test('no more calls of a key run than it may over workers; those that wait are answered, also when others leave or their worker dies', async (t) => {
  let [running, most] = [0, 0];
  const slow: Step = async ({ sink, signal }) => {
    running += 1;
    let isOver = false;
    const end = (): void => {
      if (!isOver) running -= 1;
      isOver = true;
    };
    signal.addEventListener('abort', end);
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    end();
    sink.emit(HELLO);
  };
  const held = gate();
  const wait: Step = async (call) => {
    await held.opened;
    await slow(call);
  };
  const { workers } = await startWorkers(t, [wait], { queue: { concurrency: 64, waiting: 1000 } });
  const [one, two] = workers;
  await one.core.keys?.create('app', { inFlight: 2 });
  await until('the key is seen', () => two.core.keys?.named('app') !== undefined);
  const leaving = Array.from({ length: 60 }, () => new AbortController());
  const calls = leaving.map(({ signal }, index) => codeOf((index % 2 === 0 ? one : two).core.chat(REQUEST, { ...APP, signal })));
  await until('two are sent', () => one.adapter.calls.length + two.adapter.calls.length === 2);
  for (const [index, controller] of leaving.entries()) if (index % 3 === 2) controller.abort();
  held.open();
  const codes = await Promise.all(calls);
  t.same(
    codes.filter((code) => code !== 'CANCELLED'),
    Array<string>(40).fill('ok'),
  );
  t.equal(most, 2);
  for (let n = 0; n < 4; n += 1) void codeOf(one.core.chat(REQUEST, APP));
  await one.kill();
  t.equal(await codeOf(two.core.chat(REQUEST, APP)), 'ok', 'the places of a dead worker are free');
});

t.test('a call that waits for its next attempt leaves its place to other calls of its key, in its own worker and in others', async (t) => {
  const { workers } = await startWorkers(t, [passingFault('overloaded', 2000), HELLO]); // long enough for the other calls
  const [one, two] = workers;
  await one.core.keys?.create('app', { inFlight: 1 });
  await until('the key is seen', () => two.core.keys?.named('app') !== undefined);
  await codeOf(two.core.chat(REQUEST)); // its failure there
  const ends: string[] = [];
  const call = (worker: typeof one, name: string) => codeOf(worker.core.chat(REQUEST, APP)).then((code) => ends.push(`${name} ${code}`));
  const failed = call(one, 'repeated');
  await until('it waits', () => one.core.load('stepped').atWork === 0 && one.adapter.calls.length === 1);
  await Promise.all([call(one, 'beside it'), call(two, 'elsewhere'), failed]);
  t.same([ends.at(-1), [...ends].sort()], ['repeated ok', ['beside it ok', 'elsewhere ok', 'repeated ok']]);
});

t.test('calls of a key without limits count for its group', async (t) => {
  const { workers } = await startWorkers(t, [LONG]);
  const [one] = workers;
  await one.core.keys?.setGroup('team', {});
  await one.core.keys?.create('app', { group: 'team' });
  await one.core.chat(REQUEST, APP);
  t.match(await one.core.accounts?.spent('group', 'team'), { day: { tokens: 1000, calls: 1 } });
});

t.test('places are taken in turn as far as all limits have room, and given back once', async (t) => {
  const [key, group] = [new PlaceLimit(), new PlaceLimit()];
  key.allow(1);
  group.allow(2);
  const line = new PlaceLine();
  const [first, second, left, other] = [line.take([key, group]), line.take([key, group]), line.take([key, group]), line.take([group])];
  t.same([await first.taken, await other.taken, key.held, group.held], [true, true, 1, 2]);
  left.leave();
  t.equal(await left.taken, false);
  other.leave();
  t.equal(key.held, 1, 'the key has no room yet');
  first.leave();
  t.same([await second.taken, key.held, group.held], [true, 1, 1]);
  second.leave();
  t.same([key.held, group.held], [0, 0]);
});

t.test('what a call has cost is told to the worker that has made it, once, and to no other', async (t) => {
  const { workers } = await startWorkers(t, [HELLO]);
  const told: CoreEvents['call.counted'][][] = [[], []];
  const ends: number[] = [];
  for (const [index, { core }] of workers.entries()) {
    core.events.on('call.counted', (line) => told[index]?.push(line));
    core.events.on('call.finished', ({ call }) => ends.push(call));
  }
  await workers[0].core.chat(REQUEST);
  await workers[1].core.chat(REQUEST);
  await until('both have the line of their call', () => told.flat().length === 2);
  await workers[1].core.accounts?.costs('key');
  await new Promise((resolve) => setTimeout(resolve, 120));
  t.same(
    told.map((lines) => lines.map(({ call }) => call)),
    ends.map((call) => [call]),
  );
});
