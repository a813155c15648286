// A process that races for the lock of a workspace: says `ready`, and then for each line that it reads tries once for the lock of the
// workspace that the line names, or gives back what it has at an empty line. Says what came of it.
import { createInterface } from 'node:readline';
import { BlockhouseError } from '../../core/errors.ts';
import { WorkspaceLock } from '../../core/store/files/lock.ts';

let lock: WorkspaceLock | undefined;

async function obey(workspace: string): Promise<string> {
  try {
    if (workspace === '') await lock?.release();
    else lock = await WorkspaceLock.acquire(workspace);
    return workspace === '' ? 'released' : 'taken';
  } catch (error) {
    if (error instanceof BlockhouseError) return `${error.code} ${error.message}`;
    throw error;
  }
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${await obey(line)}\n`);
