// What others say to a block while a person talks with it: another block, a schedule, a hook, a program, another terminal. It is shown above the question.
//
// not-in-between: nothing is shown while a reply is shown or something is typed; it waits until then.
// once-each: a message is shown when it is found, and again only with an outcome that is no answer; an answer is shown when it is complete.
// shown-not-chosen: of a call that waits for a person only a note is shown; /show shows it, so that no decision typed for one call meets another one.
import type { ChatEntry } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { CliError } from '../terminal/exit-codes.ts';
import type { View } from '../views/block-text.ts';
import { conversationText } from '../views/conversation-text.ts';

/** The newest entries that are looked at. */
const LOOK_BACK = '50';
const PAUSE_MS = 250;
/** What is no news of a message that was shown: its answer is. */
const PLAIN: readonly string[] = ['queued', 'processing', 'done'];

/** Whose messages are shown, and where. */
export interface OthersOptions {
  readonly api: Api;
  readonly block: string;
  view(): View;
  /** Writes lines above the question, or returns false while it can't (not-in-between). */
  show(lines: readonly string[]): boolean;
  /** Sent in this conversation. */
  isOwn(messageId: string): boolean;
  /** While a message is being sent or its reply is shown. */
  isBusy(): boolean;
}

/** Watches the conversation of one block. */
export class Others {
  readonly #options: OthersOptions;
  /** What was there or was shown: entries with their outcomes (once-each). */
  #known: ReadonlySet<string> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isDue = false;
  #isClosed = false;

  constructor(options: OthersOptions) {
    this.#options = options;
  }

  /** The block may have changed. */
  changed(): void {
    this.#isDue = true;
    this.#soon();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #soon(): void {
    if (this.#timer !== undefined || this.#isLooking || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#look();
    }, PAUSE_MS).unref();
  }

  /** Never rejects for a server that is away: it is looked at again after the next change. */
  async #look(): Promise<void> {
    if (this.#options.isBusy()) return this.#soon();
    this.#isLooking = true;
    this.#isDue = false;
    try {
      const entries = await this.#options.api.history(this.#options.block, { limit: LOOK_BACK });
      if (!this.#isClosed && !this.#take(entries)) this.#isDue = true;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
    } finally {
      this.#isLooking = false;
    }
    if (this.#isDue) this.#soon();
  }

  /** False while nothing can be shown. */
  #take(entries: readonly ChatEntry[]): boolean {
    const { block, view, show, isOwn, isBusy } = this.#options;
    const known = this.#known;
    const fresh = known === undefined ? [] : entries.filter((entry) => isNews(entry, known) && !isOwn(entry.replyTo ?? entry.id));
    if (fresh.length > 0) {
      const waits = fresh.some(({ status }) => status === 'waiting-approval') ? ['note: a call waits for a decision; /show shows it.'] : [];
      if (isBusy() || !show(['', ...conversationText(block, fresh, view(), entries), ...waits])) return false;
    }
    this.#known = new Set(entries.flatMap((entry) => [entry.id, keyOf(entry)]));
    return true;
  }
}

function isNews(entry: ChatEntry, known: ReadonlySet<string>): boolean {
  return !known.has(entry.id) || (entry.role === 'user' && !PLAIN.includes(entry.status) && !known.has(keyOf(entry)));
}

function keyOf({ id, status }: ChatEntry): string {
  return `${id} ${status}`;
}
