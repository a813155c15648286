// `blockhouse copy` as a process that is killed: what it leaves is no workspace for a server, and the next copy makes it whole, with nothing lost or doubled.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createBus } from '../../core/bus.ts';
import { compareWorkspaces, copyWorkspace } from '../../core/store/copy.ts';
import { connectStore, openStore } from '../../core/store/open.ts';
import { run, runHere, start } from '../cli/run.ts';
import { AT, pair } from '../support/block-files.ts';
import { runnable, startCore } from '../support/blocks.ts';
import { migratedStore } from '../support/migrated.ts';
import { askAgain, noPostgres } from '../support/postgres.ts';
import { sweep } from '../support/sweep.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';

t.setTimeout(sweep(2_400_000, 480_000));

const IS_WHOLE = sweep(1, 0) === 1;
const BLOCKS = sweep(3000, 20);
/** Of the one long conversation. */
const LONG = sweep(60_000, 400);
const LONG_BYTES = sweep(30_000_000, 4_000_000);
const LINES = sweep(50_000, 200);
/** Less than the whole sweep's long conversation has. */
const env = { NODE_OPTIONS: `--max-old-space-size=${sweep(32, 64)}` };

function workspaceOf(t: Test): string {
  const names = Array.from({ length: BLOCKS }, (_, n) => `b${n}`);
  const folder = testFolder(t, {
    blocks: { ...runnable([...names.slice(0, BLOCKS / 2), 'long', ...names.slice(BLOCKS / 2)]), long: { ...runnable(['long'])['long'], 'chat-archive': {} } },
  });
  const text = 'x'.repeat(LONG_BYTES / LONG);
  const entries = Array.from({ length: LONG / 2 }, (_, n) =>
    pair(`m${String(n).padStart(6, '0')}`, { content: text }).map((entry) => JSON.stringify({ ...entry, content: text })),
  );
  writeFileSync(join(folder, 'blocks/long/chat-archive/2026-10.jsonl'), `${entries.flat().join('\n')}\n`);
  const line = { at: AT, provider: 'p', model: 'm', purpose: 'chat', usage: null, costUsd: 0.001, messageId: null };
  const lines = Array.from({ length: LINES }, (_, n) => JSON.stringify({ ...line, block: `b${n % 10}`, id: `call-${n}` }));
  writeFileSync(join(folder, 'ledger.jsonl'), `${lines.join('\n')}\n`);
  return folder;
}

/** Kills a copy at each of these points, as far as it comes, and lets the last one end. */
async function copyWithKills(t: Test, args: readonly string[], points: readonly (() => Promise<boolean>)[]): Promise<void> {
  for (const [index, isThere] of points.entries()) {
    const { child, ended } = start(t, ['copy', ...args], { env });
    const deadline = performance.now() + sweep(300_000, 60_000);
    while (child.exitCode === null && !(await isThere())) {
      if (performance.now() > deadline) throw new Error(`point ${index} does not come`);
      await delay(20);
    }
    child.kill('SIGKILL');
    await ended;
  }
  t.match(await run(t, ['copy', ...args], { env }), { code: 0 });
}

t.test('copies that are killed again and again end whole, there and back, in little memory', { skip: noPostgres }, async (t) => {
  const [from, to] = [workspaceOf(t), await migratedStore(t)];
  const { ask, end } = askAgain(to);
  t.teardown(end);
  const rows = (text: string) => async (): Promise<boolean> => {
    const [{ is } = { is: null }] = await ask("select to_regclass('bh.block_entry') as is");
    return is !== null && ((await ask(text))[0] as { is: boolean }).is;
  };
  const isHalf = rows(`select count(*) >= ${BLOCKS / 2} as is from bh.block`);
  const isNearlyWhole = rows(`select count(*) > ${BLOCKS} as is from bh.block`);
  await copyWithKills(t, ['--from', from, '--to', to], [isHalf, isNearlyWhole].slice(0, sweep(2, 1)));
  t.same((await compareWorkspaces({ from, to })).differences, []);
  t.match(
    await ask(
      'select count(*)::int as messages, (select count(*)::int from bh.ledger) as lines, (select sum(calls)::int from bh.spend) as calls from bh.message',
    ),
    [{ messages: LONG, lines: LINES, calls: LINES }],
  );

  const back = join(testFolder(t), 'back');
  const count = (): number => (existsSync(join(back, 'blocks')) ? readdirSync(join(back, 'blocks')).length : 0);
  const half = start(t, ['copy', '--from', to, '--to', back], { env });
  await until('some blocks', () => count() > 5);
  half.child.kill('SIGKILL');
  await half.ended;
  await t.rejects(
    openStore({ workspace: back, bus: createBus(), now: Date.now, onLost: async () => undefined }),
    { code: 'WORKSPACE_DAMAGED' },
    'no server uses half a copy',
  );
  const onTheWayBack = ['--from', to, '--to', back];
  if (IS_WHOLE) await copyWithKills(t, onTheWayBack, [async () => count() > BLOCKS / 2]);
  else t.match(await runHere(t, ['copy', ...onTheWayBack]), { code: 0 });
  t.match(await runHere(t, ['copy', '--from', to, '--to', back, '--verify']), { code: 0, stderr: /: no difference\.\n$/ });
  t.same(readdirSync(join(back, 'blocks')).length, BLOCKS + 1);
});

t.test('servers go on with a copy, in a database and in a folder', { skip: noPostgres }, async (t) => {
  const first = await startCore(t);
  await first.create('ada');
  await first.blocks.start('ada');
  await first.ask('ada', 'one');
  await first.create('gone');
  await first.blocks.archive('gone');
  await first.core.keys?.create('app', { usdPerDay: 5 });
  const costs = await first.blocks.costs({ by: 'block' });
  await first.core.close();
  const to = await migratedStore(t);
  await copyWorkspace({ from: first.workspace, to });
  t.same((await compareWorkspaces({ from: first.workspace, to })).differences, []);

  const second = await startCore(t, { store: await connectStore(to) });
  t.match(await second.blocks.history('ada'), [{ content: 'one', status: 'done' }, { content: 'You said: one' }]);
  t.match(await second.blocks.archives(), [{ originalName: 'gone' }]);
  t.same(
    second.core.keys?.list().map(({ name, usdPerDay }) => [name, usdPerDay]),
    [['app', 5]],
  );
  t.match(await second.blocks.costs({ by: 'block' }), { rows: costs.rows });
  t.match(await second.ask('ada', 'two'), { content: 'You said: two' }, 'its monitor runs on');
  t.match(await second.core.check(), { findings: [] });
  await t.rejects(copyWorkspace({ from: first.workspace, to }), { code: 'WORKSPACE_BUSY', message: /is in use by the server/ });
  await second.core.close();
  await t.rejects(copyWorkspace({ from: first.workspace, to }), { code: 'NAME_TAKEN' }, 'a workspace of its own is not replaced');

  const back = join(testFolder(t), 'back');
  await copyWorkspace({ from: to, to: back });
  const third = await startCore(t, { workspace: back });
  t.match(await third.ask('ada', 'three'), { content: 'You said: three' });
  t.same(
    (await third.blocks.history('ada')).map(({ content }) => content),
    ['one', 'You said: one', 'two', 'You said: two', 'three', 'You said: three'],
  );
  t.match(await third.core.check(), { findings: [] });
  t.same(third.factsOf('workspace.fault'), []);
});
