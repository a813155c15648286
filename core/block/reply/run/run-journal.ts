// The journal of one message while its run goes on: what is appended is known at once.
//
// first-wins: two may add to one journal, such as a run whose deadline is over and a person who decides. The store takes one record of each number; who comes second
//   reads the journal again and says what it has to say of it then.
import { BlockhouseError } from '../../../errors.ts';
import type { RunRecord } from '../../../types.ts';
import type { AppendOptions, Claim, Conversation } from '../../../store/port.ts';
import { RunState } from '../../../tools/journal.ts';
import { type RecordListener, tellRecord } from './tell-records.ts';

/** Where records go, and whose they are. */
export interface JournalOptions {
  readonly conversation: Conversation;
  readonly claim: Claim | undefined;
  readonly messageId: string;
  readonly listener?: RecordListener | undefined;
}

const MAX_TRIES = 10;

/** Reads and writes one journal. */
export class RunJournal {
  readonly #options: JournalOptions;
  #state: RunState;
  /** One append at a time, each after the records before it. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(options: JournalOptions, records: readonly RunRecord[]) {
    this.#options = options;
    this.#state = new RunState(records);
  }

  /** Rejects with BLOCK_DAMAGED, STORAGE_FAILED. */
  static async open(options: JournalOptions): Promise<RunJournal> {
    return new RunJournal(options, await options.conversation.steps(options.messageId));
  }

  get state(): RunState {
    return this.#state;
  }

  /** On disk when it resolves, unless `quiet`. */
  append(records: readonly RunRecord[], options: AppendOptions = {}): Promise<void> {
    const { conversation, claim, messageId, listener } = this.#options;
    const done = this.#last.then(async () => {
      await conversation.appendSteps(claim, messageId, this.#state.count, records, options);
      for (const record of records) {
        this.#state.apply(record);
        if (listener !== undefined) tellRecord(listener, messageId, this.#state, record);
      }
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Appends what `make` says of the journal as it is (first-wins), and resolves with that. Rejects with what `make` throws. */
  async appendFor(make: (state: RunState) => readonly RunRecord[]): Promise<readonly RunRecord[]> {
    const { conversation, messageId } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const records = make(this.#state);
      try {
        if (records.length > 0) await this.append(records);
        return records;
      } catch (error) {
        if (!(error instanceof BlockhouseError && error.code === 'REVISION_MISMATCH') || tries >= MAX_TRIES) throw error;
        this.#state = new RunState(await conversation.steps(messageId));
      }
    }
  }
}
