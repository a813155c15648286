// Says what keeps a block from answering its messages now. Pure: no I/O.
import type { Standing } from '../store/port.ts';

/** Why no message is answered at present, and the command to look at or to run; undefined while the monitor works on messages. */
export function blockedBy(name: string, { state, isRunning }: Pick<Standing, 'state' | 'isRunning'>): string | undefined {
  if (!isRunning) return `The monitor is stopped, so nobody answers yet; \`blockhouse start ${name}\` starts it.`;
  if (state === 'waiting-approval') return `A call waits for a decision, so the message waits; \`blockhouse why ${name}\` says which.`;
  if (state === 'paused' || state === 'failed') return `The monitor is ${state}, so the message waits; \`blockhouse why ${name}\` says why.`;
  return undefined;
}

/** Why a wait for a message ends without its outcome: the same, except that a decision of a person may be waited for. */
export function endsWait(name: string, standing: Pick<Standing, 'state' | 'isRunning'>, waitsForPeople: boolean): string | undefined {
  return waitsForPeople && standing.isRunning && standing.state === 'waiting-approval' ? undefined : blockedBy(name, standing);
}
