// `npx tsx bench/faults/file-faults.ts [--every n] [--seconds 270]`: each n-th file call of a round of work fails, one at a time. Needs a build and strace;
// elsewhere it says that it is skipped.
//
// Loopback and a temporary folder only; it ends by itself, after all faults or so many seconds, and ends only what it has started.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readSnapshot } from '../../spec/support/crash/disk.ts';
import { EchoDaemon } from '../../spec/support/crash/echo-daemon.ts';
import type { ServerClient } from '../../spec/support/crash/server-client.ts';
import { ServerProcess } from '../../spec/support/crash/server-process.ts';
import { judge } from '../../spec/support/crash/verdict.ts';
import { FaultRound, Gone } from './fault-round.ts';
import { CALLS, type Fault, hasStrace, Injector, type SeenCall } from './injector.ts';
import { countsOf, print, Verdict, wholeNumber } from './verdict.ts';

/** What is made to fail, and how; `retval=0` is a write that takes nothing and says so. */
const KINDS: readonly (readonly [name: string, action: string, calls: readonly string[]])[] = [
  ['ENOSPC', 'error=ENOSPC', ['write', 'fsync', 'mkdir']],
  ['EIO', 'error=EIO', ['write', 'fsync', 'rename']],
  ['EMFILE', 'error=EMFILE', ['openat']],
  ['EACCES', 'error=EACCES', ['rename']],
  ['short write', 'retval=0', ['write']],
  ['SIGKILL', 'signal=SIGKILL', CALLS],
];

interface Tally {
  runs: number;
  injected: number;
  missed: number;
  refused: Record<string, number>;
  violations: string[];
}

interface Life {
  readonly server: ServerProcess;
  readonly client: ServerClient;
}

const MOST = 100_000;
const string = { type: 'string' } as const;
const { values } = parseArgs({ options: { every: string, seconds: string } });
const every = wholeNumber('every', values.every ?? '20', MOST);
const seconds = wholeNumber('seconds', values.seconds ?? '270', MOST);
const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-faults-'));
const log = `${workspace}.strace`;
const daemon = new EchoDaemon(1);
const daemonUrl = await daemon.listen();
let rounds = 0;
let life: Life | undefined;
let poolThread: { readonly pid: number; readonly thread: number } | undefined;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.once('exit', removeAll);
if (hasStrace()) await main();
else print('skipped: it needs strace, on Linux');
daemon.close();

async function main(): Promise<void> {
  const from = performance.now();
  const tallies = new Map<string, Tally>(KINDS.map(([name]) => [name, { runs: 0, injected: 0, missed: 0, refused: {}, violations: [] }]));
  let left = 0;
  try {
    await start();
    await oneRun(undefined); // the first round makes what later ones find there
    const seen = (await oneRun(undefined)).calls;
    const points = interleaved(
      KINDS.map(([name, action, calls]) => calls.flatMap((call) => sampled(indexesOf(seen, call, action)).map((index) => ({ name, call, action, index })))),
    );
    print(`${seen.length} calls in a round of work; ${points.length} faults, one for each ${every} calls`);
    for (const { name, ...fault } of points) {
      if (performance.now() - from > seconds * 1000) left += 1;
      else await faultyRun(tallies.get(name) as Tally, fault);
    }
  } finally {
    life?.client.close();
    await life?.server.kill();
  }
  show(tallies, left, (performance.now() - from) / 1000);
}

async function start(): Promise<Life> {
  const server = new ServerProcess({ workspace, daemonUrl, env: { UV_THREADPOOL_SIZE: '1' } });
  await daemon.judgeBreaks(() => server.isDying); // the fault kills it at a moment of its own
  const ready = await server.ready();
  if (ready === undefined) throw new Error(`the server did not start: ${server.stderr}`);
  life = { server, client: ready.client };
  return life;
}

async function faultyRun(tally: Tally, fault: Omit<Fault, 'thread'>): Promise<void> {
  // The writes of the one thread for files; the main thread writes to sockets.
  const thread = fault.call === 'write' ? await fileThread() : undefined;
  const { injected, isGone, round } = await oneRun({ ...fault, ...(thread !== undefined && { thread }) });
  tally.runs += 1;
  const isMissed = isGone
    ? fault.action !== 'signal=SIGKILL' && injected.some((line) => line.includes('anon_inode'))
    : injected.length === 0 && fault.action !== 'signal=SIGKILL';
  tally.injected += isMissed ? 0 : Math.max(injected.length, isGone ? 1 : 0);
  tally.missed += isMissed || (fault.action === 'signal=SIGKILL' && !isGone) ? 1 : 0;
  for (const [code, count] of Object.entries(round.refused)) tally.refused[code] = (tally.refused[code] ?? 0) + count;
  const where = `${fault.action} at ${fault.call} ${fault.index}`;
  const found = [...round.violations, ...look(round, isGone)];
  if (isGone) {
    life?.client.close();
    await life?.server.kill();
    if (fault.action !== 'signal=SIGKILL' && !isMissed) found.push(`the server ended: ${life?.server.stderr.slice(0, 400)}`);
    await start();
  } else {
    const health = await life?.client.call('GET', '/api/health');
    if (health?.status !== 200) found.push(`the server is not healthy: ${JSON.stringify(health)}`);
  }
  await new FaultRound((life as Life).client, daemon, rounds).cleanUp();
  tally.violations.push(...found.map((violation) => `${where} (${injected.map(shortened).join('; ')}): ${violation}`));
}

/** Found once for each server, by a look at who writes the files. */
async function fileThread(): Promise<number> {
  const pid = life?.server.pid ?? 0;
  if (poolThread?.pid !== pid) {
    const { calls } = await oneRun(undefined);
    poolThread = { pid, thread: calls.find(({ name }) => name === 'fsync')?.thread ?? pid };
  }
  return poolThread.thread;
}

interface Run {
  readonly calls: readonly SeenCall[];
  readonly injected: readonly string[];
  readonly isGone: boolean;
  readonly round: FaultRound;
}

/** Without a fault it must go well. */
async function oneRun(fault: Fault | undefined): Promise<Run> {
  const { server, client } = life as Life;
  rounds += 1;
  const round = new FaultRound(client, daemon, rounds);
  const injector = await Injector.attach(server.pid, log, fault);
  let isGone = false;
  try {
    await round.run();
  } catch (error) {
    if (!(error instanceof Gone)) throw error;
    isGone = true;
  }
  const seen = await injector.detach(isGone);
  if (fault === undefined) {
    if (isGone || round.violations.length > 0) throw new Error(`a round without a fault went wrong: ${round.violations.join('; ')}`);
    await round.cleanUp();
  }
  return { ...seen, isGone, round };
}

/** What must be so on disk after each run. */
function look(round: FaultRound, isGone: boolean): string[] {
  const snapshot = readSnapshot(workspace);
  const promised = {
    ...round.promised,
    blocks: round.isMade ? round.promised.blocks.filter(({ name }) => !isGone || snapshot.blocks.has(name) || !snapshot.archived.has(name)) : [],
  };
  const left = isGone ? [] : readdirSync(workspace, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tmp'));
  return [...judge(promised, snapshot, { calls: daemon.calls, leftEarly: daemon.leftEarly, isDone: false }), ...left.map((path) => `${path} is left behind`)];
}

/** A write is only worth a fault where it goes to a file. */
function indexesOf(seen: readonly SeenCall[], call: string, action: string): number[] {
  const calls = seen.filter(({ name, line }) => name === call && (action === 'signal=SIGKILL' || line.includes(workspace)));
  return [...new Set(calls.map(({ index }) => index))].sort((a, b) => a - b);
}

function sampled(indexes: readonly number[]): number[] {
  return indexes.filter((_, place) => place % every === 0);
}

/** So that each kind has had its share where the time ends before the faults. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const placed = lists.flatMap((list) => list.map((item, place) => ({ item, share: place / list.length })));
  return placed.sort((a, b) => a.share - b.share).map(({ item }) => item);
}

function shortened(line: string): string {
  return line.replaceAll(`${workspace}/`, '').slice(0, 160);
}

function show(tallies: ReadonlyMap<string, Tally>, left: number, took: number): void {
  const verdict = new Verdict();
  for (const [name, { runs, injected, missed, refused, violations }] of tallies)
    verdict.tell(name, `${runs} runs, ${injected} faults, ${missed} missed, ${violations.length} violations; ${countsOf(refused)}`);
  const all = [...tallies.values()];
  const sum = (count: (tally: Tally) => number): number => all.reduce((total, tally) => total + count(tally), 0);
  verdict.tell('in all', `${sum(({ runs }) => runs)} runs, ${sum(({ injected }) => injected)} faults in ${took.toFixed(0)} s`);
  if (left > 0) verdict.tell('left out, for want of time', `${left} faults`);
  verdict.sayFaults(
    'violations',
    all.flatMap(({ violations }) => violations),
    40,
  );
  verdict.end();
}

function removeAll(): void {
  rmSync(workspace, { recursive: true, force: true });
  rmSync(log, { force: true });
}
