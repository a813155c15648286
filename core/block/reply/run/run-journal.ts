// The journal of one message while its run goes on: what is appended is known at once.
import type { RunRecord } from '../../../types.ts';
import type { AppendOptions, Claim, Conversation } from '../../../store/port.ts';
import { RunState } from '../../../tools/journal.ts';

/** Where records go, and whose they are. */
export interface JournalOptions {
  readonly conversation: Conversation;
  readonly claim: Claim | undefined;
  readonly messageId: string;
}

/** Reads and writes one journal. */
export class RunJournal {
  readonly state: RunState;
  readonly #options: JournalOptions;
  /** One append at a time, each after the records before it. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(options: JournalOptions, records: readonly RunRecord[]) {
    this.#options = options;
    this.state = new RunState(records);
  }

  /** Rejects with BLOCK_DAMAGED, STORAGE_FAILED. */
  static async open(options: JournalOptions): Promise<RunJournal> {
    return new RunJournal(options, await options.conversation.steps(options.messageId));
  }

  /** On disk when it resolves, unless `quiet`. */
  append(records: readonly RunRecord[], options: AppendOptions = {}): Promise<void> {
    const { conversation, claim, messageId } = this.#options;
    const done = this.#last.then(async () => {
      await conversation.appendSteps(claim, messageId, this.state.count, records, options);
      for (const record of records) this.state.apply(record);
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}
