// A place in memory for the folders of tests, which write, flush and rename many small files: on a disk that is a third of their processor time.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder below which a group of specs has its own; unset where they lie in the usual place of tap. */
export const TEST_FOLDERS = 'BLOCKHOUSE_TEST_FOLDERS';

const MEMORY = '/dev/shm';
/** Far more than tests ever have at a time. A container often has 64 MiB, which is too little. */
const ENOUGH_BYTES = 2 * 1024 ** 3;

/** A new folder, which is removed when this process ends; undefined where there is no file system in memory, or not enough of it, or none that runs programs. */
export function memoryFolder(): string | undefined {
  if (process.platform !== 'linux' || freeBytes() < ENOUGH_BYTES) return undefined;
  const folder = mkdtempSync(join(MEMORY, 'blockhouse-tests-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  chmodSync(folder, 0o755); // PostgreSQL runs as another user where root runs the tests
  return runsPrograms(folder) ? folder : undefined;
}

function freeBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

function runsPrograms(folder: string): boolean {
  const probe = join(folder, 'probe');
  writeFileSync(probe, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(probe);
  rmSync(probe);
  return status === 0;
}
