// One open block: its files, its conversation, and the reply that is being written.
//
// never-emptied: what is shown stays until what replaces it is there.
// ten-a-second: however often the server says that something has changed, it is read at most ten times a second.
// once: a message is sent again after a lost answer with the same clientId, so it is queued once.
import { signal } from '@preact/signals';
import type { BlockDetails, ChatEntry } from '../../../core/types.ts';
import { Tail } from '../parts/markdown/tail.ts';
import { blockURL } from './blocks.ts';
import { readWhy, type Why } from './cures.ts';
import { clearDraft } from './drafts.ts';
import { ApiError, get, post } from './http.ts';
import { mergeOlder, mergePage } from './merge-entries.ts';
import { type Frame, follow } from './socket.ts';

/** A message that is on its way to the server. */
export interface Sending {
  readonly clientId: string;
  readonly text: string;
  readonly at: number;
  /** Why it is not there yet, if a try has failed. */
  readonly problem?: string;
}

/** The reply that is being written. */
export interface Writing {
  /** Of the message that it answers. */
  readonly id: string;
  readonly attempt: number;
  readonly model: string;
  /** Epoch milliseconds of this browser. */
  readonly since: number;
  /** True once it is complete; its entry follows. */
  readonly isDone: boolean;
  readonly pieces: number;
}

const PAGE = 40;
const READ_EVERY_MS = 100;
const SEND_AGAIN_MS = 2000;

/** An open block. `open` begins; the function that it returns ends it. */
export class OpenBlock {
  readonly name: string;
  readonly details = signal<BlockDetails | undefined>(undefined);
  readonly why = signal<Why | undefined>(undefined);
  readonly entries = signal<readonly ChatEntry[]>([]);
  readonly sending = signal<readonly Sending[]>([]);
  readonly writing = signal<Writing | undefined>(undefined);
  /** Grows with each piece of the reply, once a frame. */
  readonly grown = signal(0);
  readonly tail = new Tail();
  readonly isRead = signal(false);
  readonly hasOlder = signal(true);
  readonly isGone = signal(false);
  readonly failure = signal<unknown>(undefined);
  #seq: number | undefined;
  #pieces: string[] = [];
  #isDrawing = false;
  #readAt = 0;
  #reading: ReturnType<typeof setTimeout> | undefined;
  #isOpen = false;

  constructor(name: string) {
    this.name = name;
  }

  open(): () => void {
    this.#isOpen = true;
    this.#readSoon();
    const stop = follow({
      begin: () => ({ type: 'subscribe', block: this.name, stream: true, ...(this.#seq !== undefined && { sinceSeq: this.#seq }) }),
      end: () => ({ type: 'unsubscribe', block: this.name }),
      take: (frame) => this.#take(frame),
    });
    return () => {
      this.#isOpen = false;
      clearTimeout(this.#reading);
      stop();
    };
  }

  /** Rejects with an ApiError. */
  async readOlder(): Promise<void> {
    const first = this.entries.peek()[0];
    if (first === undefined || !this.hasOlder.peek()) return;
    const older = await this.#page({ before: first.id });
    this.hasOlder.value = older.length === PAGE;
    this.entries.value = mergeOlder(this.entries.peek(), older);
  }

  /** The message is shown at once and sent until the server has it. */
  async send(text: string): Promise<void> {
    const message: Sending = { clientId: crypto.randomUUID(), text, at: Date.now() };
    this.sending.value = [...this.sending.peek(), message];
    await this.#post(message);
  }

  /** Takes a message back that was not sent yet. */
  forget(clientId: string): void {
    this.sending.value = this.sending.peek().filter((message) => message.clientId !== clientId);
  }

  /** Ends a reply, or takes a waiting message away. Rejects with an ApiError. */
  async cancel(id: string): Promise<void> {
    await post(blockURL(this.name, `/chat/${encodeURIComponent(id)}/cancel`));
  }

  /** Rejects with an ApiError. */
  async retry(id: string): Promise<void> {
    await post(blockURL(this.name, `/chat/${encodeURIComponent(id)}/retry`));
  }

  async #post(message: Sending): Promise<void> {
    while (this.#isOpen && this.sending.peek().some(({ clientId }) => clientId === message.clientId)) {
      try {
        await post(blockURL(this.name, '/chat'), { message: message.text, clientId: message.clientId }); // once
        clearDraft(this.name, message.text);
        await this.#read();
        this.forget(message.clientId);
        return;
      } catch (error) {
        const { status, code, message: problem, retryAfterMs } = error as ApiError;
        this.sending.value = this.sending.peek().map((each) => (each.clientId === message.clientId ? { ...each, problem } : each));
        const isPassing = status === 0 || status === 401 || status === 503 || code === 'QUEUE_FULL';
        if (!isPassing) return;
        await new Promise((resolve) => setTimeout(resolve, retryAfterMs ?? SEND_AGAIN_MS));
      }
    }
  }

  #take(frame: Frame): boolean {
    if (frame['block'] !== this.name) return false;
    if (frame.type === 'refresh') this.#readSoon();
    else if (frame.type === 'gone' || (frame.type === 'error' && frame['code'] === 'BLOCK_NOT_FOUND')) this.isGone.value = true;
    else if (frame.type === 'stream') this.#step(frame);
    else return false;
    return true;
  }

  #step(frame: Frame): void {
    const { id, seq, event } = frame as unknown as { id: string; seq: number; event: string };
    this.#seq = seq;
    if (event === 'start') {
      this.tail.clear();
      this.#pieces = [];
      const { model, attempt } = frame as unknown as { model: string; attempt: number };
      this.writing.value = { id, attempt, model, since: Date.now(), isDone: false, pieces: 0 };
      this.grown.value += 1;
    } else if (event === 'content') {
      if (this.writing.peek()?.id !== id) this.writing.value = { id, attempt: 1, model: '', since: Date.now(), isDone: false, pieces: 0 };
      this.#pieces.push(String(frame['text']));
      this.#drawSoon();
    } else if (event === 'done') {
      const writing = this.writing.peek();
      this.#draw();
      if (writing !== undefined) this.writing.value = { ...writing, isDone: true };
      this.#readSoon();
    } else if (event === 'error') {
      this.#pieces = [];
      if (frame['willRetry'] !== true) this.writing.value = undefined;
      this.#readSoon();
    }
  }

  /** Pieces are gathered and drawn once a frame; a hidden page draws nothing. */
  #drawSoon(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    if (document.hidden) setTimeout(() => this.#draw(), 1000);
    else requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    this.#isDrawing = false;
    if (this.#pieces.length === 0) return;
    this.tail.add(this.#pieces.join(''));
    const writing = this.writing.peek();
    if (writing !== undefined) this.writing.value = { ...writing, pieces: writing.pieces + this.#pieces.length };
    this.#pieces = [];
    this.grown.value += 1;
  }

  /** ten-a-second. */
  #readSoon(): void {
    if (this.#reading !== undefined) return;
    const waitMs = Math.max(0, this.#readAt + READ_EVERY_MS - Date.now());
    this.#reading = setTimeout(() => {
      this.#reading = undefined;
      void this.#read();
    }, waitMs);
  }

  async #read(): Promise<void> {
    this.#readAt = Date.now();
    try {
      const [page, details, why] = await Promise.all([this.#page({}), get<BlockDetails>(blockURL(this.name)), readWhy(this.name)]);
      if (!this.#isOpen) return;
      if (!this.isRead.peek()) this.hasOlder.value = page.length === PAGE;
      this.entries.value = mergePage(this.entries.peek(), page);
      this.details.value = details;
      this.why.value = why;
      this.isRead.value = true;
      this.failure.value = undefined;
      this.#settle(page);
    } catch (error) {
      this.failure.value = error;
      if (error instanceof ApiError && error.code === 'BLOCK_NOT_FOUND') this.isGone.value = true;
      if (error instanceof ApiError && error.code === 'BLOCK_DAMAGED') this.why.value = await readWhy(this.name).catch(() => undefined);
    }
  }

  /** A complete reply is shown as its entry as soon as that is there. */
  #settle(page: readonly ChatEntry[]): void {
    const writing = this.writing.peek();
    if (writing === undefined) return;
    const isAnswered = page.some(({ replyTo }) => replyTo === writing.id);
    const message = page.find(({ id }) => id === writing.id);
    if (isAnswered || (message !== undefined && message.status !== 'processing' && message.status !== 'queued')) {
      this.writing.value = undefined;
      this.tail.clear();
    }
  }

  async #page(query: Readonly<Record<string, string>>): Promise<readonly ChatEntry[]> {
    const text = new URLSearchParams({ limit: String(PAGE), ...query }).toString();
    const { messages } = await get<{ readonly messages: readonly ChatEntry[] }>(blockURL(this.name, `/chat?${text}`));
    return messages;
  }
}
