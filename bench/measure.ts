// What several benches need: shares of samples, what the system says of a process, what the disk can do, workspaces of any size.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** The value below which this share of the samples lies. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Linux only; elsewhere 0. */
export function residentKiB(pid: number): number {
  const line = process.platform === 'linux' ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) : null;
  return Number(line?.[1] ?? 0);
}

/** Of Linux, on all its platforms. */
const TICKS_PER_SECOND = 100;

/** Seconds that all threads of a process have computed; Linux only, elsewhere 0. */
export function cpuSeconds(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Files a second that one writer can replace durably: create, write, fsync, rename, fsync the folder. */
export async function replacementsPerSecond(folder: string, bytes: number, seconds: number): Promise<number> {
  const content = Buffer.alloc(bytes, 'x');
  const from = performance.now();
  let count = 0;
  while (performance.now() - from < seconds * 1000) {
    const file = await open(join(folder, 'probe.tmp'), 'wx');
    await file.write(content);
    await file.sync();
    await file.close();
    await rename(join(folder, 'probe.tmp'), join(folder, 'probe'));
    const handle = await open(folder, 'r');
    await handle.sync();
    await handle.close();
    count += 1;
  }
  return count / ((performance.now() - from) / 1000);
}

/** Blocks as the server writes them, with a short chat, `enabled` or not. */
export function writeBlocks(workspace: string, count: number, config: object = {}, entries = 2): string[] {
  const at = '2026-11-20T14:03:22.123Z';
  const names = Array.from({ length: count }, (_, index) => `block-${String(index).padStart(5, '0')}`);
  const chat = Array.from({ length: entries }, (_, index) => ({
    id: `m0mwp0000${index}000012345678`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: 'Some words that were said, as long as a short sentence is.',
    timestamp: at,
    processed: true,
    status: 'done',
    channel: 'web',
    ...(index % 2 === 1 && { replyTo: `m0mwp0000${index - 1}000012345678` }),
  }));
  for (const name of names) {
    const folder = join(workspace, 'blocks', name);
    for (const inside of ['chat-archive', 'logs']) mkdirSync(join(folder, inside), { recursive: true, mode: 0o700 });
    const adapter = { provider: 'ollama', model: 'm' };
    const whole = { name, description: 'One of many', adapter, ...config, createdAt: at, updatedAt: at, rev: 1 };
    const put = (file: string, content: unknown): void => writeFileSync(join(folder, file), `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
    put('config.json', whole);
    put('chat.json', chat);
  }
  return names;
}
