// Schedules against real ends of processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { connectStore } from '../../core/index.ts';
import { RUNNABLE, repeatingDaemon, startCore } from '../support/blocks.ts';
import { argsForFile } from '../support/node-args.ts';
import { migratedStore } from '../support/migrated.ts';
import { ask, noPostgres } from '../support/postgres.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream.ts';

const HOUR = 3_600_000;
const KILLED = 'spec/support/schedules/killed-core.ts';

t.test('case 49: a server that is killed between the message and the note of it sends one message', async (t) => {
  const begin = Date.parse('2026-11-20T10:30:00Z');
  const upstream = await startUpstream(t, repeatingDaemon);
  const clock = { now: begin };
  const one = await startCore(t, { clock: () => clock.now });
  await one.create('ada', { ...RUNNABLE, schedule: [{ id: 'brief', cron: '0 * * * *', message: 'Write.', graceMinutes: 1000 }] });
  await one.blocks.start('ada');
  const file = one.folder('ada', 'schedule.json');
  await until('the schedule is seen', () => existsSync(file));
  await one.core.close();
  const last = (): string => (JSON.parse(readFileSync(file, 'utf8')) as { brief: { last: string } }).brief.last;
  const before = last();
  const child = spawn(process.execPath, [...argsForFile(KILLED), one.workspace, String(begin + HOUR / 2), upstream.url], { stdio: 'inherit' });
  t.strictSame(await once(child, 'exit'), [null, 'SIGKILL'], 'it died with the message on disk');
  t.equal(last(), before, 'and without the note');
  t.match(one.readJson('ada', 'chat'), [{ role: 'user', clientId: 'schedule:brief:2026-11-20T11:00:00.000Z' }]);
  clock.now = begin + HOUR / 2 + 60_000;
  const again = await startCore(t, { workspace: one.workspace, clock: () => clock.now });
  await again.told('message.finished', { status: 'done' });
  await until('it is noted', () => last() === '2026-11-20T11:00:00.000Z');
  t.match(again.readJson('ada', 'chat'), [{ role: 'user', clientId: 'schedule:brief:2026-11-20T11:00:00.000Z', status: 'done' }, { role: 'assistant' }]);
  t.equal(again.readJson('ada', 'chat').length, 2);
});

t.test('servers of one database see one state of a schedule, which an export takes along', { skip: noPostgres }, async (t) => {
  const store = await migratedStore(t);
  const one = await startCore(t, { store: await connectStore(store) });
  const two = await startCore(t, { store: await connectStore(store) });
  await one.create('ada', { ...RUNNABLE, schedule: [{ id: 'brief', cron: '0 0 1 1 *', message: 'Write.' }] });
  t.match(await two.blocks.schedules('ada'), { schedules: [{ state: 'active', last: null }] });
  await two.blocks.pauseSchedule('ada', 'brief');
  t.match(await one.blocks.schedules('ada'), { schedules: [{ state: 'paused', pausedBecause: 'person' }] });
  await two.blocks.import(await one.blocks.export('ada'), 'eve');
  t.match(await one.blocks.schedules('eve'), { schedules: [{ state: 'paused' }] });
  t.match(await one.blocks.resumeSchedule('ada', 'brief'), { state: 'active' });
  await one.blocks.start('ada');
  const { id } = await two.blocks.runSchedule('ada', 'brief');
  t.match(await two.blocks.answer('ada', id, { waitMs: 20_000 }), { entry: { status: 'done' } });
  t.match(await one.blocks.schedules('ada'), { schedules: [{ lastOutcomes: [{ messageId: id, status: 'done' }] }] });
});

t.test(
  'case 49 in a database: a server is killed between the message and the note of it, and the next one sends no second message',
  { skip: noPostgres },
  async (t) => {
    const store = await migratedStore(t);
    const upstream = await startUpstream(t, repeatingDaemon);
    const workspace = testFolder(t);
    const child = spawn(process.execPath, [...argsForFile(KILLED), workspace, '0', upstream.url, store], { stdio: 'inherit' });
    t.strictSame(await once(child, 'exit'), [null, 'SIGKILL']);
    t.match(await ask(store, 'select status, client_id from bh.message'), [{ status: 'queued', client_id: /^schedule:once:/ }]);
    const noted = async () =>
      (await ask(store, "select value from bh.document where kind = 'schedule'"))[0]?.['value'] as { once?: { fired: number } } | undefined;
    t.not((await noted())?.once?.fired, 1, 'it is not noted');
    const next = await startCore(t, { store: await connectStore(store) });
    await ask(store, 'delete from bh.node where id = (select owner from bh.block)'); // as after its lease
    await next.told('message.finished', { status: 'done' });
    while ((await noted())?.once?.fired !== 1) await delay(20);
    t.equal((await next.blocks.history('ada')).filter(({ role }) => role === 'user').length, 1);
  },
);
