// Where calls wait for people, over all blocks, and where they have waited. It says which journals to read; what is in them is the truth.
//
// read-when-asked: what waits is found through the list of blocks, whose entries say how many messages of a block are in work, and through the conversations of those.
//   So it costs a start nothing, is right after a restart, and keeps no memory of what waits. A store that several servers share has all approvals, and is asked instead.
// as-soon-as-told: the list of blocks, and the status of a message, say that a call waits a moment after the bus has told it. Who looks at once finds the call all the same.
// one-after-the-other: decisions about one call are made in the order in which they came, so that of two that are alike the second is refused as well.
// by-way-of-the-archive: a block may be renamed by two moves. What was decided for one that goes into the archive is not shown until it has its new name.
// bounded: of calls that do not wait any more, the places of the newest are remembered, not the calls.
import type { CoreBus } from '../bus.ts';
import type { BlockEntry } from '../schemas/block-api.ts';
import type { ApprovalStore } from '../store/approvals.ts';
import type { Conversation } from '../store/port.ts';
import type { ShownApproval } from '../types.ts';
import { unlessDamaged } from './status/readiness.ts';

/** Where an approval is. */
export interface ApprovalPlace {
  readonly block: string;
  readonly messageId: string;
}

/** One that does not wait any more. */
export interface DecidedPlace extends ApprovalPlace {
  readonly id: string;
  readonly state: Exclude<ShownApproval['state'], 'pending'>;
  /** Sorts by time, and no two are alike. */
  readonly key: string;
}

/** What the index looks at. */
export interface ApprovalIndexOptions {
  readonly bus: CoreBus;
  now(): number;
  list(): Promise<readonly BlockEntry[]>;
  conversation(block: string): Promise<Conversation>;
  /** Undefined where this process alone has the journals. */
  readonly stored?: ApprovalStore | undefined;
}

const MAX_KNOWN = 2000;

/** Finds approvals. */
export class ApprovalIndex {
  readonly #options: ApprovalIndexOptions;
  /** In the order in which they came. bounded. */
  readonly #asked = new Map<string, ApprovalPlace>();
  readonly #decided = new Map<string, DecidedPlace & { readonly isArchived?: boolean }>();
  readonly #deciding = new Map<string, Promise<unknown>>();
  #count = 0;

  constructor(options: ApprovalIndexOptions) {
    this.#options = options;
    options.bus.on('approval.requested', ({ block, id, approval }) => remember(this.#asked, approval, { block, messageId: id }));
    options.bus.on('approval.decided', ({ block, id, approval, state }) => {
      this.#asked.delete(approval);
      this.#count += 1;
      const key = `${new Date(options.now()).toISOString()} ${String(this.#count).padStart(12, '0')}`;
      remember(this.#decided, approval, { block, messageId: id, id: approval, state, key });
    });
    options.bus.on('block.archived', ({ block }) => this.#forget(block));
    options.bus.on('block.renamed', ({ from, block }) => this.#renamed(from, block));
  }

  /** All approvals, where the store has them. */
  get stored(): ApprovalStore | undefined {
    return this.#options.stored;
  }

  /** The messages that wait, in all blocks or in one. A block that is damaged or gone has none. */
  async waiting(block?: string): Promise<{ readonly place: ApprovalPlace; readonly ids: readonly string[] }[]> {
    const listed = (await this.#options.list()).flatMap(({ name, queue }) => (queue > 0 ? [name] : []));
    const told = [...this.#asked.values()].map((place) => place.block); // as-soon-as-told
    const names = [...new Set([...listed, ...told])].filter((name) => block === undefined || name === block);
    const found: { place: ApprovalPlace; ids: readonly string[] }[] = [];
    for (const name of names) {
      for (const { id, status, waitingFor = [] } of await this.#entriesOf(name)) {
        const ids = status === 'waiting-approval' ? waitingFor : status === 'processing' ? this.#askedFor(name, id) : [];
        if (ids.length > 0) found.push({ place: { block: name, messageId: id }, ids });
      }
    }
    return found;
  }

  /** as-soon-as-told. */
  #askedFor(block: string, messageId: string): readonly string[] {
    return [...this.#asked].flatMap(([id, place]) => (place.block === block && place.messageId === messageId ? [id] : []));
  }

  /** Those that do not wait any more, the newest first. */
  decided(state: DecidedPlace['state'], block?: string): DecidedPlace[] {
    return [...this.#decided.values()]
      .filter((one) => one.isArchived !== true && one.state === state && (block === undefined || one.block === block))
      .reverse();
  }

  /** Where an approval is; undefined if that is not known. */
  async placeOf(id: string): Promise<ApprovalPlace | undefined> {
    if (this.stored !== undefined) {
      const found = await this.stored.find(id); // what is remembered here may have another name at another server
      return found && { block: found.block, messageId: found.approval.messageId };
    }
    const decided = this.#decided.get(id);
    const known = decided?.isArchived === true ? undefined : (decided ?? this.#asked.get(id));
    if (known !== undefined) return known;
    return (await this.waiting()).find(({ ids }) => ids.includes(id))?.place;
  }

  /** Does the work about a call after the work that came before (one-after-the-other). */
  async inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const doing = (this.#deciding.get(id) ?? Promise.resolve()).then(work);
    const over = doing.catch(() => undefined); // the caller gets the failure
    this.#deciding.set(id, over);
    try {
      return await doing;
    } finally {
      if (this.#deciding.get(id) === over) this.#deciding.delete(id);
    }
  }

  async #entriesOf(block: string) {
    try {
      return (await (await this.#options.conversation(block)).entries().catch(unlessDamaged)) ?? [];
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === 'BLOCK_NOT_FOUND') return [];
      throw error;
    }
  }

  /** A block in the archive has nothing to decide. It may come back under another name, and what it waits for is found in its conversation then. */
  #forget(block: string): void {
    for (const [id, place] of this.#asked) if (place.block === block) this.#asked.delete(id);
    for (const [id, place] of this.#decided) {
      if (place.block !== block) continue;
      if (place.isArchived)
        this.#decided.delete(id); // of an earlier block with its name
      else this.#decided.set(id, { ...place, isArchived: true }); // by-way-of-the-archive
    }
  }

  /** Each stays where it is in its order. */
  #renamed(from: string, block: string): void {
    for (const [id, place] of this.#asked) if (place.block === from) this.#asked.set(id, { ...place, block });
    for (const [id, place] of this.#decided) if (place.block === from) this.#decided.set(id, { ...place, block, isArchived: false });
  }
}

function remember<P>(known: Map<string, P>, id: string, place: P): void {
  known.delete(id);
  known.set(id, place);
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
}
