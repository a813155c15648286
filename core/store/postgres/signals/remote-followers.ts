// Servers that follow the replies of this one's blocks. Each gets the pieces of all streams that it follows, joined for a tenth of a second.
//
// forgotten: a follower says again that it follows, or is forgotten.
// before-it-is-ours: nobody may have the block yet that a server follows. It is remembered until this server has it.
import type { Item, Step } from './notices.ts';

/** Calls back with the steps after `since`. Returns a function that ends it. */
export type Join = (onStep: (step: Step) => void, since: number) => () => void;

const JOINED_MS = 100;
const FORGOTTEN_MS = 25_000;

interface Following {
  readonly node: string;
  readonly block: number;
  readonly since: number;
  readonly until: number;
  leave(): void;
}

/** All followers of one server. */
export class RemoteFollowers {
  readonly #send: (node: string, items: readonly Item[]) => void;
  readonly #clock: () => number;
  readonly #published = new Map<number, Join>();
  /** By block and server. */
  readonly #following = new Map<string, Following>();
  /** Steps that wait, by server, in their order. */
  readonly #waiting = new Map<string, { readonly block: number; step: Step }[]>();
  #timer: NodeJS.Timeout | undefined;

  /** `clock` in monotonic milliseconds. */
  constructor(send: (node: string, items: readonly Item[]) => void, clock = () => performance.now()) {
    this.#send = send;
    this.#clock = clock;
  }

  /** This server has the block, and writes its replies. Returns a function that ends it. */
  publish(block: number, join: Join): () => void {
    this.#published.set(block, join);
    for (const { node, since } of this.#of(block)) this.follow(node, block, since);
    return () => {
      if (this.#published.get(block) !== join) return;
      this.#published.delete(block);
      for (const following of this.#of(block)) following.leave();
    };
  }

  /** Whether this server has the block. */
  has(block: number): boolean {
    return this.#published.has(block);
  }

  /** A server follows a block, and has its steps up to `since`. It gets what it has missed. */
  follow(node: string, block: number, since: number): void {
    this.forget();
    const key = `${block} ${node}`;
    this.#following.get(key)?.leave();
    const leave = this.#published.get(block)?.((step) => this.#add(node, block, step), since) ?? ((): void => undefined); // before-it-is-ours
    this.#following.set(key, { node, block, since, leave, until: this.#clock() + FORGOTTEN_MS });
  }

  /** forgotten. */
  forget(): void {
    const now = this.#clock();
    for (const [key, { leave, until }] of this.#following) {
      if (until > now) continue;
      leave();
      this.#following.delete(key);
    }
  }

  /** Nobody follows any more. */
  close(): void {
    clearTimeout(this.#timer);
    for (const { leave } of this.#following.values()) leave();
    this.#following.clear();
    this.#waiting.clear();
  }

  #of(block: number): Following[] {
    return [...this.#following.values()].filter((following) => following.block === block);
  }

  #add(node: string, block: number, step: Step): void {
    const waiting = this.#waiting.get(node) ?? [];
    this.#waiting.set(node, waiting);
    const last = waiting.findLast((one) => one.block === block);
    if (last?.step.event === 'content' && step.event === 'content' && last.step.seq === step.seq - step.text.length) {
      last.step = { ...step, text: last.step.text + step.text };
    } else waiting.push({ block, step });
    this.#timer ??= setTimeout(() => this.#flush(), JOINED_MS).unref();
  }

  #flush(): void {
    this.#timer = undefined;
    this.forget();
    const all = [...this.#waiting];
    this.#waiting.clear();
    for (const [node, steps] of all) {
      const items = steps.map(({ block, step }): Item => ({ is: 'step', block, step }));
      this.#send(node, items);
    }
  }
}
