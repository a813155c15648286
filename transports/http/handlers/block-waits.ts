// How many connections wait for blocks that are asked as models.
//
// left-for-others: one key has three quarters of the places at most, so that it shuts out neither other keys nor the token.
import { BlockhouseError, type Core, type NamedKey } from '../../../core/index.ts';

/** Of one block. Its queue is answered one message after the other. */
const MAX_OF_BLOCK = 32;
const MAX_IN_ALL = 512;
/** left-for-others. */
const KEY_OF_BLOCK = (MAX_OF_BLOCK * 3) / 4;
const KEY_IN_ALL = (MAX_IN_ALL * 3) / 4;
const RETRY_AFTER_MS = 5000;

/** The waiting connections of one core. */
export class BlockWaits {
  readonly #byBlock = new Map<string, number>();
  #all = 0;

  /** Counts one more until the returned function is called. Throws QUEUE_FULL. */
  enter(block: string, key: NamedKey | undefined): () => void {
    const ofBlock = this.#byBlock.get(block) ?? 0;
    if (ofBlock >= MAX_OF_BLOCK) throw crowded(`${MAX_OF_BLOCK} connections wait for the block ${block}`);
    if (this.#all >= MAX_IN_ALL) throw crowded(`${MAX_IN_ALL} connections wait for blocks`);
    const leaveKey = this.#ofKey(block, key);
    this.#byBlock.set(block, ofBlock + 1);
    this.#all += 1;
    return () => {
      this.#all -= 1;
      this.#count(block, -1);
      leaveKey();
    };
  }

  /** A key that may have so many calls at a time has no more connections that wait. left-for-others. */
  #ofKey(block: string, key: NamedKey | undefined): () => void {
    if (key === undefined) return () => undefined;
    const account = ` ${key.name}`; // no block has a blank in its name, and no key
    const atBlock = `${account} ${block}`;
    const most = Math.min(...key.bounds.map(({ inFlight }) => inFlight ?? Number.POSITIVE_INFINITY));
    const [inAll, ofBlock] = [this.#byBlock.get(account) ?? 0, this.#byBlock.get(atBlock) ?? 0];
    if (inAll >= most) throw crowded(`${most} connections of the key ${key.name} wait for blocks, and it may have no more calls at a time`);
    if (ofBlock >= KEY_OF_BLOCK) throw crowded(`${KEY_OF_BLOCK} connections of the key ${key.name} wait for the block ${block}`);
    if (inAll >= KEY_IN_ALL) throw crowded(`${KEY_IN_ALL} connections of the key ${key.name} wait for blocks`);
    this.#count(account, 1);
    this.#count(atBlock, 1);
    return () => {
      this.#count(account, -1);
      this.#count(atBlock, -1);
    };
  }

  #count(name: string, change: number): void {
    const now = (this.#byBlock.get(name) ?? 0) + change;
    if (now > 0) this.#byBlock.set(name, now);
    else this.#byBlock.delete(name);
  }
}

function crowded(why: string): BlockhouseError {
  return new BlockhouseError('QUEUE_FULL', `${why} already. Try again later.`, { retryAfterMs: RETRY_AFTER_MS });
}

const waits = new WeakMap<Core, BlockWaits>();

/** Those of a core. */
export function waitsOf(core: Core): BlockWaits {
  const known = waits.get(core) ?? new BlockWaits();
  waits.set(core, known);
  return known;
}
