// `wrk` as the load generator, where it is installed (a package of that name in Debian): a second opinion on requests per second and processor
// time from a client that is not a Node process. It counts every 200 as an answer and does not read the text.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Load, WholeRound } from './load.ts';
import { cpuMs } from './processes.ts';
import type { Target, WholeCall } from './targets.ts';

export function hasWrk(): boolean {
  return spawnSync('wrk', ['-v']).error === undefined;
}

/** One round with the request that the other generator sends, byte for byte. Rejects when any answer was not a 200. */
export async function loadWithWrk(target: Target, { request }: WholeCall, { concurrency, ms }: Load): Promise<WholeRound> {
  const folder = mkdtempSync(join(tmpdir(), 'blockhouse-wrk-'));
  const script = join(folder, 'request.lua');
  writeFileSync(script, `${luaOf(request)}${REPORT}`);
  try {
    const cpuBefore = cpuMs(target.pid);
    const args = ['-t1', `-c${concurrency}`, `-d${Math.max(1, Math.round(ms / 1000))}s`, '-s', script, `http://127.0.0.1:${target.port}`];
    const { stdout } = await promisify(execFile)('wrk', args);
    const cpu = cpuMs(target.pid) - cpuBefore;
    const found = readReport(stdout);
    if (found.wrong > 0 || found.count === 0) throw new Error(`${target.name} gave wrk ${found.wrong} wrong answers of ${found.count}.`);
    return {
      count: found.count,
      perSecond: found.count / (found.microseconds / 1e6),
      p50: found.p50 / 1000,
      p99: found.p99 / 1000,
      cpuUs: (cpu * 1000) / found.count,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function luaOf(request: Buffer): string {
  const bytes = [...request].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('');
  return `local text = "${bytes}"\nfunction request() return text end\n`;
}

const REPORT = `function done(summary, latency)
  local wrong = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  print(string.format("FOUND %d %d %d %d %d", summary.requests, summary.duration, wrong, latency:percentile(50), latency:percentile(99)))
end
`;

function readReport(stdout: string): { count: number; microseconds: number; wrong: number; p50: number; p99: number } {
  const [count = 0, microseconds = 1, wrong = 0, p50 = 0, p99 = 0] = (/^FOUND (.+)$/m.exec(stdout)?.[1] ?? '').split(' ').map(Number);
  return { count, microseconds, wrong, p50, p99 };
}
