// The sums of what calls under way count, by key and by group. Pure: no I/O.
//
// one-look: each call needs the sums of its key and of its group several times. What is kept for a key has both, so that they are not looked up by their names again and again.
// one-sum: however many states of a key or keys of a group there are, their calls are in the same sum.
import type { PlaceLimit } from '../gateway/place-limit.ts';
import type { CappedKey, UnderWay, Used } from '../store/port.ts';
import type { HeldNote } from './call-note.ts';
import type { Bound } from './key-limits.ts';
import type { NamedKey } from './named-key.ts';

/** From so many keys and groups on, those without calls are forgotten. */
const MAX_UNUSED = 2000;

/** What the calls under way of a key or a group count. */
export class CallSum implements Used {
  calls = 0;
  usd = 0;
  tokens = 0;

  takeOff(usd: number, tokens: number): void {
    this.calls -= 1;
    this.usd = this.calls === 0 ? 0 : this.usd - usd; // no rest of a rounding stays
    this.tokens -= tokens;
  }
}

/** The sums of a key and of its group, as the limits of the key are now (one-look). */
export class KeySums implements CappedKey, UnderWay {
  readonly owner: CallSums;
  readonly key: NamedKey;
  readonly name: string;
  readonly bounds: NamedKey['bounds'];
  readonly ofKey: CallSum;
  readonly ofGroup: CallSum | undefined;
  /** Where the book has what they have spent. */
  place: unknown;
  /** What is noted of most of its calls. */
  usual: HeldNote | undefined;
  /** What its calls may hold, once one was accepted. */
  places: readonly PlaceLimit[] | undefined;
  /** How often unused sums had been forgotten when these were found. */
  readonly turn: number;
  readonly exactly: UnderWay['exactly'];

  constructor(owner: CallSums, key: NamedKey, turn: number, ofKey: CallSum, ofGroup: CallSum | undefined) {
    this.owner = owner;
    this.key = key;
    this.turn = turn;
    this.name = key.name;
    this.bounds = key.bounds;
    this.ofKey = ofKey;
    this.ofGroup = ofGroup;
    this.exactly = owner.exactly;
  }

  roughly({ kind }: Pick<Bound, 'kind' | 'name'>): Used {
    return kind === 'key' || this.ofGroup === undefined ? this.ofKey : this.ofGroup;
  }

  add(usd: number, tokens: number): void {
    const { ofKey, ofGroup } = this;
    ofKey.usd += usd;
    ofKey.tokens += tokens;
    if (ofGroup === undefined) return;
    ofGroup.usd += usd;
    ofGroup.tokens += tokens;
  }

  takeOff(usd: number, tokens: number): void {
    this.ofKey.takeOff(usd, tokens);
    this.ofGroup?.takeOff(usd, tokens);
  }
}

/** The sums of all keys and groups. */
export class CallSums {
  readonly exactly: UnderWay['exactly'];
  readonly #byName: Readonly<Record<Bound['kind'], Map<string, CallSum>>> = { key: new Map(), group: new Map() };
  #turn = 0;

  /** `exactly` sums up the calls one by one. */
  constructor(exactly: UnderWay['exactly']) {
    this.exactly = exactly;
  }

  known(kind: Bound['kind'], name: string): CallSum | undefined {
    return this.#byName[kind].get(name);
  }

  of(key: NamedKey): KeySums {
    const known = key.kept.sums as KeySums | undefined;
    if (known?.owner === this && known.turn === this.#turn) return known;
    const { name, group } = key;
    const sums = new KeySums(this, key, this.#turn, this.#sumOf('key', name), group === null ? undefined : this.#sumOf('group', group));
    key.kept.sums = sums;
    return sums;
  }

  /** A call of the key begins. Returns its sums, which are the ones that were `found` before unless the key has changed meanwhile. */
  join(found: KeySums | undefined, key: NamedKey): KeySums {
    const sums = found?.key === key && found.turn === this.#turn ? found : this.of(key);
    sums.ofKey.calls += 1;
    if (sums.ofGroup !== undefined) sums.ofGroup.calls += 1;
    return sums;
  }

  /** Bounds what is kept. Calls under way keep their sums, and all others look for theirs again (one-sum). */
  forgetUnused(): void {
    const { key, group } = this.#byName;
    if (key.size + group.size <= MAX_UNUSED) return;
    for (const sums of [key, group]) for (const [name, { calls }] of sums) if (calls === 0) sums.delete(name);
    this.#turn += 1;
  }

  #sumOf(kind: Bound['kind'], name: string): CallSum {
    const sums = this.#byName[kind];
    const known = sums.get(name);
    if (known !== undefined) return known;
    const sum = new CallSum();
    sums.set(name, sum);
    return sum;
  }
}
