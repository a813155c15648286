// Folds the events of one attempt into an answer. The streamed and the whole form use the same fold, so they agree. Pure: no I/O.
//
// tool-use-wins: A complete tool call always ends in `tool_use`, whatever the provider said.
// unique-ids: Tool-call ids are unique within an answer.
// one-call: Where one call is asked for, the first that begins is kept, and of the others nothing reaches a reader. The provider bills them, so they count.
// counts-grow: A later report never lowers a count of an earlier one: it may leave out what the earlier one had.
// not-counted: No request and no text has 0 tokens. Where a provider reports 0 of output for an answer with text, its output is estimated; where it reports 0 of input as well, both are.
//   Nor does a 0 of input count that came before there was any output, where a later report has output and says nothing of the input.
// bounded: An answer of which more would be kept than AnswerSize allows is refused as it comes. Text that only passes to a reader does not count.
// bounded-depth: What nests deeper than a request that brings it back may nest is not kept, and the answer is refused at its end: some thousands of
//   levels could not even be written as JSON.
import { randomBytes } from 'node:crypto';
import type { AnswerFacts } from '../bus.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '../base/json.ts';
import { isCount, TokenEstimate } from '../base/tokens.ts';
import type { Writable } from '../base/writable.ts';
import { BlockhouseError } from '../errors.ts';
import type { AnswerPiece, ChatEvent, ReportedUsage } from '../ports.ts';
import { type ChatDone, FURTHER_COUNTS, type StopReason, type TokenLogprob, type ToolCall, type Usage, type Warning } from '../schemas/chat.ts';
import { PIECE_BYTES } from './answer-limits.ts';
import { AnswerSize } from './answer-size.ts';
import type { Prompt } from './prompt.ts';
import { promptTokens } from './prompt-tokens.ts';

const COUNTS = ['inputTokens', 'outputTokens', ...FURTHER_COUNTS] as const;
/** Of JSON, in an estimate. */
export const BYTES_A_TOKEN = 4;
/** In a list in memory. */
const BYTES_A_NUMBER = 8;
const FURTHER_CALLS: Warning = {
  field: 'config.parallelToolCalls',
  message: 'The model made several calls, and only the first is in the answer, because the request allows one.',
};
type WholeCall = Extract<ChatEvent, { readonly type: 'toolCall' }>;
/** What a provider has reported of one attempt. */
export type Counts = { -readonly [K in keyof ReportedUsage]: ReportedUsage[K] };

/** Collects the events of one attempt. `totalTokens` is the sum; a usage that the provider did not report is marked `estimated`. */
export class Accumulator {
  readonly #toolCalls: ToolCall[] = [];
  /** Of the tool calls; absent until there is one. */
  #ids: Set<string> | undefined;
  /** Ids of calls whose pieces come, by index. */
  #started: Map<number, string> | undefined;
  readonly #warnings: Warning[] = [];
  readonly #usage: Counts = {};
  #logprobs: TokenLogprob[] | undefined;
  #providerMetadata: Record<string, unknown> | undefined;
  #stopReason: StopReason | undefined;
  #stopSequence: string | undefined;
  /** What the provider calls the answer. */
  told: Pick<AnswerFacts, 'id' | 'model'> | undefined;
  /** one-call. */
  readonly #keepsOneCall: boolean;
  /** The call that is kept: its index, or that it comes whole; undefined until one begins. */
  #keptCall: number | 'whole' | undefined;
  /** bounded-depth: where the answer nests too deep. */
  #tooDeep: string | undefined;
  /** Of the text, the reasoning and the calls, finished or not. */
  readonly #written = new TokenEstimate();
  readonly #passesText: boolean;
  /** bounded. */
  readonly #size = new AnswerSize();
  /** Of the text that came last. The other kind begins a block of its own. */
  #kind: 'text' | 'reasoning' | undefined;
  /** The tokens, by estimate, of what came of an answer that could not be read. */
  #unread = 0;
  /** How many tokens had come when the provider last reported outputTokens. */
  #writtenWhenReported = 0;

  /** `passesText`: the text is handed on and not kept until the end of the answer. */
  constructor(keepsOneCall = false, passesText = false) {
    this.#keepsOneCall = keepsOneCall;
    this.#passesText = passesText;
  }

  /** Takes events that arrived together; returns those that a reader sees, with ids that are unique in the answer. */
  addPieces(events: readonly ChatEvent[]): AnswerPiece[] {
    const pieces: AnswerPiece[] = [];
    for (const event of events) {
      const piece = this.#take(event);
      if (piece !== undefined) pieces.push(piece.type === 'toolCallStart' ? { ...piece, id: this.#startedId(piece.index, piece.id) } : piece);
    }
    return pieces;
  }

  /** Takes events that arrived together; returns their text fragments. */
  add(events: readonly ChatEvent[]): string[] {
    const fragments: string[] = [];
    for (const event of events) {
      const piece = this.#take(event);
      if (piece?.type === 'text') fragments.push(piece.text);
    }
    return fragments;
  }

  /** The piece of the answer that the event carries, if any. */
  #take(event: ChatEvent): AnswerPiece | undefined {
    switch (event.type) {
      case 'text':
      case 'reasoning':
        if (event.text === '') return undefined;
        this.#written.add(event.text);
        if (!this.#passesText) this.#size.add(event.text.length);
        if (event.type !== this.#kind) this.#size.addBlock();
        this.#kind = event.type;
        return event;
      case 'toolCallStart':
        this.#written.add(event.name);
        this.#size.addBlock();
        this.#size.add(event.name.length + event.id.length);
        return this.#isFurtherCall(event.index) ? undefined : event;
      case 'toolCallDelta':
        this.#written.add(event.text);
        this.#size.add(event.text.length);
        return this.#isFurtherCall(event.index) ? undefined : event;
      case 'toolCall':
        return this.#takeCall(event);
      case 'reasoningState':
        return this.#isTooDeep(event.providerMetadata, 'the state of the reasoning') ? undefined : event;
      case 'logprobs':
        this.#logprobs ??= [];
        for (const logprob of event.logprobs) {
          this.#logprobs.push(logprob);
          this.#size.add((logprob.topLogprobs ?? []).reduce((sum, one) => sum + PIECE_BYTES + bytesOf(one), bytesOf(logprob)));
        }
        return undefined;
      case 'usage':
        addReport(this.#usage, event.usage);
        if (isCount(event.usage.outputTokens)) this.#writtenWhenReported = this.#written.tokens + this.#unread;
        return undefined;
      case 'unread':
        this.#unread += Math.ceil(event.bytes / BYTES_A_TOKEN);
        return undefined;
      case 'answer':
        this.told = event;
        return undefined;
      case 'providerMetadata':
        if (!this.#isTooDeep(event.providerMetadata, 'providerMetadata')) this.#providerMetadata = { ...this.#providerMetadata, ...event.providerMetadata };
        return undefined;
      case 'warning':
        this.#warnings.push(event.warning);
        this.#size.add(event.warning.message.length);
        return undefined;
      case 'stop':
        this.#stopReason = event.stopReason;
        this.#stopSequence = event.stopSequence;
        return undefined;
    }
  }

  /**
   * The end of the answer. Throws UPSTREAM_MALFORMED for an answer that nests too deep, and INTERNAL_ERROR for an adapter that ended
   * without a stop event.
   */
  finish(prompt: Prompt): ChatDone {
    if (this.#tooDeep !== undefined) {
      // bounded-depth
      const message = `The provider's answer could not be read: it nests deeper than ${MAX_JSON_DEPTH} levels in ${this.#tooDeep}.`;
      throw new BlockhouseError('UPSTREAM_MALFORMED', message, { mayHaveRun: true });
    }
    if (this.#stopReason === undefined) throw new BlockhouseError('INTERNAL_ERROR', 'The adapter ended an answer without a stop reason.');
    const hasCalls = this.#toolCalls.length > 0;
    const done: Writable<ChatDone> = { usage: this.#finishUsage(prompt), stopReason: hasCalls ? 'tool_use' : this.#stopReason }; // tool-use-wins
    const stopSequence = done.stopReason === 'stop_sequence' ? (this.#stopSequence ?? onlyStop(prompt)) : undefined;
    if (stopSequence !== undefined) done.stopSequence = stopSequence;
    if (hasCalls) done.toolCalls = this.#toolCalls;
    if (this.#providerMetadata !== undefined) done.providerMetadata = this.#providerMetadata;
    if (this.#logprobs !== undefined) done.logprobs = this.#logprobs;
    const warnings = this.warnings(prompt);
    if (warnings.length > 0) done.warnings = warnings;
    return done;
  }

  /** What was left out of the request or of its answer, as far as it is known. */
  warnings(prompt: Prompt): readonly Warning[] {
    return this.#warnings.length === 0 ? prompt.warnings : [...prompt.warnings, ...this.#warnings];
  }

  /**
   * What a failed attempt has used so far, since the provider bills it all the same; undefined when nothing is known of it. What came after the last
   * report is estimated and added.
   */
  usageSoFar(prompt: Prompt): Usage | undefined {
    const written = this.#written.tokens + this.#unread;
    const { outputTokens } = believed(this.#usage, written);
    if (written === 0 && COUNTS.every((name) => this.#usage[name] === undefined)) return undefined;
    const usage = this.#finishUsage(prompt);
    const uncounted = outputTokens === undefined ? 0 : written - this.#writtenWhenReported;
    return uncounted === 0 ? usage : addUsage(usage, { inputTokens: 0, outputTokens: uncounted, totalTokens: uncounted, estimated: true });
  }

  /** unique-ids. */
  #startedId(index: number, id: string): string {
    this.#started ??= new Map();
    const unique = this.#started.get(index) ?? this.#uniqueId(id);
    this.#started.set(index, unique);
    return unique;
  }

  /** one-call: true for a call that is not the first. A call without an index comes whole. */
  #isFurtherCall(index: number | undefined): boolean {
    if (!this.#keepsOneCall) return false;
    const isFirst = this.#keptCall === undefined;
    this.#keptCall ??= index ?? 'whole';
    return !isFirst && this.#keptCall !== index;
  }

  /** Undefined for a call whose arguments nest too deep, and for a call that is left out. */
  #takeCall(event: WholeCall): WholeCall | undefined {
    const { toolCall: call, index } = event;
    if (this.#isTooDeep(call.arguments, 'the arguments of a tool call')) return undefined;
    if (this.#isTooDeep(call.providerMetadata, 'the providerMetadata of a tool call')) return undefined;
    this.#size.addValue(call.arguments);
    this.#size.addValue(call.providerMetadata);
    if (index === undefined) this.#countWhole(call); // else its pieces have been counted
    if (this.#isFurtherCall(index)) {
      if (!this.#warnings.includes(FURTHER_CALLS)) this.#warnings.push(FURTHER_CALLS);
      return undefined;
    }
    const id = (index === undefined ? undefined : this.#started?.get(index)) ?? this.#uniqueId(call.id);
    const toolCall = id === call.id ? call : { ...call, id };
    this.#toolCalls.push(toolCall);
    return toolCall === call ? event : { ...event, toolCall };
  }

  #countWhole({ id, name, arguments: value }: ToolCall): void {
    this.#size.addBlock();
    this.#size.add(id.length + name.length);
    this.#written.add(name).add(JSON.stringify(value));
  }

  /** bounded-depth. */
  #isTooDeep(value: unknown, where: string): boolean {
    if (!isDeeperThan(value, MAX_JSON_DEPTH)) return false;
    this.#tooDeep ??= where;
    return true;
  }

  /** unique-ids: a provider that gives no ids, or the same one twice, gets ids of ours. */
  #uniqueId(given: string): string {
    this.#ids ??= new Set();
    const id = given !== '' && !this.#ids.has(given) ? given : `call_${randomBytes(12).toString('hex')}`;
    this.#ids.add(id);
    return id;
  }

  #finishUsage(prompt: Prompt): Usage {
    const written = this.#written.tokens + this.#unread;
    const { inputTokens, outputTokens } = believed(this.#usage, written);
    const input = inputTokens ?? promptTokens(prompt);
    const output = outputTokens ?? written;
    const usage: Writable<Usage> = { inputTokens: input, outputTokens: output, totalTokens: input + output };
    for (const name of FURTHER_COUNTS) {
      const count = this.#usage[name];
      if (count !== undefined) usage[name] = count;
    }
    if (this.#usage.costUsd !== undefined) usage.costUsd = this.#usage.costUsd;
    if (inputTokens === undefined || outputTokens === undefined) usage.estimated = true;
    if (this.#usage.unpricedTier === true) usage.unpricedTier = true;
    return usage;
  }
}

/** counts-grow. A value that is not a count of tokens is ignored: a negative one would give the key of an application more to spend than its cap. */
export function addReport(counts: Counts, reported: ReportedUsage): void {
  const { inputTokens, outputTokens } = reported;
  if (inputTokens === undefined && counts.inputTokens === 0 && isCount(outputTokens) && outputTokens > 0) delete counts.inputTokens; // not-counted
  for (const name of COUNTS) {
    const count = reported[name];
    if (isCount(count) && count > (counts[name] ?? -1)) counts[name] = count;
  }
  const costUsd = toldCost(reported.costUsd);
  if (costUsd !== undefined && costUsd > (counts.costUsd ?? -1)) counts.costUsd = costUsd;
  if (reported.unpricedTier === true) counts.unpricedTier = true;
  if (reported.usesNothing === true) counts.usesNothing = true;
}

/** not-counted: what is believed of a report of an answer that has so many tokens by estimate, `text` of them surely text. */
export function believed({ inputTokens, outputTokens, usesNothing }: Counts, answered: number, text = answered): Pick<Counts, 'inputTokens' | 'outputTokens'> {
  if (outputTokens !== 0 || usesNothing === true) return { inputTokens, outputTokens };
  if (inputTokens === 0 && answered > 0) return {};
  return text > 0 ? { inputTokens } : { inputTokens, outputTokens };
}

/** USD. No answer costs as much, and sums of any costs would end beyond all numbers, which can't be written down. */
const MAX_COST = 999_999_999;

/** A cost that a provider tells, as far as it counts; undefined for none. A negative one would give the key of an application more to spend than its cap. */
export function toldCost(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 ? Math.min(value, MAX_COST) : undefined;
}

/** What a token takes in memory: its list of bytes takes more than its text. */
function bytesOf({ token, bytes = [] }: Pick<TokenLogprob, 'token' | 'bytes'>): number {
  return token.length + BYTES_A_NUMBER * bytes.length;
}

/** The stop sequence that a provider must mean which does not name it; undefined if it might be one of several. */
function onlyStop({ options }: Prompt): string | undefined {
  return options?.stop?.length === 1 ? options.stop[0] : undefined;
}

/** What two attempts have used together; undefined when neither is known. */
export function sumUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  return a === undefined || b === undefined ? (a ?? b) : addUsage(a, b);
}

/** What two attempts have used together. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Writable<Usage> = { ...a };
  for (const key of ['totalTokens', ...COUNTS] as const) {
    if (b[key] !== undefined) sum[key] = (a[key] ?? 0) + b[key];
  }
  if (a.costUsd !== undefined || b.costUsd !== undefined) sum.costUsd = (a.costUsd ?? 0) + (b.costUsd ?? 0);
  // What only one of them tells is not what both cost, but no less.
  if (b.estimated === true || (a.costUsd === undefined) !== (b.costUsd === undefined)) sum.estimated = true;
  if (b.unpricedTier === true) sum.unpricedTier = true;
  return sum;
}
