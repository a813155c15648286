// What a monitor does, made visible.
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Cause } from '../../../core/block/actor/types.ts';
import { PulseWriter } from '../../../core/block/pulse-writer.ts';
import type { WorkspaceContext } from '../../../core/block/reply/block-context.ts';
import { HeartbeatWheel } from '../../../core/block/status/heartbeats.ts';
import { statusOf } from '../../../core/block/status/list-entry.ts';
import type { ActorPulse } from '../../../core/block/status/pulse.ts';
import { createBus } from '../../../core/bus.ts';
import type { BlockState } from '../../../core/schemas/block-pulse.ts';
import { openFiles } from '../../../core/store/files/block/files.ts';
import type { LogStore } from '../../../core/store/store.ts';
import { AT, configOf, userEntry } from '../../support/block-files.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';

const NOW = Date.parse(AT);
const REASON = { code: 'X', message: 'Why.', fix: null };
const TASK = { messageId: 'm1', startedAt: AT, attempt: 1, phase: 'waiting-model', outputChars: 0 } as const;
const STREAMING = { ...TASK, phase: 'streaming', outputChars: 1 } as const;
const LATER = new Date(NOW + 1000).toISOString();
const BY: Cause = { cause: 'c', actor: 'monitor' };

function writerIn(t: Test, files: Record<string, unknown> = {}) {
  const contents = { config: configOf({ enabled: true }), ...files };
  const folder = testFolder(
    t,
    Object.fromEntries(Object.entries(contents).map(([name, value]) => [`${name}.json`, typeof value === 'string' ? value : JSON.stringify(value)])),
  );
  const told: string[] = [];
  const changes: string[] = [];
  const faults: string[] = [];
  const lines: unknown[] = [];
  const unwritten: string[] = [];
  let beats = 0;
  const clock = { now: NOW };
  const bus = createBus();
  bus.on('block.transitioned', ({ from, to, cause }) => told.push(`${from} → ${to}: ${cause}`));
  const set = openFiles(folder, 'a', { onChanged: (file) => changes.push(file), onDamaged: () => undefined, onRebuilt: () => undefined }, () => AT);
  const feed = { characters: 0 };
  const pulseWriter = new PulseWriter({
    name: 'a',
    actor: at('stopped'),
    feed,
    files: set,
    log: { write: (...line: unknown[]) => lines.push(line) } as unknown as LogStore,
    world: { bus, now: () => clock.now, heartbeats: new HeartbeatWheel(5) } as WorkspaceContext,
    onUnwritten: () => unwritten.push(told.at(-1)?.match(/→ (\w+):/)?.[1] ?? ''),
    onShown: () => {
      beats += 1;
    },
    onFault: (what, error) => faults.push(`${what}: ${(error as Error).message}`),
  });
  t.teardown(async () => {
    pulseWriter.endBeat();
    await pulseWriter.written(); // or the folder is removed while it still writes
  });
  const pulse = async () => {
    await pulseWriter.written();
    return set.pulse.read();
  };
  const see = (state: BlockState, fields: Partial<ActorPulse> = {}, by = BY): void => pulseWriter.see(at(state, fields), by);
  return { pulseWriter, see, feed, unwritten, files: set, told, changes, faults, lines, clock, pulse, beats: () => beats, folder: join(folder) };
}

function at(state: BlockState, fields: Partial<ActorPulse> = {}): ActorPulse {
  const times = { startedAt: null, stoppedAt: null, lastRun: null, nextWakeUp: null };
  const plain = { reason: null, attention: false, error: null, currentTask: null, restarts: 0, consecutiveFailures: 0, isSentAway: false };
  return { state, status: statusOf(state), ...times, ...plain, ...fields };
}

t.test('each step is reported at once and written in order', async (t) => {
  const { see, told, lines, pulse } = writerIn(t, { chat: [userEntry('m1', { status: 'queued', processed: false })] });
  for (const state of ['starting', 'starting', 'idle', 'idle', 'working'] as const) see(state);
  see('failed', { reason: REASON, restarts: 1, consecutiveFailures: 2, startedAt: AT });
  t.strictSame(told, ['stopped → starting: c', 'starting → idle: c', 'idle → working: c', 'working → failed: c']);
  const written = await pulse();
  t.match(written, { state: 'failed', startedAt: AT, desired: 'running', restarts: 1, consecutiveFailures: 2, queue: { queued: 1 } });
  t.strictSame(
    written.transitions.map(({ to }) => to),
    ['starting', 'idle', 'working', 'failed'],
  );
  t.match(lines.at(-1), ['ERROR', 'state.failed', { cause: 'c', by: 'monitor', reason: 'Why.' }]);
});

t.test('the same state is reported once, and a new reason or time is written', async (t) => {
  const { see, told, pulse, changes } = writerIn(t);
  see('backoff', { reason: REASON, nextWakeUp: AT });
  await pulse();
  const before = changes.length;
  see('backoff', { reason: { ...REASON }, nextWakeUp: AT });
  await pulse();
  t.equal(changes.length, before);
  see('backoff', { reason: REASON, nextWakeUp: LATER });
  t.match(await pulse(), { nextWakeUp: LATER });
  t.equal((await pulse()).transitions.length, 1);
  t.equal(told.length, 1);
});

t.test('the wanted state comes from config.json, or from the person who stops the monitor', async (t) => {
  const rows = [
    ['stopped', true, 'stopped'],
    ['stopping', true, 'stopped'],
    ['stopped', false, 'running'],
    ['idle', false, 'running'],
  ] as const;
  for (const [state, isSentAway, desired] of rows) {
    await t.test(`${state} ${desired}`, async (t) => {
      const { see, pulse } = writerIn(t);
      see('starting');
      see(state, { isSentAway });
      t.equal((await pulse()).desired, desired);
    });
  }
});

t.test('steps are written even if other files are damaged', async (t) => {
  const { see, pulse, faults } = writerIn(t, { chat: '{', config: '{' });
  see('failed', { reason: REASON });
  t.match(await pulse(), { state: 'failed', desired: 'running', queue: { queued: 0 } });
  t.strictSame(faults, []);
});

t.test("a pulse.json that can't be written delays nothing and is reported", async (t) => {
  const { pulseWriter, see, faults, told, folder } = writerIn(t);
  rmSync(join(folder, 'pulse.json'), { force: true });
  mkdirSync(join(folder, 'pulse.json'));
  see('starting');
  await pulseWriter.written();
  see('idle');
  await pulseWriter.written();
  t.equal(told.length, 2);
  t.equal(faults.length, 2);
  t.match(faults[0], /pulse\.json: .*can't be used/);
});

t.test('steps that could not be written are shown, and written with the next one', async (t) => {
  const { pulseWriter, see, unwritten, faults, pulse, folder, clock, changes } = writerIn(t);
  see('starting');
  const written = await pulse();
  clock.now += 1;
  rmSync(join(folder, 'pulse.json'));
  mkdirSync(join(folder, 'pulse.json'));
  see('working');
  await pulseWriter.written();
  clock.now += 1;
  see('backoff', { reason: REASON });
  await pulseWriter.written();
  t.equal(faults.length, 2);
  t.same(unwritten, ['working', 'backoff']);
  t.match(pulseWriter.present(written), { state: 'backoff', reason: REASON, transitions: [{ to: 'starting' }, { to: 'working' }, { to: 'backoff' }] });
  rmSync(join(folder, 'pulse.json'), { recursive: true });
  const shown = pulseWriter.present(written);
  writeFileSync(join(folder, 'pulse.json'), JSON.stringify({ ...written, transitions: shown.transitions.slice(0, 2) }));
  changes.length = 0;
  pulseWriter.beatEvery(5);
  await until('a heartbeat writes them', () => changes.includes('pulse'));
  pulseWriter.endBeat();
  const later = await pulse();
  t.match(later, { state: 'backoff', transitions: [{ to: 'starting' }, { to: 'working' }, { to: 'backoff' }] }, 'a step that was there is there once');
  t.same(pulseWriter.present(later).transitions, later.transitions);
});

t.test('a pulse.json that was removed or edited does not change what is shown, and the next heartbeat writes it again', async (t) => {
  const { pulseWriter, see, pulse, files, folder, clock, beats } = writerIn(t);
  const waits = { reason: REASON, error: 'Why.', nextWakeUp: new Date(NOW + 60_000).toISOString(), startedAt: AT };
  see('starting', { startedAt: AT });
  see('backoff', waits);
  await pulse();
  const runs = { state: 'backoff', status: 'BUSY', ...waits };
  clock.now += 5000;
  for (const change of [
    () => rmSync(join(folder, 'pulse.json')),
    () => writeFileSync(join(folder, 'pulse.json'), JSON.stringify({ status: 'SLEEPING', state: 'stopped' })),
  ]) {
    change();
    const found = await files.pulse.read();
    t.equal(found.state, 'stopped');
    t.match(pulseWriter.present(found), { ...runs, uptimeSeconds: 5 });
    const before = beats();
    pulseWriter.beatEvery(5);
    await until('it has beaten', () => beats() > before);
    pulseWriter.endBeat();
    t.match(await pulse(), runs);
  }
  rmSync(join(folder, 'pulse.json'));
  see('backoff', { ...waits, currentTask: TASK });
  t.match(await pulse(), { ...runs, currentTask: TASK });
  rmSync(join(folder, 'pulse.json'));
  see('working');
  t.match((await pulse()).transitions.at(-1), { from: 'backoff', to: 'working' });
});

t.test('a task is written when it begins and when its text begins, and shown with its present length', async (t) => {
  const { pulseWriter, see, feed, pulse, changes, clock } = writerIn(t, { chat: [userEntry('m1', { status: 'processing', processed: false })] });
  see('working', { currentTask: TASK, startedAt: AT });
  t.match(await pulse(), { currentTask: TASK, queue: { queued: 0, processing: 1 } });
  feed.characters = 3;
  see('working', { currentTask: STREAMING, startedAt: AT });
  const written = await pulse();
  t.match(written, { currentTask: { phase: 'streaming', outputChars: 3 }, uptimeSeconds: 0 });
  const before = changes.length;
  feed.characters = 40;
  clock.now += 7000;
  t.match(await pulse(), { currentTask: { outputChars: 3 } });
  t.equal(changes.length, before);
  t.match(pulseWriter.present(written), { currentTask: { phase: 'streaming', outputChars: 40 }, uptimeSeconds: 7 });
  see('idle', { lastRun: LATER });
  t.match(await pulse(), { currentTask: null, lastRun: LATER });
});

t.test('a heartbeat is quiet, and writes its time and the length of the reply', async (t) => {
  const { pulseWriter, see, feed, files, changes, clock, beats, pulse } = writerIn(t);
  feed.characters = 5;
  see('working', { currentTask: STREAMING, startedAt: AT });
  await pulse();
  const before = changes.length;
  feed.characters = 50;
  clock.now += 90_000;
  pulseWriter.beatEvery(5);
  await until('it has beaten', () => beats() >= 2);
  pulseWriter.endBeat();
  t.match(await pulse(), { lastPulse: new Date(NOW + 90_000).toISOString(), uptimeSeconds: 90, currentTask: { outputChars: 50 } });
  t.equal(changes.length, before);
  const count = beats();
  pulseWriter.beatEvery(100_000);
  await files.pulse.read();
  t.equal(beats(), count);
});

t.test('a heartbeat that finds a damaged chat is reported, and the next one goes on', async (t) => {
  const { pulseWriter, faults } = writerIn(t, { chat: '{' });
  pulseWriter.beatEvery(5);
  await until('it was told twice', () => faults.length >= 2);
});

t.test('a heartbeat that changes only the time is shown, and written every ten minutes', async (t) => {
  const { pulseWriter, see, pulse, clock, beats, folder } = writerIn(t);
  const path = join(folder, 'pulse.json');
  see('idle', { startedAt: AT });
  const written = await pulse();
  const { mtimeMs } = statSync(path);
  const beaten = async (): Promise<void> => {
    const before = beats();
    pulseWriter.beatEvery(5);
    await until('it has beaten', () => beats() > before);
    pulseWriter.endBeat();
    await pulseWriter.written();
  };
  clock.now += 30_000;
  await beaten();
  t.equal(statSync(path).mtimeMs, mtimeMs);
  t.match(pulseWriter.present(written), { lastPulse: new Date(NOW + 30_000).toISOString(), uptimeSeconds: 30 });
  for (const now of [NOW + 600_000, NOW - 3_600_000]) {
    clock.now = now;
    await beaten();
    t.match(await pulse(), { lastPulse: new Date(now).toISOString() }, 'also by a clock that was set back');
  }
});
