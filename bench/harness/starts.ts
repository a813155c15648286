// Starts of the built server, from outside: milliseconds from spawn to the first 200 of /v1/health, asked for as soon as the process has told its URL.
// Before each of them a bare `node -e 0` starts and ends, which says what of the time is Node itself.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIST, launch, rssMiB, type Server, sleep } from './processes.ts';

const IDLE_MS = 3000;

export interface Starts {
  readonly healthMs: readonly number[];
  readonly bareNodeMs: readonly number[];
  /** Resident memory of the last server when it has been idle for three seconds; 0 if it was not asked for. */
  readonly idleRssMiB: number;
}

/** So many starts on one workspace, one after the other. */
export async function measureStarts(rounds: number, asksMemory = true): Promise<Starts> {
  const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
  const healthMs: number[] = [];
  const bareNodeMs: number[] = [];
  let idleRssMiB = 0;
  for (let round = 0; round < rounds; round += 1) {
    bareNodeMs.push(await timeBareNode());
    const { ms, server } = await timeStart(workspace);
    healthMs.push(ms);
    if (asksMemory && round === rounds - 1) {
      await sleep(IDLE_MS);
      idleRssMiB = rssMiB(server.pid);
    }
    await server.stop();
  }
  rmSync(workspace, { recursive: true });
  return { healthMs, bareNodeMs, idleRssMiB };
}

async function timeStart(workspace: string): Promise<{ ms: number; server: Server }> {
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
