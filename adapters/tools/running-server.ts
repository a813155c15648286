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
  /** Called after the list of tools has changed: at most once a second, and ever more rarely for one that changes without end. */
  onTools: (() => void) | undefined;
  /** Resolves once nothing of it is left. */
  end(): Promise<void>;
}

/** True if a server was not reached because nobody has signed in to it: it has not failed. */
export function isUnsigned(error: unknown): boolean {
  if (error instanceof BlockhouseError && error.code === 'TOOL_NOT_BEGUN') return true;
  return error instanceof Error && error.cause !== undefined && isUnsigned(error.cause);
}

/** The longest pause is so many times the first one. After as long a quiet one, the next is as short as the first again. */
const MAX_GROWTH = 64;

/** Calls `work` now, and for what comes in the pause after it once more at its end. Each pause is twice as long as the one before. */
export class Throttle {
  readonly #work: () => void;
  readonly #ms: number;
  #pauseMs: number;
  #pause: NodeJS.Timeout | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #isAsked = false;

  constructor(ms: number, work: () => void) {
    this.#work = work;
    this.#ms = ms;
    this.#pauseMs = ms;
  }

  ask(): void {
    if (this.#pause !== undefined) {
      this.#isAsked = true;
      return;
    }
    clearTimeout(this.#quiet);
    this.#pause = setTimeout(() => this.#goOn(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, this.#mostMs);
    this.#work();
  }

  end(): void {
    clearTimeout(this.#pause);
    clearTimeout(this.#quiet);
    this.#isAsked = false;
  }

  #goOn(): void {
    this.#pause = undefined;
    if (this.#isAsked) {
      this.#isAsked = false;
      this.ask();
    } else
      this.#quiet = setTimeout(() => {
        this.#pauseMs = this.#ms;
      }, this.#mostMs).unref();
  }

  get #mostMs(): number {
    return this.#ms * MAX_GROWTH;
  }
}
