// A block whose page is open: its files, its chat, why it is as it is, and the reply that it writes.
//
// never-emptied: what is shown stays until what replaces it is there.
// not-a-storm: however often the server says that something has changed, the block is read at most three times a second, and never twice at a time.
// once-a-frame: pieces of a reply are collected and published once per frame; a hidden page only collects.
// shown-once: a reply that has its entry is not drawn beside it. The socket and a read are two connections, so its last steps may come after the entry.
import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { BlockConfig, BlockCosts, BlockMemory, BlockPulse, BlockState, ChatEntry, ChatHistory } from '../../../core/types.ts';
import type { Timers } from '../base/clock.ts';
import { ApiError } from './api-error.ts';
import type { Why } from './cures.ts';
import { type Entries, isShort, isUnfinished, type Line, linesOf, withNewest, withOlder, withVersion } from './entries.ts';
import type { Frame } from './frame.ts';
import type { Outbox } from './outbox.ts';
import { blockURL } from './paths.ts';
import { afterStep, type Reply, type Step } from './reply.ts';
import type { Socket } from './socket.ts';

/** Shown at first, and read at once when somebody scrolls up. */
export const PAGE_ENTRIES = 40;
const LARGEST_PAGE = 500;
/** How often older entries are read at first because of versions that are folded away. */
const MAX_FOLDED_PAGES = 5;
const MIN_MS = 300;
/** A page below this size has fewer entries than asked for only if there are no more. */
const WHOLE_CHARACTERS = 2_000_000;

/** The files of a block, with every field: the server fills in what a file leaves out. */
export interface Details {
  readonly name: string;
  readonly config: BlockConfig;
  readonly memory: BlockMemory;
  readonly costs: BlockCosts;
  readonly pulse: BlockPulse;
}

/** What a block is followed with. */
export interface Means {
  readonly socket: Pick<Socket, 'follow' | 'connection' | 'isSettled'>;
  readonly outbox: Pick<Outbox, 'messages' | 'drop'>;
  readonly isVisible: ReadonlySignal<boolean>;
  readonly timers: Timers;
  /** `GET path`; `data` is undefined for a 304. Rejects with an ApiError. */
  read<T>(path: string, etag?: string): Promise<{ readonly status: number; readonly data: T; readonly etag: string | undefined }>;
  /** Runs something with the next frame; the returned function prevents it. */
  onFrame(run: () => void): () => void;
}

/** A block that is followed. */
export class OpenBlock {
  readonly name: string;
  readonly details: Signal<Details | undefined> = signal(undefined);
  readonly why: Signal<Why | undefined> = signal(undefined);
  readonly entries: Signal<Entries> = signal(new Map());
  readonly reply: Signal<Reply | undefined> = signal(undefined);
  /** What went wrong when the block was last read. */
  readonly error: Signal<unknown> = signal(undefined);
  readonly isRead: Signal<boolean> = signal(false);
  readonly hasOlder: Signal<boolean> = signal(false);
  /** The block was archived or renamed. */
  readonly isGone: Signal<boolean> = signal(false);
  readonly lines: ReadonlySignal<readonly Line[]>;
  /** What the block does: the reply that comes is newer than what was read. Undefined until it is read. */
  readonly state: ReadonlySignal<BlockState | undefined>;
  readonly #replyLine: Signal<{ readonly id: string; readonly key: string } | undefined> = signal(undefined);
  /** Which version of a message is shown, by its newest one. */
  readonly #chosen: Signal<ReadonlyMap<string, string>> = signal(new Map());
  readonly #keys = new Map<string, string>();
  /** Of the last answer about each thing, and the path that it came from. */
  readonly #etags = new Map<'details' | 'chat', { readonly path: string; readonly etag: string | undefined }>();
  #next: Reply | undefined;
  #seq: number | undefined;
  /** The newest read is at least as new as this step. */
  #readSeq = 0;
  /** Prevents what the next frame would show; undefined if it would show nothing new. */
  #cancelFrame: (() => void) | undefined;
  #replies = 0;
  #isOpen = false;
  #isReading = false;
  #isWanted = false;
  #lastAt = Number.NEGATIVE_INFINITY;
  #cancelTimer = (): void => undefined;
  readonly #means: Means;

  constructor(name: string, means: Means) {
    this.name = name;
    this.#means = means;
    const outgoing = computed(() => means.outbox.messages.value.filter(({ block }) => block === name));
    this.lines = computed(() => linesOf(this.entries.value, this.#replyLine.value, (entry) => this.#keyOf(entry), outgoing.value, this.#chosen.value));
    this.state = computed(() => (this.reply.value?.phase === 'writing' ? 'working' : this.details.value?.pulse.state));
  }

  /** Follows the block until the returned function is called. */
  open(): () => void {
    const { socket, isVisible } = this.#means;
    this.#isOpen = true;
    const ends = [
      socket.follow({
        begin: () => ({ type: 'subscribe', block: this.name, stream: true, ...(this.#seq !== undefined && { sinceSeq: this.#seq }) }),
        end: () => ({ type: 'unsubscribe', block: this.name }),
        take: (frame) => frame['block'] === this.name && this.#take(frame),
      }),
      effect(() => {
        // With a connection, the answer to the subscription says that it can be read.
        if (socket.isSettled.value && socket.connection.value.state !== 'live' && !this.isRead.peek()) this.want();
      }),
      effect(() => {
        if (isVisible.value && this.#isWanted) this.want();
      }),
    ];
    return () => {
      this.#isOpen = false;
      for (const end of ends) end();
      this.#cancelTimer();
      this.#dropFrame();
    };
  }

  /** Reads the block again, soon. */
  want(): void {
    this.#isWanted = true;
    if (this.#isReading || !this.#isOpen || !this.#means.isVisible.peek()) return;
    const { timers } = this.#means;
    this.#cancelTimer();
    this.#cancelTimer = timers.after(Math.max(0, this.#lastAt + MIN_MS - timers.now()), () => void this.#read()); // not-a-storm
  }

  /** Reads older entries; `also` changes the page in the same pass. Rejects with an ApiError. */
  async readOlder(limit: number, also: () => void = () => undefined): Promise<void> {
    const before = this.entries.peek().keys().next().value;
    if (before === undefined || !this.hasOlder.peek()) return;
    const { data } = await this.#means.read<ChatHistory>(blockURL(this.name, `/chat?limit=${limit}&before=${encodeURIComponent(before)}`));
    const { messages: page } = data;
    batch(() => {
      this.entries.value = withOlder(this.entries.peek(), page);
      this.hasOlder.value = !isBeginning(page, limit);
      also();
    });
  }

  /** Shows a version of a message, by its id or that of its answer. */
  showVersion(id: string): void {
    this.#chosen.value = withVersion(this.#chosen.peek(), this.entries.peek(), id, this.#replyLine.peek()?.id);
  }

  #take(frame: Frame): boolean {
    if (frame.type === 'gone' || (frame.type === 'error' && frame['code'] === 'BLOCK_NOT_FOUND')) this.isGone.value = true;
    else if (frame.type === 'refresh' || frame.type === 'error')
      this.want(); // what can't be followed is read all the same
    else if (frame.type === 'stream') this.#step(frame as unknown as Step);
    else return false;
    return true;
  }

  /** once-a-frame. */
  #step(step: Step): void {
    if (this.#seq !== undefined && step.seq <= this.#seq) return;
    this.#seq = step.seq;
    if (this.#isOver(step)) {
      if (step.seq > this.#readSeq) this.want();
      return;
    }
    this.#next = afterStep(this.#next, step, this.#means.timers.now());
    if (this.#next?.phase === 'done' && this.#next.answerId !== undefined) this.#keys.set(this.#next.answerId, this.#replyKey(this.#next));
    if (step.event === 'done' || step.event === 'error') this.want();
    this.#cancelFrame ??= this.#means.onFrame(() => this.#show());
  }

  /** shown-once: what was read last already has all that the step led to. */
  #isOver({ id, seq }: Step): boolean {
    if (this.#next?.id === id) return false; // still drawn, in its own place, until a read settles it
    const status = this.entries.peek().get(id)?.status;
    return status === 'done' || (status !== undefined && status !== 'processing' && seq <= this.#readSeq);
  }

  #dropFrame(): void {
    this.#cancelFrame?.();
    this.#cancelFrame = undefined;
  }

  #show(): void {
    this.#cancelFrame = undefined;
    const reply = this.#next;
    batch(() => {
      if (reply === undefined) this.#replyLine.value = undefined;
      else if (this.#replyLine.peek()?.id !== reply.id) this.#replyLine.value = { id: reply.id, key: this.#replyKey(reply) };
      this.reply.value = reply;
    });
  }

  #replyKey({ id }: Reply): string {
    const known = this.#replyLine.peek();
    if (known?.id === id) return known.key;
    const key = this.#keys.get(`reply ${id}`) ?? `reply ${id} ${this.#replies}`;
    this.#keys.set(`reply ${id}`, key);
    return key;
  }

  /** An entry keeps the place of the bubble or the reply that it was. */
  #keyOf(entry: ChatEntry): string {
    return this.#keys.get(entry.id) ?? (entry.role === 'user' ? (entry.clientId ?? entry.id) : entry.id);
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    this.#isWanted = false;
    this.#lastAt = this.#means.timers.now();
    try {
      const [details, why] = await Promise.all([
        this.#fresh<Details>('details', blockURL(this.name)),
        this.#means.read<Why>(blockURL(this.name, '/why')),
        this.#readNewest(),
      ]);
      batch(() => {
        if (details !== undefined) this.details.value = details;
        this.why.value = why.data;
        this.error.value = undefined;
        this.isRead.value = true;
      });
    } catch (error) {
      this.#etags.clear(); // a part of the answers may have come and not been shown
      this.error.value = error;
      if (error instanceof ApiError && error.status === 404) this.isGone.value = true;
    } finally {
      this.#isReading = false;
      if (this.#isWanted) this.want();
    }
  }

  /** The newest page, large enough for every message that is not finished. */
  async #readNewest(): Promise<void> {
    const asked = this.#seq ?? 0;
    const known = [...this.entries.peek().values()];
    const unfinished = known.findIndex(isUnfinished);
    const needed = unfinished === -1 ? PAGE_ENTRIES : Math.min(LARGEST_PAGE, Math.max(PAGE_ENTRIES, known.length - unfinished + 1));
    let limit = needed;
    let history = await this.#newest(limit);
    if (history === undefined) return;
    const newest = known.at(-1)?.id;
    const isAfterGap = ({ messages: [first] }: ChatHistory): boolean => newest !== undefined && first !== undefined && first.id > newest;
    if (isAfterGap(history) && limit < LARGEST_PAGE && !isBeginning(history.messages, limit)) {
      limit = LARGEST_PAGE; // more came than a page has
      history = (await this.#newest(limit)) ?? history;
    }
    const { messages: page, seq } = history;
    const isGap = isAfterGap(history);
    const before = this.entries.peek();
    batch(() => {
      const isAll = isBeginning(page, limit);
      this.entries.value = withNewest(before, page, isAll || isGap);
      if (before.size === 0 || isAll || isGap) this.hasOlder.value = !isAll;
      this.#settle(Math.max(seq, asked));
    });
    if (before.size > 0 && !isGap) return;
    for (
      let pages = 0;
      pages < MAX_FOLDED_PAGES && this.hasOlder.peek() && isShort(this.entries.peek(), this.lines.peek().length, PAGE_ENTRIES / 2);
      pages += 1
    )
      await this.readOlder(PAGE_ENTRIES);
  }

  /** Bubbles and the reply become the entries that the server has. They are at least as new as the step `seq`. */
  #settle(seq: number): void {
    this.#readSeq = seq;
    const entries = this.entries.peek();
    const ids = new Set([...entries.values()].map(({ clientId }) => clientId));
    const { outbox } = this.#means;
    for (const { block, clientId } of outbox.messages.peek()) if (block === this.name && ids.has(clientId)) outbox.drop(block, clientId);
    const reply = this.#next;
    if (reply === undefined || reply.seq > seq) return;
    const isOver = entries.get(reply.id)?.status !== 'processing';
    if (!isOver && !(reply.answerId !== undefined && entries.has(reply.answerId))) return;
    const answer = [...entries.values()].findLast(({ replyTo }) => replyTo === reply.id);
    if (answer !== undefined && reply.phase !== 'failed' && !this.#keys.has(answer.id)) this.#keys.set(answer.id, this.#replyKey(reply));
    this.#dropFrame();
    this.#next = undefined;
    this.#replies += 1;
    this.#keys.delete(`reply ${reply.id}`);
    this.reply.value = undefined;
    this.#replyLine.value = undefined;
  }

  #newest(limit: number): Promise<ChatHistory | undefined> {
    return this.#fresh<ChatHistory>('chat', blockURL(this.name, `/chat?limit=${limit}`));
  }

  /** Undefined if it has not changed. */
  async #fresh<T>(what: 'details' | 'chat', path: string): Promise<T | undefined> {
    const known = this.#etags.get(what);
    const { status, data, etag } = await this.#means.read<T>(path, known?.path === path ? known.etag : undefined);
    this.#etags.set(what, { path, etag });
    return status === 304 ? undefined : data;
  }
}

function isBeginning(page: readonly ChatEntry[], limit: number): boolean {
  return page.length < limit && page.reduce((sum, { content }) => sum + content.length, 0) < WHOLE_CHARACTERS;
}
