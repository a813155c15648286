// What does a call of a tool cost? `npx tsx --expose-gc bench/tools.bench.ts [calls]` makes so many calls (2,000) of a server in a process of its own, then large results. Processor time
// is that of this process alone; a turn is the longest time that its event loop was held up.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSdk } from '../adapters/tools/sdk.ts';
import type { CallableServer } from '../adapters/tools/server.ts';
import { ServerSessions } from '../adapters/tools/sessions.ts';
import type { JsonRecord, ToolOutcome } from '../core/index.ts';
import { HOSTILE } from '../spec/support/tools/sessions-rig.ts';
import { nodeServer } from '../spec/support/tools/stand-in-book.ts';

const CALLS = Number(process.argv[2] ?? 2000);
const WARM_UP = 300;
const ROUNDS = 5;
const MIB = 1024 * 1024;

const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
const sessions = new ServerSessions({ workspace, env: process.env });
const wide = nodeServer('wide', [HOSTILE, '{}'], { settingsOf: { maxResultBytes: 16 * MIB } });
const usual = nodeServer('usual', [HOSTILE, '{}']);
let last = 0;
try {
  tell('loading the client package from its source', await taken(() => loadSdk()));
  await repeat(WARM_UP);
  const { cpuMs, ms } = await taken(() => repeat(CALLS));
  tell('a call', { ms: ms / CALLS, cpuMs: cpuMs / CALLS, turnMs: 0 });
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

async function repeat(times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) await call(wide, 'echo', { text: 'x' });
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
