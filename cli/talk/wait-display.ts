// Shows on a terminal what a message waits for, until its reply shows.
//
// text-stays: a spinner erases the line that it is drawn on, so it does not come back behind text that ends without a newline.
import type { ChatEntry } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import type { Spinner } from '../terminal/spinner.ts';
import { waitText } from '../views/wait-text.ts';
import type { Watcher } from './conversation.ts';

/** The newest messages that are looked at to count those before one. */
const LOOK_BACK = '100';
const OPEN: readonly string[] = ['queued', 'processing', 'waiting-approval'];

/** The message that is waited for. */
export interface Awaited {
  readonly api: Api;
  readonly block: string;
  readonly id: string;
  /** The messages before it when it was sent. */
  readonly ahead: number;
  /** Whether the monitor runs. */
  readonly isRunning: boolean;
  /** Whether the text is printed while it is written. */
  readonly isStreamed: boolean;
}

/** Adds the spinner to a watcher; the caller stops it at the end. Returns the watcher itself when the output is not a terminal. */
export function withSpinner(watcher: Watcher, spinner: Spinner, { api, block, id, ahead: first, isRunning, isStreamed }: Awaited): Watcher {
  if (!spinner.isWatched) return watcher;
  let entry: Pick<ChatEntry, 'status' | 'nextAttemptAt'> = { status: 'queued' };
  let ahead = first;
  let other = isRunning ? undefined : 'waiting for the block to be started';
  const show = (): void => spinner.wait(() => other ?? waitText(entry, ahead, Date.now()));
  show();
  return {
    ...watcher,
    async step(step) {
      other = step.event === 'content' ? 'the answer is being written' : undefined;
      if (step.event === 'start') entry = { status: 'processing' };
      if (step.event === 'content' && isStreamed) spinner.stop();
      // text-stays: the steps that begin or break off an answer also begin a new line.
      else if (step.event !== 'done' || !isStreamed) show();
      await watcher.step?.(step);
    },
    async waiting(found) {
      entry = found;
      if (found.status === 'queued') {
        const before = await api.history(block, { before: id, limit: LOOK_BACK });
        ahead = before.filter(({ role, status }) => role === 'user' && OPEN.includes(status)).length;
      }
      await watcher.waiting?.(found);
    },
    async connection(state) {
      other = state === 'lost' ? 'waiting for the server' : undefined;
      show();
      await watcher.connection?.(state);
    },
  };
}
