// Estimates the tokens of a prompt, for calls whose provider did not count them. Pure: no I/O.
import { estimateTokens, TokenEstimate } from '../base/tokens.ts';
import type { ContentPart } from '../types.ts';
import { bodyTokens, FILE_TOKENS, fileTokens, imageTokens, Looks, MEDIA_TOKENS } from './media-tokens.ts';
import type { Prompt } from './prompt.ts';
import type { Turn } from './turns.ts';

/** Of a long call under way the question comes again and again. */
const known = new WeakMap<Prompt, number>();
/** To count fewer takes less time than to remember them. */
const MIN_KNOWN_TOKENS = 500;
/** To count a longer text takes longer than to ask whether it is known. */
const LONG_TEXT = 1024;

/** About how many tokens a provider counts for this prompt. Reasoning of earlier turns counts only as far as it goes back to the provider. */
export function promptTokens(prompt: Prompt): number {
  const text = onlyText(prompt);
  if (text !== undefined && text.length < LONG_TEXT)
    return prompt.system === undefined ? estimateTokens(text) : new TokenEstimate().add(prompt.system).add(text).tokens;
  const remembered = known.get(prompt);
  if (remembered !== undefined) return remembered;
  const tokens = count(prompt);
  if (tokens >= MIN_KNOWN_TOKENS) known.set(prompt, tokens);
  return tokens;
}

/** Of a prompt that is nothing but one text and its system text; else undefined. */
function onlyText({ turns, tools, options }: Prompt): string | undefined {
  const [turn] = turns;
  if (turns.length !== 1 || turn?.role !== 'user' || turn.parts !== undefined || tools.length > 0 || options?.output !== undefined) return undefined;
  return turn.text;
}

/** The same when the content of the prompt is about to be dropped: the count stays known. */
export function rememberTokens(prompt: Prompt): void {
  known.set(prompt, promptTokens(prompt));
}

function count({ system = '', turns, tools, options, replayed, fetchedTokens }: Prompt): number {
  const sum = new TokenEstimate().add(system);
  const looks = new Looks();
  let media = 0;
  for (const turn of turns) {
    addTexts(turn, sum);
    media += mediaIn(turn, sum, looks, fetchedTokens);
    if (turn.role === 'assistant' && replayed !== undefined) media += stateTokens(replayed(turn), looks);
  }
  if (tools.length > 0) sum.add(JSON.stringify(tools));
  if (options?.output !== undefined) sum.add(JSON.stringify(options.output));
  return sum.tokens + media;
}

/** The caller could have written the state, so it may be as long as a text and hold files. */
function stateTokens(state: unknown, looks: Looks): number {
  return state === undefined ? 0 : bodyTokens(state, Buffer.byteLength(JSON.stringify(state)), looks);
}

function addTexts(turn: Turn, sum: TokenEstimate): void {
  if (turn.role === 'tool') {
    for (const { content } of turn.results) sum.add(content);
    return;
  }
  sum.add(turn.text);
  if (turn.role === 'assistant') for (const call of turn.toolCalls) sum.add(call.name).add(JSON.stringify(call.arguments));
}

/** The tokens of the parts that are not text. Adds the texts of documents to `sum`. */
function mediaIn(turn: Turn, sum: TokenEstimate, looks: Looks, fetchedTokens: number | undefined): number {
  if (turn.role !== 'tool') return turn.parts === undefined ? 0 : mediaOf(turn.parts, sum, looks, fetchedTokens);
  let media = 0;
  for (const { parts } of turn.results) if (parts !== undefined) media += mediaOf(parts, sum, looks, fetchedTokens);
  return media;
}

function mediaOf(parts: readonly ContentPart[], sum: TokenEstimate, looks: Looks, fetchedTokens: number | undefined): number {
  let media = 0;
  for (const { type, text, data, mediaType, url } of parts) {
    if (type === 'text' || type === 'reasoning') continue;
    if (url !== undefined && fetchedTokens !== undefined) media += fetchedTokens;
    else if (type === 'document' && text !== undefined) sum.add(text);
    else if (type === 'image') media += data === undefined ? MEDIA_TOKENS : imageTokens(data, looks);
    else media += data === undefined ? FILE_TOKENS : Math.max(MEDIA_TOKENS, fileTokens(data, mediaType, looks));
  }
  return media;
}
