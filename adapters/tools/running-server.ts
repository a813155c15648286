// One server at work: a session, and what ends it.
import { BlockhouseError, type ToolCallRequest, type ToolOutcome, type ToolQuestion } from '../../core/index.ts';
import type { CalledServer } from './client-session.ts';
import type { ListedTool } from './server.ts';

/** A server that was greeted. */
export interface RunningServer {
  readonly hasEnded: boolean;
  /** How it ended, as a part of a sentence. */
  readonly ended: Promise<string>;
  /** As `ToolHost.call`. */
  call(server: CalledServer, call: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome | ToolQuestion>;
  list(timeoutMs: number): Promise<readonly ListedTool[]>;
  /** Called at most once a second, after the list of tools has changed. */
  onTools: (() => void) | undefined;
  /** Resolves once nothing of it is left. */
  end(): Promise<void>;
}

/** True if a server was not reached because nobody has signed in to it: it has not failed. */
export function isUnsigned(error: unknown): boolean {
  if (error instanceof BlockhouseError && error.code === 'TOOL_NOT_BEGUN') return true;
  return error instanceof Error && error.cause !== undefined && isUnsigned(error.cause);
}

/** Calls `work` now and for what comes within `ms` once more after that. */
export class Throttle {
  readonly #work: () => void;
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;
  #isAsked = false;

  constructor(ms: number, work: () => void) {
    this.#work = work;
    this.#ms = ms;
  }

  ask(): void {
    if (this.#timer !== undefined) {
      this.#isAsked = true;
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isAsked) return;
      this.#isAsked = false;
      this.ask();
    }, this.#ms);
    this.#timer.unref();
    this.#work();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#isAsked = false;
  }
}
