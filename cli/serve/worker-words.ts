// What a worker and the primary say to each other about the process itself, beside what they say about the work.
import type { AddressInfo, Socket } from 'node:net';
import { isObject } from '../../core/base/json.ts';
import type { ProcessLine } from '../../core/index.ts';
import type { ExitKind } from '../terminal/exit-codes.ts';
import type { Door } from './hand-off.ts';

/** Where the workers serve, as people call it. */
export interface WorkersPlace {
  readonly url: string;
  /** The address of the second server, if there is one. */
  readonly ollamaUrl?: string | undefined;
  readonly hasPage: boolean;
}

/** Where the primary listens. */
export type Doors = Readonly<{ main: AddressInfo } & Partial<Record<Door, AddressInfo>>>;

/** What the primary says. A connection comes with its socket, unless the client has left meanwhile. */
export type PrimaryWord =
  | { readonly word: 'doors'; readonly doors: Doors }
  | { readonly word: 'connection'; readonly number: number; readonly door: Door }
  | { readonly word: 'has'; readonly number: number }
  | { readonly word: 'end' };

/** What a worker says. */
export type WorkerWord =
  /** It listens: node:cluster loses what is said to it before. */
  | { readonly word: 'here' }
  | { readonly word: 'ready'; readonly place: WorkersPlace }
  | { readonly word: 'failed'; readonly kind: ExitKind; readonly message: string }
  | { readonly word: 'taken' | 'refused'; readonly number: number }
  /** It ends by itself, after its answers. */
  | { readonly word: 'drains' };

/** What comes from the other process. Messages about the work wait until somebody listens to them. */
export class Words<Word extends { readonly word: string }> {
  readonly line: ProcessLine;
  readonly #unheard: unknown[] = [];
  #onWork: ((message: unknown) => void) | undefined;

  constructor(
    listen: (listener: (message: unknown, socket?: Socket) => void) => unknown,
    send: (message: object) => unknown,
    onWord: (word: Word, socket: Socket | undefined) => void,
  ) {
    this.line = { send: (message) => void send(message), onMessage: (listener) => this.#listen(listener) };
    listen((message, socket) => {
      if (isObject(message) && typeof message['word'] === 'string') onWord(message as unknown as Word, socket);
      else if (this.#onWork === undefined) this.#unheard.push(message);
      else this.#onWork(message);
    });
  }

  #listen(listener: (message: unknown) => void): void {
    this.#onWork = listener;
    for (const message of this.#unheard.splice(0)) listener(message);
  }
}
