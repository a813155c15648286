// Servers that follow the replies of this one's blocks. Each gets the pieces of all streams that it follows, joined for a tenth of a second.
//
// forgotten: a follower says again that it follows, or is forgotten.
// few: so many servers follow a block, and so many follow in all. No real workspace has more of them, and further ones read what is saved.
// before-it-is-ours: nobody may have the block yet that a server follows. It is remembered until this server has it.
import type { Item, Step } from './notices.ts';

/** Calls back with the steps after `since`. Returns a function that ends it. */
export type Join = (onStep: (step: Step) => void, since: number) => () => void;

const JOINED_MS = 100;
const FORGOTTEN_MS = 25_000;
/** few. */
const MOST_OF_A_BLOCK = 100;
const MOST = 20_000;

interface Following {
  readonly node: string;
  readonly since: number;
  readonly until: number;
  leave(): void;
}

/** All followers of one server. */
export class RemoteFollowers {
  readonly #send: (node: string, items: readonly Item[]) => void;
  readonly #clock: () => number;
  readonly #published = new Map<number, Join>();
  /** By block, then by server. */
  readonly #following = new Map<number, Map<string, Following>>();
  #count = 0;
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

  /** A server follows a block, and has its steps up to `since`. It gets what it has missed. Who does not say so again is forgotten with the next look. */
  follow(node: string, block: number, since: number): void {
    const ofBlock = this.#following.get(block) ?? new Map<string, Following>();
    const known = ofBlock.get(node);
    if (known === undefined && (ofBlock.size >= MOST_OF_A_BLOCK || this.#count >= MOST)) return; // few
    known?.leave();
    const leave = this.#published.get(block)?.((step) => this.#add(node, block, step), since) ?? ((): void => undefined); // before-it-is-ours
    ofBlock.set(node, { node, since, leave, until: this.#clock() + FORGOTTEN_MS });
    this.#following.set(block, ofBlock);
    if (known === undefined) this.#count += 1;
  }

  /** forgotten. */
  forget(): void {
    const now = this.#clock();
    for (const [block, ofBlock] of this.#following) {
      for (const [node, { leave, until }] of ofBlock) {
        if (until > now) continue;
        leave();
        ofBlock.delete(node);
        this.#count -= 1;
      }
      if (ofBlock.size === 0) this.#following.delete(block);
    }
  }

  /** Nobody follows any more. */
  close(): void {
    clearTimeout(this.#timer);
    for (const block of this.#following.keys()) for (const { leave } of this.#of(block)) leave();
    this.#following.clear();
    this.#count = 0;
    this.#waiting.clear();
  }

  #of(block: number): Following[] {
    return [...(this.#following.get(block)?.values() ?? [])];
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
