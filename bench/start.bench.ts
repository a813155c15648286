// How soon does a started process answer, and what does it hold when nothing happens?
//
// Measured on the built server, from outside: milliseconds from spawn to the first 200 of /v1/health, asked for as soon as the process has told
// its URL, and resident memory after it has been idle. A bare `node -e 0` beside it says what of the time is Node itself.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIST, launch, rssMiB, type Server, sleep } from './harness/processes.ts';
import { spreadOf } from './harness/stats.ts';

const ROUNDS = 15;
const IDLE_MS = 3000;

const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
const starts: number[] = [];
const bare: number[] = [];
let idleRssMiB = 0;
for (let round = 0; round < ROUNDS; round += 1) {
  bare.push(await timeBareNode());
  const { ms, server } = await timeStart();
  starts.push(ms);
  if (round === ROUNDS - 1) {
    await sleep(IDLE_MS);
    idleRssMiB = rssMiB(server.pid);
  }
  await server.stop();
}
rmSync(workspace, { recursive: true });

const result = {
  node: process.version,
  rounds: ROUNDS,
  healthMs: { median: spreadOf(starts).median, worst: spreadOf(starts).high },
  bareNodeMs: { median: spreadOf(bare).median },
  idleRssMiB,
};
process.stdout.write(
  [
    `start to first healthy answer   ${result.healthMs.median.toFixed(0)} ms (median of ${ROUNDS}), ${result.healthMs.worst.toFixed(0)} ms worst; bar 500 ms`,
    `bare node start and exit        ${result.bareNodeMs.median.toFixed(0)} ms (median)`,
    `resident memory, idle           ${idleRssMiB.toFixed(1)} MiB after ${IDLE_MS / 1000} s; bar 90 MB`,
    JSON.stringify(result),
    '',
  ].join('\n'),
);

async function timeStart(): Promise<{ ms: number; server: Server }> {
  const from = performance.now();
  const server = await launch({ name: 'gateway', args: [join(DIST, 'cli', 'main.js'), 'serve', '--port', '0', '--json', '--workspace', workspace] });
  const response = await fetch(`${server.url}/v1/health`);
  await response.text();
  if (response.status !== 200) throw new Error(`the server answered ${response.status}`);
  return { ms: performance.now() - from, server };
}

async function timeBareNode(): Promise<number> {
  const from = performance.now();
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  return performance.now() - from;
}
