// A request for embeddings that has passed all checks, and one attempt at it. Pure: no I/O.
//
// not-twice: a batch that the provider has answered is not sent again by a further attempt.
// one-for-each: the provider must give one vector of numbers for each input.
// each-batch: a request may have thousands of batches, and each is sent only while its account lets it: what the earlier ones have used counts.
import { callerLeft } from '../../base/abort.ts';
import { estimateTokens, isCount } from '../../base/tokens.ts';
import { BlockhouseError, invalidRequest, toBlockhouseError } from '../../errors.ts';
import type { Adapter, AdapterCall, EmbedBatch } from '../../ports.ts';
import type { EmbedRequest, Usage } from '../../types.ts';
import type { Hold } from '../account.ts';
import { sumUsage, toldCost } from '../accumulate.ts';
import type { Permit } from '../breaker.ts';
import { type Attempt, type AttemptResult, Call, type CallParts, inputUsage, shortened } from './call.ts';

interface EmbedParts extends Omit<CallParts, 'model' | 'config'> {
  readonly request: EmbedRequest;
}

/** One request for embeddings as it was accepted. */
export class Embed extends Call<AttemptResult> {
  readonly kind = 'embeddings';
  readonly request: EmbedRequest;
  /** The vectors that have come (not-twice). */
  readonly vectors: number[][] = [];
  /** What they have cost. */
  used: Usage | undefined;
  override readonly hasOutput = false;
  /** each-batch. */
  hold: Hold | undefined;
  #inputTokens: number | undefined;

  constructor({ request, ...parts }: EmbedParts) {
    super({ ...parts, model: request.model });
    this.request = request;
  }

  override get reader(): undefined {
    return undefined;
  }

  override newAttempt(permit: Permit, now: () => number): EmbedAttempt {
    return new EmbedAttempt(this, permit, now);
  }

  protected override conversationParts(): undefined {
    return undefined;
  }

  protected override content(): string {
    return JSON.stringify(this.request.inputs, shortened);
  }

  protected override get outputLimit(): number {
    return 0;
  }

  override inputTokens(): number {
    this.#inputTokens ??= tokensOf(this.request.inputs);
    return this.#inputTokens;
  }

  override accepted(hold: Hold | undefined): void {
    this.hold = hold;
  }
}

/** The rest of the batches of a request. */
class EmbedAttempt implements Attempt<AttemptResult> {
  firstTextAt: number | undefined;
  readonly isHeldUp = false;
  readonly #call: Embed;
  readonly #permit: Permit;
  readonly #now: () => number;
  #usage: Usage | undefined;
  /** The batch that is being answered. */
  #sent: EmbedRequest['inputs'] | undefined;
  #hasLeft = false;
  #failure: BlockhouseError | undefined;

  constructor(call: Embed, permit: Permit, now: () => number) {
    this.#call = call;
    this.#permit = permit;
    this.#now = now;
  }

  async make(call: AdapterCall): Promise<AttemptResult> {
    try {
      await this.#embedRest(call);
      this.#permit.succeed();
      return { usage: this.#usage };
    } catch (error) {
      this.fail(toBlockhouseError(error));
      throw error;
    }
  }

  /** The batch that was sent is answered, and no other is sent. */
  leave(): void {
    this.#hasLeft = true;
  }

  fail(failure: BlockhouseError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#permit.fail(failure);
  }

  usageSoFar(wasSent = false): Usage | undefined {
    return wasSent && this.#sent !== undefined ? sumUsage(this.#usage, inputUsage(tokensOf(this.#sent))) : this.#usage;
  }

  async #embedRest(call: AdapterCall): Promise<void> {
    const { adapter, request, vectors, client } = this.#call;
    const { model, dimensions, user } = request;
    const most = adapter.embedding?.batch(model) ?? 1;
    while (vectors.length < request.inputs.length) {
      if (this.#usage !== undefined) await this.#call.hold?.reserve(); // each-batch
      if (this.#hasLeft) throw callerLeft(call.signal.reason);
      const inputs = request.inputs.slice(vectors.length, vectors.length + most);
      this.#sent = inputs;
      const batch = await adapter.embedding?.embed({ ...call, client, model, inputs, dimensions, user });
      this.#sent = undefined;
      this.#count(inputs, batch);
      vectors.push(...checked(batch, inputs.length));
      this.firstTextAt ??= this.#now();
    }
  }

  #count(inputs: EmbedRequest['inputs'], batch: EmbedBatch | undefined): void {
    const reported = batch?.inputTokens;
    const isTold = isCount(reported) && reported > 0; // no text has no tokens, and who says so does not count
    const tokens = isTold ? reported : tokensOf(inputs);
    const costUsd = toldCost(batch?.costUsd);
    const usage = {
      inputTokens: tokens,
      outputTokens: 0,
      totalTokens: tokens,
      ...(!isTold && { estimated: true }),
      ...(costUsd !== undefined && { costUsd }),
    };
    this.#usage = sumUsage(this.#usage, usage);
    this.#call.used = sumUsage(this.#call.used, usage);
  }
}

/** one-for-each. */
function checked(batch: EmbedBatch | undefined, wanted: number): number[][] {
  const vectors = batch?.vectors;
  const isRight =
    Array.isArray(vectors) &&
    vectors.length === wanted &&
    vectors.every((vector) => Array.isArray(vector) && vector.length > 0 && vector.every(Number.isFinite));
  if (!isRight)
    throw new BlockhouseError('UPSTREAM_MALFORMED', `The provider's answer could not be read: it does not have ${wanted} vectors of numbers.`, {
      mayHaveRun: true,
    });
  return vectors as number[][];
}

function tokensOf(inputs: EmbedRequest['inputs']): number {
  let tokens = 0;
  for (const input of inputs) tokens += typeof input === 'string' ? estimateTokens(input) : input.length;
  return tokens;
}

/** Throws INVALID_REQUEST naming the field. */
export function assertEmbeds({ displayName, embedding }: Adapter, { model, inputs }: EmbedRequest): void {
  if (embedding === undefined) throw invalidRequest('adapter', `must be a provider of embeddings, and ${displayName} makes none`);
  embedding.batch(model);
  const ids = embedding.takesTokenIds ? -1 : inputs.findIndex((input) => typeof input !== 'string');
  if (ids >= 0) throw invalidRequest(`inputs[${ids}]`, `must be text, because ${displayName} takes no token ids`);
}
