// What does a run of tools ask of the disk, and how soon does the kill switch end its processes? `npx tsx bench/tool-runs.bench.ts [rounds]` counts the syncs of files while one message is
// answered, without tools and with turns of calls, and sets the kill switch while servers are called: ones that end as asked, and ones that hear nothing and have started another process.
import { open } from 'node:fs/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { RUNNABLE } from '../spec/support/blocks.ts';
import { runs, sessionsRig } from '../spec/support/tools/sessions-rig.ts';
import { pay, toolCore } from '../spec/support/tools/tool-core.ts';
import { median } from './harness/stats.ts';

const ROUNDS = Number(process.argv[2] ?? 10);
const SETTLE_MS = 1500;
const SERVERS = 4;

const ends: (() => unknown)[] = [];
const folders: string[] = [];

/** What specs call a test, for their parts. */
function place(): Test {
  const folder = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
  folders.push(folder);
  return { teardown: (end: () => unknown) => void ends.unshift(end), testdir: () => folder } as unknown as Test;
}

async function done(): Promise<void> {
  for (const end of ends.splice(0)) await end();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Counts syncs of files and folders from now on. */
async function countSyncs(): Promise<() => number> {
  const handle = await open(join(tmpdir(), `blockhouse-bench-${process.pid}`), 'w');
  const proto = Object.getPrototypeOf(handle) as { sync(this: object): Promise<void> };
  await handle.close();
  rmSync(join(tmpdir(), `blockhouse-bench-${process.pid}`));
  const { sync } = proto;
  let count = 0;
  proto.sync = function () {
    count += 1;
    return sync.call(this);
  };
  ends.unshift(() => Object.assign(proto, { sync }));
  return () => count;
}

/** A message whose model calls the bank in so many turns, each with so many calls. */
async function syncs(): Promise<void> {
  const counted = await countSyncs();
  const one = await toolCore(place(), {
    say: ({ question, results }) => {
      const [turns = 0, calls = 0] = question.split(' ').map(Number);
      return results.length >= turns * calls ? 'Done.' : Array.from({ length: calls }, (_, index) => pay(`p${results.length + index}`));
    },
  });
  await one.create('eve', RUNNABLE);
  for (const name of ['ada', 'eve']) await one.blocks.start(name);
  const of = async (block: string, message: string): Promise<number> => {
    await delay(SETTLE_MS); // what the message before has left, such as its line of the ledger
    const before = counted();
    const { id } = await one.blocks.post(block, { message }, 'api');
    while ((await one.blocks.history(block)).every(({ replyTo }) => replyTo !== id)) await delay(5);
    await delay(SETTLE_MS);
    return counted() - before;
  };
  for (const block of ['eve', 'ada']) await of(block, '0 0'); // a first message makes files
  const rows: [string, string, string][] = [
    ['without tools', 'eve', '0 0'],
    ['tools, none called', 'ada', '0 0'],
    ['1 turn of 1 call', 'ada', '1 1'],
    ['1 turn of 3 calls', 'ada', '1 3'],
    ['3 turns of 1 call', 'ada', '3 1'],
    ['3 turns of 3 calls', 'ada', '3 3'],
  ];
  for (const [what, block, message] of rows) {
    const all: number[] = [];
    for (let round = 0; round < 3; round += 1) all.push(await of(block, message));
    process.stdout.write(`syncs of a message, ${what}: ${median(all)} (${all.join(', ')})\n`);
  }
  await done();
}

/** From the kill switch to the end of all processes. */
async function halts(what: string, options: Parameters<ReturnType<typeof sessionsRig>['hostile']>[0], processes: number): Promise<void> {
  const all: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { hostile, call, sessions, pids } = sessionsRig(place());
    const calls = Array.from({ length: SERVERS }, (_, index) => call({ ...hostile(options), name: `s${index}` }, 'hang').catch(() => undefined));
    while (pids().length < SERVERS * processes) await delay(10);
    await delay(300);
    const from = performance.now();
    const halted = sessions.halt();
    while (pids().some(runs)) await delay(10);
    all.push(performance.now() - from);
    await Promise.all([halted, ...calls]);
    await done();
  }
  all.sort((a, b) => a - b);
  process.stdout.write(`the kill switch, ${SERVERS} ${what}: median ${median(all).toFixed(0)} ms, at most ${all.at(-1)?.toFixed(0)} ms, of ${ROUNDS}\n`);
}

await syncs();
await halts('servers that end as asked', {}, 1);
await halts('deaf servers, each with a process of its own', { deaf: true, atStart: 'grandchild' }, 2);
process.stdout.write(`load of the machine ${loadavg()[0]?.toFixed(1)}\n`);
