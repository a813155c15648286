// What a book is told of a call before it is sent, and what a call costs. Pure: no I/O.
import { randomUUID } from 'node:crypto';
import type { AccountedCall } from '../gateway/account.ts';
import type { Pricer } from '../gateway/pricing.ts';
import type { OpenCall } from '../store/port.ts';
import type { Usage } from '../types.ts';
import type { NamedKey } from './named-key.ts';

const ID_START = randomUUID();
let ids = 0;

/** Unique in the workspace. */
export function newId(): string {
  ids += 1;
  return `${ID_START}-${ids}`;
}

/** What nobody has reported. */
export function estimated(inputTokens: number, outputTokens: number): Usage {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
}

/** What a line of the ledger says of the cost of a call. */
function costOf(usage: Usage, pricer: Pricer): Pick<OpenCall, 'costUsd' | 'leastUsd'> {
  const costUsd = pricer.exact(usage);
  return costUsd === null ? { costUsd, leastUsd: pricer.least(usage) } : { costUsd };
}

/** The same of a call that has ended. */
export function finalCost(usage: Usage, pricer: Pricer): Pick<OpenCall, 'costUsd' | 'leastUsd'> {
  pricer.learn?.(usage);
  return costOf(usage, pricer);
}

/** What is noted. */
interface Noted {
  readonly call: AccountedCall;
  readonly key: NamedKey;
  readonly pricer: Pricer;
  /** In the book, where the book has it, too. */
  readonly id: string;
  readonly place: unknown;
}

/** A call as its book is to have it. Most books keep only a few numbers of it, so what is the same in the call itself is not copied. */
export class Note implements OpenCall {
  readonly #hold: Noted;
  readonly at: string;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly leastUsd: number | null;
  place: unknown;

  constructor(hold: Noted, usage: Usage, at: string) {
    const { costUsd, leastUsd = null } = costOf(usage, hold.pricer);
    this.#hold = hold;
    this.at = at;
    this.usage = usage;
    this.costUsd = costUsd;
    this.leastUsd = leastUsd;
    this.place = hold.place;
  }

  get id(): string {
    return this.#hold.id;
  }

  get requestId(): string {
    return this.#hold.call.requestId;
  }

  get key(): string {
    return this.#hold.key.name;
  }

  get group(): string | undefined {
    return this.#hold.key.group ?? undefined;
  }

  get provider(): string {
    return this.#hold.call.adapterId;
  }

  get model(): string {
    return this.#hold.call.model;
  }

  get error(): 'SHUTTING_DOWN' {
    return 'SHUTTING_DOWN';
  }
}
