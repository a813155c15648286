// Says what keeps a block from answering its messages now. Pure: no I/O.
import type { Block } from './block.ts';

/** Why no message is answered at present, and the command to look at or to run; undefined while the monitor works on messages. */
export function blockedBy({ name, state, isRunning }: Pick<Block, 'name' | 'state' | 'isRunning'>): string | undefined {
  if (!isRunning) return `The monitor is stopped, so nobody answers yet; \`blockhouse start ${name}\` starts it.`;
  if (state === 'paused' || state === 'failed') return `The monitor is ${state}, so the message waits; \`blockhouse why ${name}\` says why.`;
  return undefined;
}
