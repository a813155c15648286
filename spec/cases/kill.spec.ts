// kill -9 at random points of mixed work: what was acknowledged is there, and every message has its one answer.
import t from 'tap';
import { createActor, waitFor } from 'xstate';
import type { Entries } from '../../core/block/chat-file.ts';
import type { BlockWorkshop } from '../../core/block/workshop.ts';
import { MonitorActors } from '../../core/monitor/actors.ts';
import { PATIENCE_MS } from '../cli/run.ts';
import { type KillReport, killAgainAndAgain } from '../support/crash/kill-loop.ts';

t.setTimeout(PATIENCE_MS * 2);

const KILLS = 50;
/** A machine that does much else comes to fewer kills; bench/faults/kill.ts takes the time that it needs. */
const SECONDS = 50;
/** Apart from each other, so that one waits for the disk while the other one computes. */
const LOOPS = 2;
/** The aim is 2 s; a machine that does much else takes longer. */
const READY_LIMIT_MS = 10_000;

function tell({ seed, kills, whileStarting, whileEnding, acknowledged, answers, calls, readyMs, seconds }: KillReport): string {
  const writes = Object.entries(acknowledged).map(([kind, count]) => `${count} ${kind}`);
  const ready = `ready again in ${median(readyMs).toFixed(0)} ms (median), ${(readyMs.at(-1) ?? 0).toFixed(0)} ms at worst`;
  const when = `${whileStarting} while it started, ${whileEnding} while it ended`;
  return `seed ${seed}: ${kills} kills (${when}) in ${seconds.toFixed(0)} s; acknowledged: ${writes.join(', ')}; ${answers} answers by ${calls} calls; ${ready}`;
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

t.test('kill -9 again and again loses nothing that was acknowledged, and doubles nothing', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.comment(`seed ${seed}`);
  const folders = t.testdir(Object.fromEntries(Array.from({ length: LOOPS }, (_, index) => [`loop-${index}`, {}])));
  const reports = await Promise.all(
    Array.from({ length: LOOPS }, (_, index) =>
      killAgainAndAgain({ workspace: `${folders}/loop-${index}`, kills: KILLS / LOOPS, seconds: SECONDS, seed: seed + 2 * index }),
    ),
  );
  for (const report of reports) {
    t.comment(tell(report));
    t.strictSame(report.faults, []);
    t.ok(report.kills > 0 && (report.acknowledged['message'] ?? 0) > 0);
    t.ok(median(report.readyMs) < READY_LIMIT_MS, 'ready again soon');
  }
});

t.test('a stop before the recovery gives no attempt back that a crash has cut off', async (t) => {
  let entries: Entries = [
    { id: 'm1', role: 'user', content: 'hi', timestamp: '2026-11-20T14:03:22.123Z', processed: false, status: 'processing', channel: 'web', attempts: 1 },
  ];
  const update = async (change: (before: Entries) => { value: Entries }): Promise<void> => {
    entries = change(entries).value;
  };
  const shop = { name: 'ada', files: { chat: { update } }, world: { now: Date.now } } as unknown as BlockWorkshop;
  const actors = new MonitorActors(shop, { onBegin: () => new Promise<void>(() => undefined), onEnd: async () => undefined });
  const monitor = createActor(actors.machine(), { input: { name: 'ada', cause: 'start', actor: 'user' } }).start();
  monitor.send({ type: 'stop', cause: 'stop', actor: 'user' });
  await waitFor(monitor, ({ status }) => status === 'done');
  t.match(entries, [{ status: 'queued', attempts: 1 }]);
});
