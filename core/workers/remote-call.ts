// Calls of workers, as far as their account in the primary must know them. Pure: no I/O.
import type { CoreEvents } from '../bus.ts';
import type { AccountedCall } from '../gateway/account.ts';
import type { PricedModel } from '../gateway/pricing.ts';
import { COUNTED } from '../keys/key-rates.ts';
import type { Usage } from '../types.ts';
import type { CallFacts } from './says.ts';

const NO_CALL: Omit<AccountedCall, 'requestId' | 'adapterId' | 'model'> = {
  config: undefined,
  address: undefined,
  tier: undefined,
  key: undefined,
  askedAs: undefined,
  request: undefined,
  hasOutput: true,
  choices: 1,
  asksForHourInCache: () => false,
  inputTokens: () => 0,
  usageSoFar: () => undefined,
};

/** A call of a key with limits. */
export class RemoteCall implements AccountedCall {
  readonly requestId: string;
  readonly adapterId: string;
  readonly model: string;
  readonly key: string;
  readonly askedAs: string | undefined;
  readonly request: object | undefined;
  readonly hasOutput: boolean;
  readonly choices: number;
  readonly priced: NonNullable<AccountedCall['priced']>;
  readonly config = undefined;
  readonly address = undefined;
  readonly tier = undefined;
  readonly #inputTokens: number;
  readonly #hourInCache: boolean;
  readonly #since = performance.now();
  #usage: Usage | undefined;

  constructor({ requestId, adapterId, model, key, askedAs, hasOutput, choices, inputTokens, hourInCache, isCounted, pricedAs }: CallFacts) {
    this.requestId = requestId;
    this.adapterId = adapterId;
    this.model = model;
    this.key = key;
    this.askedAs = askedAs;
    this.request = isCounted ? COUNTED : undefined;
    this.hasOutput = hasOutput;
    this.choices = choices;
    this.priced = { as: pricedAs };
    this.#inputTokens = inputTokens;
    this.#hourInCache = hourInCache;
  }

  use(usage: Usage | undefined): void {
    this.#usage = usage ?? this.#usage;
  }

  ageMs(): number {
    return performance.now() - this.#since;
  }

  asksForHourInCache(): boolean {
    return this.#hourInCache;
  }

  inputTokens(): number {
    return this.#inputTokens;
  }

  usageSoFar(): Usage | undefined {
    return this.#usage;
  }
}

/** A call without limits, of which only its price matters. */
export function callOf(
  { requestId, adapter: adapterId, model }: CoreEvents['call.finished'],
  as: PricedModel | undefined,
  group: string | undefined,
): AccountedCall {
  return { ...NO_CALL, requestId, adapterId, model, priced: { as }, group };
}
