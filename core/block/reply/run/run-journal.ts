// The journal of one message while its run goes on: what is appended is known at once.
//
// first-wins: two may add to one journal, such as a run whose deadline is over and a person who decides. The store takes one record of each number; who comes second
//   reads the journal again and says what it has to say of it then.
// paid-once: a call of a tool with a price is in the ledger before the record that says that it ran or may have run, and once, however often it was sent. One that a
//   process before this one may have paid for is looked for in the ledger first. A probe that a crash has cut off is paid with the outcome of the call that it was about.
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
  /** paid-once. Rejects where the ledger can't be written. */
  readonly pay?: ((paid: PaidCall) => Promise<void>) | undefined;
}

/** A call of a tool that costs something. */
export interface PaidCall {
  readonly place: string;
  /** `server/tool`; of a probe, the tool whose call it was asked about. */
  readonly tool: string;
  readonly usd: number;
  /** It may be in the ledger, and is not older than this there: ISO 8601. Undefined where it can't be. */
  readonly maybeSince: string | undefined;
}

const MAX_TRIES = 10;

/** The place of the probe of a call. */
const probeOf = (place: string): string => `${place}p`;

/** Reads and writes one journal. */
export class RunJournal {
  readonly #options: JournalOptions;
  #state: RunState;
  /** One append at a time, each after the records before it. */
  #last: Promise<unknown> = Promise.resolve();
  /** By place: what was sent and is not paid, and since when a process before this one may have paid for it. */
  readonly #unpaid = new Map<string, { readonly usd: number; readonly maybeSince: string | undefined }>();

  private constructor(options: JournalOptions, records: readonly RunRecord[]) {
    this.#options = options;
    this.#state = new RunState(records);
    const since = records.find((record) => 'at' in record)?.at;
    for (const record of records) this.#note(record, since);
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
      for (const record of records) await this.#pay(record);
      await conversation.appendSteps(claim, messageId, this.#state.count, records, options);
      for (const record of records) {
        this.#state.apply(record);
        this.#note(record, undefined);
        if (listener !== undefined) tellRecord(listener, messageId, this.#state, record);
      }
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  #note(record: RunRecord, maybeSince: string | undefined): void {
    const { usd = 0 } = record.t === 'call' ? record : {};
    if (record.t === 'call' && usd > 0 && !this.#unpaid.has(record.call)) this.#unpaid.set(record.call, { usd, maybeSince });
    else if (record.t === 'result' || record.t === 'unknown' || record.t === 'refused')
      for (const place of [record.call, probeOf(record.call)]) this.#unpaid.delete(place);
  }

  /** paid-once. */
  async #pay(record: RunRecord): Promise<void> {
    if (record.t !== 'result' && record.t !== 'unknown' && record.t !== 'refused') return;
    if (record.t !== 'refused') await this.#payFor(record.call);
    await this.#payFor(probeOf(record.call));
  }

  async #payFor(place: string): Promise<void> {
    const unpaid = this.#unpaid.get(place);
    if (unpaid === undefined) return;
    const tool = this.#state.callAt(place.replace(/p$/, ''))?.asked.tool ?? '';
    await this.#options.pay?.({ place, tool, ...unpaid });
    this.#unpaid.delete(place);
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
