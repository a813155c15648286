// kill -9 at random points of mixed work: what was acknowledged is there, and every message has its one answer.
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import t from 'tap';
import { createActor } from 'xstate';
import { ask } from '../../core/block/actor/ask.ts';
import { createBlockMachine } from '../../core/block/actor/machine.ts';
import { monitorActors } from '../../core/block/reply/actors.ts';
import type { BlockContext } from '../../core/block/reply/block-context.ts';
import { openFiles } from '../../core/store/files/block/files.ts';
import { AT } from '../support/block-files.ts';
import type { EntryOnDisk, Snapshot } from '../support/crash/disk.ts';
import { EchoDaemon, echoOf } from '../support/crash/echo-daemon.ts';
import { type KillReport, killAgainAndAgain } from '../support/crash/kill-loop.ts';
import { BlockPromises } from '../support/crash/promises.ts';
import { judge } from '../support/crash/verdict.ts';
import { sweep } from '../support/sweep.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';

t.setTimeout(480_000);

/** More in a whole sweep; `npm run verify` makes fifty, and `npm run test:faults` a thousand, by bench/faults/kill.ts. */
const KILLS = sweep(8, 2);
/** A machine that does much else comes to fewer kills. */
const SECONDS = 50;
/** Apart from each other, so that one waits for the disk while the other one computes. */
const LOOPS = sweep(2, 1);

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
  const folders = testFolder(t, Object.fromEntries(Array.from({ length: LOOPS }, (_, index) => [`loop-${index}`, {}])));
  const reports = await Promise.all(
    Array.from({ length: LOOPS }, (_, index) =>
      killAgainAndAgain({ workspace: `${folders}/loop-${index}`, kills: KILLS / LOOPS, seconds: SECONDS, seed: seed + 2 * index }),
    ),
  );
  for (const report of reports) {
    t.comment(tell(report));
    t.strictSame(report.faults, []);
    t.ok(report.kills > 0 && Object.values(report.acknowledged).some((count) => count > 0)); // of which kind is up to the seed
  }
});

t.test('a stop before the recovery gives no attempt back that a crash has cut off', async (t) => {
  const message = { id: 'm1', role: 'user', content: 'hi', timestamp: AT, processed: false, status: 'processing', channel: 'web', attempts: 1 };
  const folder = t.testdir({ 'chat.json': JSON.stringify([message]) });
  const files = openFiles(folder, 'ada', { onChanged: () => undefined, onDamaged: () => undefined, onRebuilt: () => undefined }, () => AT);
  const run = { beginRun: () => new Promise<void>(() => undefined), endRun: async () => undefined };
  const context = { name: 'ada', files, world: { now: Date.now }, ...run } as unknown as BlockContext;
  const machine = createBlockMachine(Date.now).provide({ actors: monitorActors(() => context) });
  const actor = createActor(machine, { input: { name: 'ada', archiveName: null } }).start();
  actor.send({ type: 'block.start', cause: 'start', actor: 'user' });
  await ask(actor, { type: 'block.stop', cause: 'stop', actor: 'user' });
  t.match(await files.conversation.entries(), [{ status: 'queued', attempts: 1 }]);
});

const TEXT = 'msg ada/1';

/** What is wrong with a message that was asked twice, in one attempt, with this answer. */
function faultsOf(leftEarly: number, answer: Pick<EntryOnDisk, 'status' | 'content'>): string[] {
  const block = new BlockPromises('ada');
  block.messages.push({ text: TEXT, clientId: 'c1', id: 'm1' });
  const config = { description: '', systemPrompt: '', tags: [], enabled: false };
  const entries = [
    { id: 'm1', role: 'user', content: TEXT, status: 'done', clientId: 'c1', attempts: 1 },
    { id: 'm2', role: 'assistant', replyTo: 'm1', ...answer },
  ];
  const snapshot: Snapshot = { blocks: new Map([['ada', { config, facts: [], entries }]]), archived: new Map(), ledger: new Map([['m1', 1]]), faults: [] };
  const asked = { calls: new Map([[TEXT, 2]]), leftEarly: new Map([[TEXT, leftEarly]]), isDone: true };
  return judge({ blocks: [block], travellers: [], counts: {} }, snapshot, asked);
}

t.test('a call beyond the attempts, or half an answer, is a fault unless the server has left a call of its own accord', async (t) => {
  const whole = { status: 'done', content: echoOf(TEXT) };
  const half = { status: 'interrupted', content: echoOf(TEXT).slice(0, 5) };
  t.match(faultsOf(0, whole), [/asked 2 times in 1 attempts/]);
  t.strictSame(faultsOf(1, whole), []);
  t.equal(faultsOf(0, half).length, 3);
  t.strictSame(faultsOf(1, half), []);
  t.match(faultsOf(1, { ...half, content: 'You lied' }), [/answered with You lied/]);
  t.match(faultsOf(1, { ...half, status: 'done' }), [/answered with You s/]);
});

t.test('the daemon knows a call that was left from one that broke by a kill', async (t) => {
  const daemon = new EchoDaemon(1);
  t.teardown(() => daemon.close());
  const url = await daemon.listen();
  const ask = async (): Promise<[ClientRequest, IncomingMessage]> => {
    const sent = request(url, { method: 'POST' });
    sent.end(JSON.stringify({ messages: [{ content: TEXT }] }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.on('error', () => undefined); // it is left
    return [sent, response];
  };
  const [left] = await ask();
  left.destroy();
  await until('it is known to be left', () => daemon.leftEarly.get(TEXT) === 1);
  const [killed] = await ask();
  await daemon.judgeBreaks('killed');
  const broke = once(killed, 'close');
  killed.destroy();
  await broke;
  await daemon.judgeBreaks('left');
  t.strictSame([daemon.calls.get(TEXT), daemon.leftEarly.get(TEXT)], [2, 1]);
});
