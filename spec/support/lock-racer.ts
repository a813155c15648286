// A process that races for the lock of a workspace: says `ready`, waits for a line, tries once, and says what came of it.
import { once } from 'node:events';
import { BlockhouseError } from '../../core/errors.ts';
import { WorkspaceLock } from '../../core/workspace/lock.ts';

const [, , workspace = ''] = process.argv;
process.stdout.write('ready\n');
await once(process.stdin, 'data');
try {
  const lock = await WorkspaceLock.acquire(workspace);
  process.stdout.write('taken\n');
  // A further line: give it back. The end of the input: die with it.
  const [line] = (await Promise.race([once(process.stdin, 'data'), once(process.stdin, 'end')])) as [Buffer | undefined];
  if (line !== undefined) await lock.release();
} catch (error) {
  if (!(error instanceof BlockhouseError)) throw error;
  process.stdout.write(`${error.code} ${error.message}\n`);
}
process.exit();
