// What the gateway asks of those who keep the account of its calls: reserve, send, settle. Types alone.
import type { CoreEvents } from '../bus.ts';
import type { ChatConfig, OwnRates, Usage } from '../types.ts';
import type { PlaceLimit } from './place-limit.ts';

/** A model by its names in the price data. */
export interface PricedModel {
  readonly provider: string;
  readonly model: string;
  /** The operator's own price. */
  readonly rates?: OwnRates | undefined;
  /** Where the call goes, for a price that holds only at the provider's own hosts. */
  readonly address?: string | undefined;
  /** The connection whose answers tell what they cost; undefined where they don't. */
  readonly toldBy?: string | undefined;
  /** Its price may stand in prices.json, which could never be read. So nobody knows it, and a cap in USD would not count the call. */
  readonly isUnread?: true | undefined;
}

/** A call of a block that will count for a key. */
export interface CallToCount {
  readonly key: string;
  readonly provider: string;
  readonly model: string;
  readonly pricedAs: PricedModel | undefined;
  /** True if its message has had no call before, in this attempt. */
  readonly isFirst: boolean;
}

/** A call as its account sees it. */
export interface AccountedCall {
  readonly requestId: string;
  /** The id of its adapter. */
  readonly adapterId: string;
  readonly model: string;
  /** Settings of this call alone. */
  readonly config: ChatConfig | undefined;
  /** The address that the call names; undefined for the provider where it is configured. */
  readonly address: string | undefined;
  /** The processing tier that the call asks for. */
  readonly tier: string | undefined;
  /** Set if the process that makes the call has found out under which name it has its price. */
  readonly priced?: { readonly as: PricedModel | undefined };
  /** The name of the client's key; undefined for the token of the workspace. */
  readonly key: string | undefined;
  /** The group of its key, if another process makes the call. */
  readonly group?: string | undefined;
  /** The name by which the client has asked for the model, if it had another one. */
  readonly askedAs: string | undefined;
  /** The same for all models that are asked for one request of a client; undefined for a call that is a request by itself. */
  readonly request: object | undefined;
  /** When it came, in monotonic milliseconds of the process that keeps the account; undefined if another process makes the call. */
  readonly startedAt?: number | undefined;
  /** False for a call that is answered without output, such as one for embeddings. */
  readonly hasOutput: boolean;
  /** How many answers it asks for. */
  readonly choices: number;
  /** True if it asks to keep a part of it in the provider's cache for an hour, which has a price of its own. */
  asksForHourInCache(): boolean;
  /** The tokens of its input, by estimate. */
  inputTokens(): number;
  /** What all its attempts have surely used so far; undefined while nothing is known. */
  usageSoFar(): Usage | undefined;
}

/** Room for one call under the limits of its key or its block. */
export interface Hold {
  /** True if what the call uses must be known also when its caller leaves (read-on.ts). */
  readonly readsOn: boolean;
  /** True for a call that is not read on, and still counts what a model may have reasoned in silence before it timed out (timed-out in read-on.ts). */
  readonly countsSilence?: boolean;
  /** How many places its key and its group may hold; undefined without such limits. */
  readonly places?: readonly PlaceLimit[] | undefined;
  /** What the call counts if it never settles, because its process is killed; undefined before it is admitted, and where nothing is noted of it. */
  readonly noted?: Usage | undefined;
  /**
   * Called right before each attempt, when the call has its place. Undefined, or a promise that resolves, lets the call be sent. Rejects or throws
   * KEY_CAP_REACHED, PRICE_UNKNOWN, or what keeps the account from being read. A call whose caller leaves meanwhile is settled at once.
   * With `atOnce`, the call was accepted in this turn of the event loop, so that nothing has changed since.
   */
  reserve(atOnce?: boolean): Promise<void> | undefined;
  /** Called when the call has given its place back, and may ask for another one later. Absent where nobody else keeps its places. */
  pause?(): void;
}

/** Who asks which model; without a model, a question about the provider itself. */
export type Asking = Pick<AccountedCall, 'key' | 'askedAs' | 'adapterId'> & { readonly model: string | undefined };

/** Keeps the account of calls. */
export interface CallAccounts {
  /** A call has passed its checks. Returns undefined if nothing limits it. What it throws refuses the call. */
  accept(call: AccountedCall): Hold | undefined;
  /** The call has ended, however it did. Called once for each call that was accepted, with what `accept` has returned. Must not throw. */
  settle(end: CoreEvents['call.finished'], call: AccountedCall, hold: Hold | undefined): void;
}

/** Keeps the account of the calls of clients. `accept` throws what `check` throws. */
export interface ClientAccounts extends CallAccounts {
  /**
   * Throws KEY_FORBIDDEN for a key that may not ask this model, KEY_CAP_REACHED for one that has spent what it may spend, KEY_RATE_LIMITED for a
   * request too many in a minute, WRONG_STATE where the limits of a key can't be checked. `isRequest`: it counts as a request by itself. Returns how many
   * places the key and its group may hold.
   */
  check(asking: Asking, isRequest: boolean): readonly PlaceLimit[] | undefined;
}
