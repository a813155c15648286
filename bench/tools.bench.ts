// What does a call of a tool cost? `npx tsx --expose-gc bench/tools.bench.ts [calls]` makes so many calls (2,000) of a server in a process of its own, over pipes and over HTTP, then large
// results; at the end, people decide about calls of a block. Processor time is that of this process alone; a turn is the longest time that its event loop was held up.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { loadSdk } from '../adapters/tools/sdk.ts';
import type { CallableServer } from '../adapters/tools/server.ts';
import { ServerSessions } from '../adapters/tools/sessions.ts';
import type { JsonRecord, ToolOutcome } from '../core/index.ts';
import { HOSTILE } from '../spec/support/tools/sessions-rig.ts';
import { FULL, nodeServer } from '../spec/support/tools/stand-in-book.ts';
import { pay, pendingIn, toolCore } from '../spec/support/tools/tool-core.ts';

const CALLS = Number(process.argv[2] ?? 2000);
const WARM_UP = 300;
const ROUNDS = 5;
const DECISIONS = 200;
const MIB = 1024 * 1024;

const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
const sessions = new ServerSessions({ workspace, env: process.env });
const wide = nodeServer('wide', [HOSTILE, '{}'], { settingsOf: { maxResultBytes: 16 * MIB } });
const usual = nodeServer('usual', [HOSTILE, '{}']);
let last = 0;
try {
  tell('loading the client package from its source', await taken(() => loadSdk()));
  await repeat(WARM_UP);
  tellCall('a call', await taken(() => repeat(CALLS)));
  const desk = spawn(process.execPath, ['--import=tsx', join(import.meta.dirname, 'servers/tools-http.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = await once(desk.stdout, 'data');
  const far: CallableServer = {
    ...{ name: 'far', definition: 'far', start: { kind: 'http', url: String(url).trim(), headers: {} } as const, settings: FULL, era: 'legacy' as const },
    secrets: [],
  };
  await repeat(WARM_UP, far);
  tellCall('a call over HTTP', await taken(() => repeat(CALLS, far)));
  desk.kill();
  for (let round = 0; round < ROUNDS; round += 1) tell('a result of 8 MB', await taken(() => call(wide, 'big', { bytes: 8_000_000 })));
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  tell('a result of 50 MB, which is not taken', await taken(() => call(usual, 'big', { bytes: 50_000_000 })));
  clearInterval(watch);
  process.stdout.write(`memory for that: ${((peak - before) / MIB).toFixed(1)} MiB\n`);
} finally {
  await sessions.close();
  rmSync(workspace, { recursive: true, force: true });
}

await decide();

async function repeat(times: number, server = wide): Promise<void> {
  for (let at = 0; at < times; at += 1) await call(server, 'echo', { text: 'x' });
}

/** How long after a person's decision its call begins. */
async function decide(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
  const ends: (() => unknown)[] = [];
  const test = { teardown: (end: () => unknown) => void ends.unshift(end), testdir: () => folder } as unknown as Test;
  const say = ({ results }: { readonly results: readonly unknown[] }) => (results.length === 0 ? [pay('bob')] : 'Done.');
  const one = await toolCore(test, { say, rules: { servers: ['bank'], ask: ['*'] } });
  const waits: number[] = [];
  let decided = 0;
  const makeCall = one.host.call.bind(one.host);
  one.host.call = async (request, signal) => {
    waits.push(performance.now() - decided);
    return makeCall(request, signal);
  };
  for (let at = 0; at < DECISIONS; at += 1) {
    const id = await one.post('Pay.');
    const [asked] = await pendingIn(one);
    await one.inState('ada', 'waiting-approval');
    decided = performance.now();
    await one.blocks.decideApproval(asked?.id ?? '', { decision: 'approve', digest: asked?.digest ?? '' }, { channel: 'cli', name: 'token' });
    await one.outcome(id);
  }
  waits.sort((a, b) => a - b);
  const part = (share: number): string => (waits[Math.floor(share * (waits.length - 1))] ?? 0).toFixed(1);
  process.stdout.write(`from a decision to its call, of ${waits.length}: p50 ${part(0.5)} ms, p99 ${part(0.99)} ms\n`);
  for (const end of ends) await end();
  rmSync(folder, { recursive: true, force: true });
}

function tellCall(what: string, { ms, cpuMs }: Took): void {
  tell(what, { ms: ms / CALLS, cpuMs: cpuMs / CALLS, turnMs: 0 });
}

function call(server: CallableServer, tool: string, args: JsonRecord): Promise<ToolOutcome> {
  last += 1;
  const request = { block: 'ada', server: server.name, tool, arguments: args, pin: 'p', timeoutMs: 60_000, maxBytes: 64 * MIB, callId: `ada/m/${last}.1` };
  return sessions.call(server, request, new AbortController().signal) as Promise<ToolOutcome>;
}

interface Took {
  readonly ms: number;
  readonly cpuMs: number;
  readonly turnMs: number;
}

async function taken(work: () => Promise<unknown>): Promise<Took> {
  let turnMs = 0;
  let seen = performance.now();
  const timer = setInterval(() => {
    turnMs = Math.max(turnMs, performance.now() - seen);
    seen = performance.now();
  }, 1);
  const from = performance.now();
  const cpu = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(timer);
  return { ms: performance.now() - from, cpuMs: (user + system) / 1000, turnMs };
}

function tell(what: string, { ms, cpuMs, turnMs }: Took): void {
  process.stdout.write(`${what}: ${ms.toFixed(2)} ms, ${cpuMs.toFixed(2)} ms of CPU${turnMs > 1 ? `, longest turn ${Math.round(turnMs)} ms` : ''}\n`);
}
