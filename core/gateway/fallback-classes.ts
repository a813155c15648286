// The classes of failures of a model, and which of them lead to the next model of an alias or of a block. Pure: no I/O.
//
// by-class: A failure leads on only if its class is among those of the alias. What says that the request itself is wrong never does.
import { type BlockhouseError, toBlockhouseError } from '../errors.ts';
import { FALLBACK_CLASSES } from '../schemas/gateway-api.ts';

export type FallbackClass = (typeof FALLBACK_CLASSES)[number];

/** The classes of failures, and whether they lead to the next model without a word of the alias. */
const CLASSES = {
  /** A limit of the provider, no quota, a full line. */
  rate: true,
  /** It can't be reached, is too late, fails, or is paused. */
  down: true,
  /** The key is refused, or there is none. */
  key: true,
  /** The prompt is too long for this model. */
  context: true,
  /** The provider's filter has refused the prompt. */
  content: false,
} as const satisfies Record<FallbackClass, boolean>;
export const DEFAULT_CLASSES: ReadonlySet<FallbackClass> = new Set(FALLBACK_CLASSES.filter((each) => CLASSES[each]));

const BY_CODE: Partial<Record<BlockhouseError['code'], FallbackClass>> = {
  UPSTREAM_RATE_LIMITED: 'rate',
  QUEUE_FULL: 'rate',
  UPSTREAM_UNREACHABLE: 'down',
  UPSTREAM_TIMEOUT: 'down',
  UPSTREAM_FAILED: 'down',
  UPSTREAM_MALFORMED: 'down',
  TOO_MANY_CONNECTIONS: 'down',
  UPSTREAM_AUTH: 'key',
  ADAPTER_NOT_CONFIGURED: 'key',
};
const PAYMENT_REQUIRED = 402;

/** Undefined for a failure that says that the request is wrong, or that it has ended. */
export function classOf({ code, upstreamStatus, refusedFor }: Pick<BlockhouseError, 'code' | 'upstreamStatus' | 'refusedFor'>): FallbackClass | undefined {
  if (code === 'UPSTREAM_REJECTED') return refusedFor ?? (upstreamStatus === PAYMENT_REQUIRED ? 'rate' : undefined);
  return BY_CODE[code];
}

/** True for a failure of one model after which another may still answer. A key that refuses calls without a price may have one for another model. by-class. */
export function mayAskNext(error: unknown, on: ReadonlySet<FallbackClass> = DEFAULT_CLASSES): boolean {
  const failure = toBlockhouseError(error);
  const found = classOf(failure);
  return failure.code === 'PRICE_UNKNOWN' || (found !== undefined && on.has(found));
}
