// A Gemini answer, whole or one record of a stream, as events. Pure: no I/O.
import { isObject } from '../../core/base/json.ts';
import type { ChatEvent, ReportedUsage, StopReason } from '../../core/index.ts';
import { logprobsIn } from '../shared/logprobs.ts';
import { type ChatContext, malformed, StreamError } from '../shared/provider.ts';
import { asArray, asCount, asObject, asPart, asString, countOfRequest, expectList, expectObject, expectText, sumCounts } from '../shared/read.ts';
import { mayCostMore } from '../shared/tiers.ts';
import { toldAnswer } from '../shared/told-answer.ts';
import { recordError } from './errors.ts';
import { bareModel } from './request.ts';
import type { GoogleMetadata } from './schema.ts';

/** All others, including OTHER and FINISH_REASON_UNSPECIFIED, are `unknown`. IMAGE_* are filters too. */
const STOP_REASONS = new Map<string, StopReason>([
  ['STOP', 'end_turn'],
  ['MAX_TOKENS', 'max_tokens'],
  ['CONTINUATION', 'max_tokens'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
]);
/** The model failed, and there is no answer. */
const FAILURES = new Set(['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'NO_IMAGE']);

/** Events of a whole answer. Throws a StreamError for an error in a 200, UPSTREAM_MALFORMED for a body without candidate or block reason. */
export function readAnswer(json: unknown, { model }: Pick<ChatContext, 'model'>): ChatEvent[] {
  const events = readRecord(json, model);
  if (events.some((event) => event.type === 'stop')) return events;
  if (asArray(asObject(json)['candidates']).length === 0) throw malformed('it has neither a candidate nor a reason for blocking the prompt');
  // Google leaves out a field with its zero value, and FINISH_REASON_UNSPECIFIED is the zero of its enum.
  return [...events, { type: 'stop', stopReason: 'unknown' }];
}

/** What an answer, or a record of one, says of itself. */
export function readTold(json: unknown): ReturnType<typeof toldAnswer> {
  const { responseId, modelVersion } = asObject(json);
  return toldAnswer(responseId, modelVersion);
}

/** Events of one record of a stream. Throws a StreamError for a record with an error. */
export function readRecord(json: unknown, model: string): ChatEvent[] {
  if (asObject(Array.isArray(json) ? json[0] : json)['error'] !== undefined) throw new StreamError(recordError(json));
  const record = expectObject(json, 'a record');
  const candidates = expectList(record['candidates'], '`candidates`');
  const candidate = expectObject(candidates[0], 'a candidate');
  const parts = expectList(expectObject(candidate['content'], 'the content')['parts'], '`parts`');
  return [
    ...parts.flatMap((part) => readPart(expectObject(part, 'a part'), bareModel(model))),
    ...readLogprobs(candidate['logprobsResult']),
    ...usageIn(record),
    ...(candidates.length === 0 ? readBlock(asObject(record['promptFeedback'])) : readFinish(candidate)),
  ];
}

/** The chosen tokens, and beside each the likeliest at its place. */
function readLogprobs(result: unknown): ChatEvent[] {
  if (!isObject(result)) return [];
  const nameOf = (entry: unknown): object => ({ token: asObject(entry)['token'], logprob: asObject(entry)['logProbability'] });
  const tops = asArray(result['topCandidates']).map((top) => asArray(asObject(top)['candidates']).map(nameOf));
  return logprobsIn(asArray(result['chosenCandidates']).map((chosen, place) => ({ ...nameOf(chosen), top_logprobs: tops[place] })));
}

function readPart(part: Record<string, unknown>, model: string): ChatEvent[] {
  if (part['functionCall'] !== undefined) return [readToolCall(asObject(part['functionCall']), asString(part['thoughtSignature']), model)];
  if (part['thought'] === true) {
    const thought = asString(part['text']) ?? '';
    return thought === '' ? [] : [{ type: 'reasoning', text: thought }];
  }
  const file = part['inlineData'] ?? part['fileData'];
  if (file !== undefined) return [leftOut(asString(asObject(file)['mimeType']))];
  const text = expectText(part['text'], 'the text of a part');
  const textSignature = asString(part['thoughtSignature']);
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...(textSignature === undefined ? [] : [{ type: 'providerMetadata' as const, providerMetadata: metadata({ model, textSignature }) }]),
  ];
}

/** Answers of ours are text. */
function leftOut(mediaType = 'an unknown type'): ChatEvent {
  return { type: 'warning', warning: { field: 'message.content', message: `The answer has a file of ${mediaType}, which is not passed on.` } };
}

/** An id of '' is replaced by one of ours; the metadata says which ids are Gemini's. */
function readToolCall(call: Record<string, unknown>, thoughtSignature: string | undefined, model: string): ChatEvent {
  const name = asString(call['name']) ?? '';
  if (name === '') throw malformed('a tool call has no name');
  const args = call['args'] ?? {};
  if (!isObject(args)) throw malformed('the arguments of a tool call are not a JSON object');
  const id = asString(call['id']) ?? '';
  const providerMetadata = metadata({ model, ...(thoughtSignature !== undefined && { thought_signature: thoughtSignature }), ...(id !== '' && { id }) });
  return { type: 'toolCall', toolCall: { id, name, arguments: args, providerMetadata } };
}

function metadata(google: GoogleMetadata): Record<string, unknown> {
  return { google };
}

/**
 * The server leaves out counts of 0: if any count is present, an absent one is 0. Thoughts are counted beside the candidate's tokens, or in the total alone. Where no
 * count has the prompt, neither its own nor the total, it is left to the estimate (no-empty-request).
 */
export function readUsage(json: unknown): ReportedUsage | undefined {
  const counts = asObject(asObject(json)['usageMetadata']);
  const count = (name: string): number | undefined => asCount(counts[`${name}TokenCount`] ?? 0);
  if (!Object.keys(counts).some((name) => name.endsWith('TokenCount'))) return undefined;
  const output = sumCounts(count('candidates'), count('thoughts'));
  const isInTotal = (count('total') ?? 0) > (output ?? 0);
  const prompt = isInTotal ? count('prompt') : countOfRequest(count('prompt'), output);
  const input = sumCounts(prompt, count('toolUsePrompt'));
  return {
    inputTokens: input,
    outputTokens: input === undefined ? output : Math.max(output ?? 0, (count('total') ?? 0) - input),
    cacheReadTokens: count('cachedContent'),
    reasoningTokens: count('thoughts'),
    ...dearParts(counts),
  };
}

/** The same as an event. */
export function usageIn(json: unknown): ChatEvent[] {
  const usage = readUsage(json);
  return usage === undefined ? [] : [{ type: 'usage', usage }];
}

/** What most answers have nothing of. */
function dearParts(counts: Readonly<Record<string, unknown>>): ReportedUsage {
  const details = counts['candidatesTokensDetails'];
  const [input, output, pictures] = [tokensOf('AUDIO', counts['promptTokensDetails']), tokensOf('AUDIO', details), tokensOf('IMAGE', details)];
  return {
    ...(input !== undefined && { inputAudioTokens: input }),
    ...(output !== undefined && { outputAudioTokens: output }),
    ...(pictures !== undefined && { outputImageTokens: pictures }),
    ...(mayCostMore(counts['serviceTier']) && { unpricedTier: true }),
  };
}

function tokensOf(modality: 'AUDIO' | 'IMAGE', details: unknown): number | undefined {
  return asPart(asObject(asArray(details).find((detail) => asObject(detail)['modality'] === modality))['tokenCount']);
}

/** A blocked prompt is an answer: HTTP 200, no candidate, and a reason. */
function readBlock(feedback: Record<string, unknown>): ChatEvent[] {
  const reason = asString(feedback['blockReason']) ?? '';
  if (reason === '') return [];
  return [
    { type: 'warning', warning: { field: 'message.content', message: `blocked: ${reason}` } },
    { type: 'stop', stopReason: 'content_filter' },
  ];
}

function readFinish(candidate: Record<string, unknown>): ChatEvent[] {
  const reason = asString(candidate['finishReason']) ?? '';
  if (reason === '') return [];
  if (FAILURES.has(reason)) {
    const message = [`the answer ended with ${reason}`, asString(candidate['finishMessage']) ?? ''].filter((text) => text !== '').join(': ');
    // The model has run and is paid for, so the caller decides whether to run it again.
    throw new StreamError({ kind: 'failed', message, retryable: false, mayHaveRun: true });
  }
  return [{ type: 'stop', stopReason: STOP_REASONS.get(reason) ?? (reason.startsWith('IMAGE_') ? 'content_filter' : 'unknown') }];
}
