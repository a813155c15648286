// What a monitor does, made visible.
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openFiles } from '../../../core/block/files.ts';
import { HeartbeatWheel } from '../../../core/block/heartbeats.ts';
import { Recorder, type SeenState } from '../../../core/block/recorder.ts';
import type { World } from '../../../core/block/workshop.ts';
import { createBus } from '../../../core/bus.ts';
import type { BlockState } from '../../../core/schemas/block.ts';
import type { BlockLog } from '../../../core/workspace/block-log.ts';
import { AT, configOf, userEntry } from '../../support/block-files.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';

const NOW = Date.parse(AT);
const REASON = { code: 'X', message: 'Why.', fix: null };
const TASK = { messageId: 'm1', startedAt: AT, attempt: 1, phase: 'waiting-model', outputChars: 0 } as const;

function recorderIn(t: Test, files: Record<string, unknown> = {}) {
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
  const recorder = new Recorder({
    name: 'a',
    files: set,
    log: { write: (...line: unknown[]) => lines.push(line) } as unknown as BlockLog,
    world: { bus, now: () => clock.now, heartbeats: new HeartbeatWheel(5) } as World,
    onUnwritten: () => unwritten.push(told.at(-1)?.match(/→ (\w+):/)?.[1] ?? ''),
    onShown: () => {
      beats += 1;
    },
    onFault: (what, error) => faults.push(`${what}: ${(error as Error).message}`),
  });
  t.teardown(async () => {
    recorder.endBeat();
    await recorder.written(); // or the folder is removed while it still writes
  });
  const pulse = async () => {
    await recorder.written();
    return set.pulse.read();
  };
  return { recorder, unwritten, files: set, told, changes, faults, lines, clock, pulse, beats: () => beats, folder: join(folder) };
}

function at(state: BlockState, context: Partial<SeenState['context']> = {}): SeenState {
  return { state, context: { reason: null, wakeUpAt: null, cause: 'c', actor: 'monitor', restarts: 0, consecutiveFailures: 0, ...context } };
}

t.test('each step is told at once, and written in its order', async (t) => {
  const { recorder, told, lines, pulse } = recorderIn(t, { chat: [userEntry('m1', { status: 'queued', processed: false })] });
  recorder.begin();
  for (const state of ['starting', 'starting', 'idle', 'idle', 'working'] as const) recorder.see(at(state));
  recorder.see(at('failed', { reason: REASON, restarts: 1, consecutiveFailures: 2 }));
  t.strictSame(told, ['stopped → starting: c', 'starting → idle: c', 'idle → working: c', 'working → failed: c']);
  const written = await pulse();
  t.match(written, { state: 'failed', startedAt: AT, desired: 'running', restarts: 1, consecutiveFailures: 2, queue: { queued: 1 } });
  t.strictSame(
    written.transitions.map(({ to }) => to),
    ['starting', 'idle', 'working', 'failed'],
  );
  t.match(lines.at(-1), ['ERROR', 'state.failed', { cause: 'c', by: 'monitor', reason: 'Why.' }]);
});

t.test('the same state is told once, and another reason or time of it is written', async (t) => {
  const { recorder, told, pulse, changes } = recorderIn(t);
  recorder.see(at('backoff', { reason: REASON, wakeUpAt: NOW }));
  await pulse();
  const before = changes.length;
  recorder.see(at('backoff', { reason: REASON, wakeUpAt: NOW }));
  await pulse();
  t.equal(changes.length, before);
  recorder.see(at('backoff', { reason: REASON, wakeUpAt: NOW + 1000 }));
  t.match(await pulse(), { nextWakeUp: new Date(NOW + 1000).toISOString() });
  t.equal((await pulse()).transitions.length, 1);
  t.equal(told.length, 1);
});

t.test('whether it is wanted follows from config.json, and from who sends it away', async (t) => {
  const rows = [
    ['stopped', { actor: 'user', cause: 'stop' }, 'stopped'],
    ['stopping', { actor: 'user', cause: 'archive' }, 'stopped'],
    ['stopped', { actor: 'user', cause: 'restart' }, 'running'],
    ['stopped', { actor: 'server', cause: 'server stops' }, 'running'],
    ['idle', { actor: 'user' }, 'running'],
  ] as const;
  for (const [value, context, desired] of rows) {
    await t.test(`${value} ${desired}`, async (t) => {
      const { recorder, pulse } = recorderIn(t);
      recorder.see(at('starting'));
      recorder.see(at(value, context));
      t.equal((await pulse()).desired, desired);
    });
  }
});

t.test('damaged files are no reason not to say so', async (t) => {
  const { recorder, pulse, faults } = recorderIn(t, { chat: '{', config: '{' });
  recorder.see(at('failed', { reason: REASON }));
  t.match(await pulse(), { state: 'failed', desired: 'running', queue: { queued: 0 } });
  t.strictSame(faults, []);
});

t.test('a pulse.json that can not be written holds nobody up, and is told', async (t) => {
  const { recorder, faults, told, folder } = recorderIn(t);
  rmSync(join(folder, 'pulse.json'), { force: true });
  mkdirSync(join(folder, 'pulse.json'));
  recorder.see(at('starting'));
  await recorder.written();
  recorder.see(at('idle'));
  await recorder.written();
  t.equal(told.length, 2);
  t.equal(faults.length, 2);
  t.match(faults[0], /pulse\.json: .*can't be used/);
});

t.test('steps that the disk did not take are shown, and written with the next one that it takes', async (t) => {
  const { recorder, unwritten, faults, pulse, folder, clock, changes } = recorderIn(t);
  recorder.see(at('starting'));
  const written = await pulse();
  clock.now += 1;
  rmSync(join(folder, 'pulse.json'));
  mkdirSync(join(folder, 'pulse.json'));
  recorder.see(at('working'));
  await recorder.written();
  clock.now += 1;
  recorder.see(at('backoff', { reason: REASON }));
  await recorder.written();
  t.equal(faults.length, 2);
  t.same(unwritten, ['working', 'backoff']);
  t.match(recorder.present(written), { state: 'backoff', reason: REASON, transitions: [{ to: 'starting' }, { to: 'working' }, { to: 'backoff' }] });
  rmSync(join(folder, 'pulse.json'), { recursive: true });
  const shown = recorder.present(written);
  writeFileSync(join(folder, 'pulse.json'), JSON.stringify({ ...written, transitions: shown.transitions.slice(0, 2) }));
  changes.length = 0;
  recorder.beatEvery(5);
  await until('a heartbeat writes them', () => changes.includes('pulse'));
  recorder.endBeat();
  const later = await pulse();
  t.match(later, { state: 'backoff', transitions: [{ to: 'starting' }, { to: 'working' }, { to: 'backoff' }] }, 'a step that was there is there once');
  t.same(recorder.present(later).transitions, later.transitions);
});

t.test('a pulse.json that somebody removed or changed is not what runs, and the next heartbeat writes it again', async (t) => {
  const { recorder, pulse, files, folder, clock, beats } = recorderIn(t);
  recorder.begin();
  recorder.see(at('starting'));
  recorder.see(at('backoff', { reason: REASON, wakeUpAt: NOW + 60_000 }));
  await pulse();
  const runs = { state: 'backoff', status: 'BUSY', reason: REASON, error: 'Why.', startedAt: AT, nextWakeUp: new Date(NOW + 60_000).toISOString() };
  clock.now += 5000;
  for (const change of [
    () => rmSync(join(folder, 'pulse.json')),
    () => writeFileSync(join(folder, 'pulse.json'), JSON.stringify({ status: 'SLEEPING', state: 'stopped' })),
  ]) {
    change();
    const found = await files.pulse.read();
    t.equal(found.state, 'stopped');
    t.match(recorder.present(found), { ...runs, uptimeSeconds: 5 });
    const before = beats();
    recorder.beatEvery(5);
    await until('it has beaten', () => beats() > before);
    recorder.endBeat();
    t.match(await pulse(), runs);
  }
  rmSync(join(folder, 'pulse.json'));
  recorder.setTask(TASK);
  t.match(await pulse(), { ...runs, currentTask: TASK });
  rmSync(join(folder, 'pulse.json'));
  recorder.see(at('working'));
  t.match((await pulse()).transitions.at(-1), { from: 'backoff', to: 'working' });
});

t.test('a task is shown when it begins and when its text comes; its growth is for the heartbeat', async (t) => {
  const { recorder, pulse, changes, clock } = recorderIn(t);
  recorder.growTask(1);
  t.equal((await pulse()).currentTask, null, 'without a task nothing grows');
  recorder.see(at('working'));
  recorder.setTask(TASK);
  t.match(await pulse(), { currentTask: { phase: 'waiting-model' } });
  recorder.growTask(3);
  await pulse();
  const before = changes.length;
  recorder.growTask(9);
  t.match(await pulse(), { currentTask: { phase: 'streaming', outputChars: 3 } });
  t.equal(changes.length, before);
  recorder.endTask('another');
  recorder.endTask(null);
  clock.now += 1000;
  recorder.endTask('m1');
  recorder.setTask({ ...TASK, messageId: 'm2' });
  t.match(await pulse(), { currentTask: { messageId: 'm2' }, lastRun: new Date(NOW + 1000).toISOString() });
});

t.test('a compaction is over when it is, whatever the state', async (t) => {
  const { recorder, pulse } = recorderIn(t);
  recorder.see(at('idle'));
  recorder.setTask({ ...TASK, messageId: null, phase: 'compacting' });
  t.match(await pulse(), { currentTask: { phase: 'compacting' } });
  recorder.endTask(null);
  t.match(await pulse(), { currentTask: null, lastRun: null });
});

t.test('a heartbeat is quiet, and says when it was and what is being done', async (t) => {
  const { recorder, files, changes, clock, beats, pulse } = recorderIn(t);
  recorder.begin();
  recorder.see(at('working'));
  recorder.setTask(TASK);
  recorder.growTask(5);
  await pulse();
  const before = changes.length;
  recorder.growTask(50);
  clock.now += 90_000;
  recorder.beatEvery(5);
  await until('it has beaten', () => beats() >= 2);
  recorder.endBeat();
  t.match(await pulse(), { lastPulse: new Date(NOW + 90_000).toISOString(), uptimeSeconds: 90, currentTask: { outputChars: 50 } });
  t.equal(changes.length, before);
  const count = beats();
  recorder.beatEvery(100_000);
  await files.pulse.read();
  t.equal(beats(), count);
});

t.test('a heartbeat over a damaged chat is told, and the next one goes on', async (t) => {
  const { recorder, faults } = recorderIn(t, { chat: '{' });
  recorder.beatEvery(5);
  await until('it was told twice', () => faults.length >= 2);
});

t.test('a task is written with the queue as it is, and shown as it has grown since', async (t) => {
  const { recorder, pulse, clock } = recorderIn(t, { chat: [userEntry('m1', { status: 'processing', processed: false })] });
  recorder.begin();
  recorder.setTask(TASK);
  t.match(await pulse(), { currentTask: TASK, queue: { queued: 0, processing: 1 } });
  recorder.growTask(3);
  recorder.growTask(40);
  clock.now += 7000;
  const written = await pulse();
  t.match(written, { currentTask: { phase: 'streaming', outputChars: 3 }, uptimeSeconds: 0 });
  t.match(recorder.present(written), { currentTask: { phase: 'streaming', outputChars: 40 }, uptimeSeconds: 7 });
});

t.test('a heartbeat over nothing but time writes nothing for ten minutes, and is shown all the same', async (t) => {
  const { recorder, pulse, clock, beats, folder } = recorderIn(t);
  const path = join(folder, 'pulse.json');
  recorder.begin();
  recorder.see(at('idle'));
  const written = await pulse();
  const { mtimeMs } = statSync(path);
  const beaten = async (): Promise<void> => {
    const before = beats();
    recorder.beatEvery(5);
    await until('it has beaten', () => beats() > before);
    recorder.endBeat();
    await recorder.written();
  };
  clock.now += 30_000;
  await beaten();
  t.equal(statSync(path).mtimeMs, mtimeMs);
  t.match(recorder.present(written), { lastPulse: new Date(NOW + 30_000).toISOString(), uptimeSeconds: 30 });
  for (const now of [NOW + 600_000, NOW - 3_600_000]) {
    clock.now = now;
    await beaten();
    t.match(await pulse(), { lastPulse: new Date(now).toISOString() }, 'also by a clock that was set back');
  }
});
