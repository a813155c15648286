// Folds the events of one attempt into an answer. The streamed and the whole form use the same fold, so they agree. Pure: no I/O.
//
// tool-use-wins: A complete tool call always ends in `tool_use`, whatever the provider said.
// unique-ids: Tool-call ids are unique within an answer.
// bounded-depth: What nests deeper than a request that brings it back may nest is not kept, and the answer is refused at its end: some thousands of
//   levels could not even be written as JSON.
import { randomBytes } from 'node:crypto';
import { BlockhouseError } from '../errors.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '../json.ts';
import type { AnswerPiece, ChatEvent, ReportedUsage } from '../ports.ts';
import type { ChatDone, StopReason, ToolCall, Usage, Warning } from '../schemas/chat.ts';
import { estimateTokens, TokenEstimate } from '../tokens.ts';
import type { Writable } from '../writable.ts';
import type { Prompt } from './prompt.ts';

const FURTHER_COUNTS = ['cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const;
const COUNTS = ['inputTokens', 'outputTokens', ...FURTHER_COUNTS] as const;
type Counts = { -readonly [K in keyof ReportedUsage]: ReportedUsage[K] };

/** Collects the events of one attempt. `totalTokens` is the sum; a usage that the provider did not report is marked `estimated`. */
export class Accumulator {
  readonly #toolCalls: ToolCall[] = [];
  /** Of the tool calls; absent until there is one. */
  #ids: Set<string> | undefined;
  /** Ids of calls whose pieces come, by index. */
  #started: Map<number, string> | undefined;
  readonly #warnings: Warning[] = [];
  readonly #usage: Counts = {};
  #providerMetadata: Record<string, unknown> | undefined;
  #stopReason: StopReason | undefined;
  /** bounded-depth: where the answer nests too deep. */
  #tooDeep: string | undefined;
  /** Of the text. */
  readonly #written = new TokenEstimate();
  /** What it was when the provider last reported outputTokens. */
  #writtenWhenReported = 0;

  /** Takes events that arrived together; returns those that a reader sees, with ids that are unique in the answer. */
  addPieces(events: readonly ChatEvent[]): AnswerPiece[] {
    const pieces: AnswerPiece[] = [];
    for (const event of events) {
      const calls = this.#toolCalls.length;
      if (event.type === 'toolCallStart') pieces.push({ ...event, id: this.#startedId(event.index, event.id) });
      else if (event.type === 'toolCallDelta') pieces.push(event);
      else if (event.type === 'reasoning' && event.text !== '') pieces.push(event);
      else if (this.add([event]).length > 0 && event.type === 'text') pieces.push(event);
      const toolCall = this.#toolCalls[calls];
      if (event.type === 'toolCall' && toolCall !== undefined) pieces.push({ ...event, toolCall });
    }
    return pieces;
  }

  /** Takes events that arrived together; returns their text fragments. */
  add(events: readonly ChatEvent[]): string[] {
    const fragments: string[] = [];
    for (const event of events) {
      switch (event.type) {
        case 'text':
          if (event.text === '') break;
          fragments.push(event.text);
          this.#written.add(event.text);
          break;
        case 'toolCall':
          this.#takeCall(event.toolCall, event.index);
          break;
        case 'usage':
          for (const name of COUNTS) this.#usage[name] = event.usage[name] ?? this.#usage[name];
          if (event.usage.outputTokens !== undefined) this.#writtenWhenReported = this.#written.tokens;
          break;
        case 'providerMetadata':
          if (this.#isTooDeep(event.providerMetadata, 'providerMetadata')) break;
          this.#providerMetadata = { ...this.#providerMetadata, ...event.providerMetadata };
          break;
        case 'warning':
          this.#warnings.push(event.warning);
          break;
        case 'stop':
          this.#stopReason = event.stopReason;
          break;
      }
    }
    return fragments;
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
    if (hasCalls) done.toolCalls = this.#toolCalls;
    if (this.#providerMetadata !== undefined) done.providerMetadata = this.#providerMetadata;
    const warnings = this.warnings(prompt);
    if (warnings.length > 0) done.warnings = warnings;
    return done;
  }

  /** What was left out of the request or of its answer, as far as it is known. */
  warnings(prompt: Prompt): readonly Warning[] {
    return this.#warnings.length === 0 ? prompt.warnings : [...prompt.warnings, ...this.#warnings];
  }

  /**
   * What a failed attempt has used so far, since the provider bills it all the same; undefined when nothing is known of it. Text that came after the last
   * report is estimated and added.
   */
  usageSoFar(prompt: Prompt): Usage | undefined {
    const { outputTokens } = this.#usage;
    if (this.#written.tokens === 0 && this.#toolCalls.length === 0 && COUNTS.every((name) => this.#usage[name] === undefined)) return undefined;
    const usage = this.#finishUsage(prompt);
    const uncounted = outputTokens === undefined ? 0 : this.#written.tokens - this.#writtenWhenReported;
    return uncounted === 0 ? usage : addUsage(usage, { inputTokens: 0, outputTokens: uncounted, totalTokens: uncounted, estimated: true });
  }

  /** unique-ids. */
  #startedId(index: number, id: string): string {
    this.#started ??= new Map();
    const unique = this.#started.get(index) ?? this.#uniqueId(id);
    this.#started.set(index, unique);
    return unique;
  }

  #takeCall(call: ToolCall, index: number | undefined): void {
    if (this.#isTooDeep(call.arguments, 'the arguments of a tool call')) return;
    if (this.#isTooDeep(call.providerMetadata, 'the providerMetadata of a tool call')) return;
    const started = index === undefined ? undefined : this.#started?.get(index);
    const id = started ?? this.#uniqueId(call.id);
    this.#toolCalls.push(id === call.id ? call : { ...call, id });
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
    const { inputTokens, outputTokens } = this.#usage;
    const input = inputTokens ?? promptTokens(prompt);
    const output = outputTokens ?? this.#written.tokens + estimateTokens(JSON.stringify(this.#toolCalls).slice(1, -1));
    const usage: Writable<Usage> = { inputTokens: input, outputTokens: output, totalTokens: input + output };
    for (const name of FURTHER_COUNTS) {
      const count = this.#usage[name];
      if (count !== undefined) usage[name] = count;
    }
    if (inputTokens === undefined || outputTokens === undefined) usage.estimated = true;
    return usage;
  }
}

/** What two attempts have used together; undefined when neither is known. */
export function sumUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  return a === undefined || b === undefined ? (a ?? b) : addUsage(a, b);
}

/** What two attempts have used together. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = { ...a };
  for (const key of ['inputTokens', 'outputTokens', 'totalTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const) {
    if (b[key] !== undefined) sum[key] = (a[key] ?? 0) + b[key];
  }
  return b.estimated === true ? { ...sum, estimated: true } : sum;
}

function promptTokens({ system = '', turns, tools }: Prompt): number {
  const sum = new TokenEstimate().add(system);
  for (const turn of turns) {
    if (turn.role === 'tool') for (const { content } of turn.results) sum.add(content);
    else sum.add(turn.text);
  }
  return (tools.length > 0 ? sum.add(JSON.stringify(tools)) : sum).tokens;
}
