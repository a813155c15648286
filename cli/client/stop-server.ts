// Ends the server of a workspace, as Ctrl-C in its terminal would.
//
// no-stranger: where the system does not say when a process has started, the number in the lock may by now be that of another program. The server must answer then.
import { setTimeout as delay } from 'node:timers/promises';
import { Api } from './api.ts';
import { Client, runningServer } from './client.ts';
import { CliError, errorCodeOf } from '../terminal/exit-codes.ts';

/** Longer than a server takes to end: `BLOCKHOUSE_DRAIN_MS`, and then the replies of blocks. */
const PATIENCE_MS = 20_000;
const POLL_MS = 50;

/** Resolves with the number of the process once it has ended, undefined where no server runs. Rejects with a CliError. */
export async function stopServer(workspace: string, signal: AbortSignal, patienceMs = PATIENCE_MS): Promise<number | undefined> {
  const place = await runningServer(workspace);
  if (place === undefined) return undefined;
  const { pid } = place;
  const { readLock } = await import('../../core/client-parts.ts');
  if ((await readLock(workspace))?.processStart === null) await new Api(new Client(place, signal)).health(); // no-stranger
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if (errorCodeOf(error) === 'EPERM') throw new CliError('place', `The server (process ${pid}) belongs to another user, who may stop it.`, error);
    if (errorCodeOf(error) !== 'ESRCH') throw error; // it has just ended
  }
  for (let waited = 0; (await readLock(workspace))?.pid === pid; waited += POLL_MS) {
    if (waited >= patienceMs)
      throw new CliError('server', `The server (process ${pid}) has not ended yet; \`kill -9 ${pid}\` ends it at once, and keeps what it has acknowledged.`);
    await delay(POLL_MS, undefined, { signal });
  }
  return pid;
}
