// What a model call costs, and its line in the ledger.
//
// unbilled-means-failed: an answer whose line can't be written is not returned, because unrecorded spending would lift the caps. Until that line is
//   written, `ready` refuses further calls. The answer is kept meanwhile (unsaved-answer.ts), so its bill can be asked for.
import type { CoreBus } from '../../bus.ts';
import { BlockhouseError } from '../../errors.ts';
import type { CallToCount } from '../../gateway/account.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { assertPriceRead, isPriceKnown } from '../../gateway/known-price.ts';
import type { PricedModel, Prices } from '../../gateway/pricing.ts';
import type { CallPurpose } from '../../schemas/block-costs.ts';
import type { Usage } from '../../schemas/chat.ts';
import { DEFAULT_MAX_TOKENS } from '../../schemas/chat.ts';
import type { CallOfKey, LedgerLine, LedgerStore, WorstCase } from '../../store/port.ts';
import type { Candidate } from '../status/candidates.ts';

/** A call with its price, as it is in the ledger. */
export interface Bill {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  /** USD; null when the price is not known. */
  readonly costUsd: number | null;
  /** USD that it costs at least, where only that is known. */
  readonly leastUsd?: number;
  readonly latencyMs: number;
  /** Milliseconds to the first text; null when there was none. */
  readonly ttftMs: number | null;
  readonly failed: boolean;
  /** Its line, where that was handed over: it becomes durable with its answer. */
  readonly handed?: LedgerLine | undefined;
}

/** A call that has ended, before its price is known. */
export interface EndedCall extends Pick<Bill, 'usage' | 'latencyMs' | 'ttftMs' | 'failed'> {
  /** What its reservation has, too. */
  readonly id: string;
  /** The number of the call, as the facts have it. */
  readonly call: number;
  readonly block: string;
  readonly candidate: Candidate;
  readonly purpose: CallPurpose;
  readonly messageId: string | null;
  /** The key with which the message was sent. */
  readonly key?: string | undefined;
  /** Of a run with tools. */
  readonly step?: number | undefined;
  /** The label of the key of its connection, where that has several. */
  readonly credential?: string | undefined;
  /** True if the answer is settled next, so that both can be written in one step. */
  readonly isSettledNext?: boolean | undefined;
  /** From `Billing.pricedAs` at the start of the call: the settings may have changed by its end. */
  readonly pricedAs: PricedModel | undefined;
}

/** What the line of a call of a tool always has. */
interface ToolCost {
  readonly messageId: string;
  /** USD. */
  readonly costUsd: number;
}

/** The collaborators of `Billing`. */
export interface BillingOptions {
  readonly gateway: Gateway;
  readonly ledger: LedgerStore;
  readonly prices: Prices;
  readonly bus: CoreBus;
  /** Counts a call for the key with which its message was sent, before its caller gets the outcome. Must not reject. */
  countForKey?(call: CallOfKey): Promise<void>;
  /** Rejects with KEY_CAP_REACHED where the key with which a message was sent has spent what it may, and with PRICE_UNKNOWN where it refuses a call without a known price. */
  assertForKey?(call: CallToCount): Promise<void>;
  /** Epoch milliseconds. */
  now(): number;
}

/** Prices the calls of all blocks and writes them to the ledger. */
export class Billing {
  readonly #options: BillingOptions;

  constructor(options: BillingOptions) {
    this.#options = options;
  }

  /** Rejects with STORAGE_FULL or STORAGE_FAILED while an earlier line can't be written. */
  async ready(): Promise<void> {
    await this.#options.ledger.ready().catch((error: unknown) => ledgerFault(error));
  }

  /** Rejects as `BillingOptions.assertForKey` does. */
  async assertForKey(call: CallToCount): Promise<void> {
    await this.#options.assertForKey?.(call);
  }

  /** What a call of this size costs at most; `usd` is null when the price is not known. With a cap in USD (`countsUsd`), it rejects with WORKSPACE_DAMAGED where the price can't be read. */
  async worstCase(candidate: Candidate, inputTokens: number, countsUsd = false): Promise<WorstCase> {
    if (countsUsd) assertPriceRead(this.pricedAs(candidate));
    const outputTokens = candidate.config.maxTokens ?? DEFAULT_MAX_TOKENS;
    // To write into a cache costs more than to send.
    const cacheWriteTokens = candidate.config.cacheControl === true ? inputTokens : 0;
    const usage = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, cacheWriteTokens };
    return { usd: await this.#price(this.pricedAs(candidate), usage), tokens: usage.totalTokens };
  }

  /** Whether calls of a model count towards a cap in USD. */
  isPriceKnown(candidate: Candidate): Promise<boolean> {
    return isPriceKnown(this.#options, candidate);
  }

  /** The names in the price data of the model that a call reaches; undefined if its price can't be known. */
  pricedAs(candidate: Candidate): PricedModel | undefined {
    return this.#options.gateway.pricedAs(candidate);
  }

  /** Writes the line, which ends the reservation of the call, or hands it to a ledger that writes it with the answer. Rejects with STORAGE_FULL or STORAGE_FAILED. */
  async write(call: EndedCall): Promise<Bill> {
    const { ledger, bus, now } = this.#options;
    const { id, block, purpose, messageId, key: sentWith, step, credential, usage, latencyMs, ttftMs, failed } = call;
    const { provider, model } = call.candidate;
    const costUsd = await this.#costOf(call.pricedAs, usage);
    const least = costUsd === null ? await this.#leastOf(call.pricedAs, usage) : null;
    const atLeast = least === null ? {} : { leastUsd: least };
    const at = new Date(now()).toISOString();
    const key = credential === undefined ? {} : { credential };
    const line = {
      id,
      at,
      block,
      provider,
      ...key,
      model,
      purpose,
      usage,
      costUsd,
      ...atLeast,
      messageId,
      ...(step !== undefined && { step }),
      ...(failed && { failed: true as const }),
    };
    if (sentWith !== undefined) await this.#options.countForKey?.({ ...line, key: sentWith, latencyMs, ttftMs });
    const isHanded = call.isSettledNext === true && !failed && ledger.hand !== undefined;
    const bill: Bill = { at, provider, model, usage, costUsd, ...atLeast, latencyMs, ttftMs, failed, ...(isHanded && { handed: line }) };
    if (isHanded) ledger.hand?.(line);
    else await ledger.append(line).catch((error: unknown) => ledgerFault(error, bill));
    bus.emit('call.billed', { call: call.call, block, provider, model, purpose, usage, costUsd });
    return bill;
  }

  /** The bill that could not be written because of this fault; the ledger writes its line later. */
  unwritten(fault: unknown): Bill | undefined {
    return typeof fault === 'object' && fault !== null ? unwritten.get(fault) : undefined;
  }

  /** Writes the line of a call of a tool. Rejects as `write` does. */
  async writeTool(call: Omit<LedgerLine, 'purpose' | 'messageId' | 'costUsd'> & ToolCost, key: string | undefined): Promise<void> {
    const { ledger, bus } = this.#options;
    const line = { ...call, purpose: 'tool' as const };
    if (key !== undefined) await this.#options.countForKey?.({ ...line, key, latencyMs: 0, ttftMs: null });
    await ledger.append(line).catch((error: unknown) => ledgerFault(error));
    bus.emit('tool.billed', { block: call.block, id: call.messageId, tool: call.model, costUsd: call.costUsd });
  }

  /** Where only answers tell the price, one without its bill costs as much a token as the dearest one of its model (pricing.ts, not-told). */
  async #costOf(pricedAs: PricedModel | undefined, usage: Usage): Promise<number | null> {
    if (pricedAs?.toldBy === undefined) return this.#price(pricedAs, usage);
    const { exact, least, learn } = await this.#options.prices.pricer(pricedAs);
    learn?.(usage);
    return exact(usage) ?? least(usage);
  }

  async #leastOf(pricedAs: PricedModel | undefined, usage: Usage): Promise<number | null> {
    return pricedAs === undefined ? null : (await this.#options.prices.pricer(pricedAs)).least(usage);
  }

  async #price(pricedAs: PricedModel | undefined, usage: Usage): Promise<number | null> {
    return pricedAs === undefined ? null : this.#options.prices.price({ ...pricedAs, usage });
  }
}

const unwritten = new WeakMap<object, Bill>();

function ledgerFault(error: unknown, bill?: Bill): never {
  const fault = error instanceof BlockhouseError ? error : unwritable(error as NodeJS.ErrnoException);
  if (bill !== undefined) unwritten.set(fault, bill);
  throw fault;
}

function unwritable(error: NodeJS.ErrnoException): BlockhouseError {
  return new BlockhouseError('STORAGE_FAILED', `ledger.jsonl can't be written (${error.code ?? error.message}).`, { cause: error });
}
