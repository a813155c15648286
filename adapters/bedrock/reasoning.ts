// Sends reasoning blocks back with the next request. Pure: no I/O.
//
// Newer Claude models check that a returned block follows exactly the conversation that it was written after, and that no block is missing.
// So a request sends back all of them, after comparing a digest of the conversation before each, or none.
//
// leading: reasoning that comes before all else of its answer is complete before the answer goes on. A reader may have it from then on, and it goes back in
//   front of the text and the calls as the caller has them. The whole answer is compared with what the caller brings back wherever the caller has all of it.
import { isObject } from '../../core/base/json.ts';
import type { AssistantTurn } from '../../core/index.ts';
import { prefixDigest } from '../shared/claude.ts';
import { type MergedTurn, writtenText } from '../shared/merge-turns.ts';
import { asObject, asString } from '../shared/read.ts';
import { given, stateIn } from '../shared/turn-state.ts';
import type { AssistantBlock, BedrockBlock, BedrockMessage, BedrockRequest, ReasoningContent } from './schema.ts';

/** The part of a request that comes before its messages. */
export type Frame = Pick<BedrockRequest, 'system' | 'toolConfig'>;

/** Kept in an answer's `providerMetadata.bedrock` if the model has reasoned. */
export interface ReasoningState {
  readonly model: string;
  /** Digest of everything before the answer. */
  readonly prefix: string;
  /** Every block of the answer, in order; or its reasoning alone (leading). */
  readonly content: readonly AssistantBlock[];
}

function isReasoning(block: AssistantBlock): boolean {
  return 'reasoningContent' in block;
}

/** The digest of a request that reasoning in its answer is bound to; it leaves out cache points. */
export function digestOf(frame: Frame, messages: readonly BedrockMessage[]): string {
  return prefixDigest([frame.system ?? null, frame.toolConfig ?? null, messages.map(withoutPoints)]);
}

function withoutPoints(message: BedrockMessage): BedrockMessage {
  const { role, content } = message;
  return content.some((block) => 'cachePoint' in block) ? { role, content: content.filter((block) => !('cachePoint' in block)) } : message;
}

/** `plain` with the reasoning put back; `plain` itself if any of it is lost or bound to another conversation or model. */
export function replayReasoning(model: string, frame: Frame, turns: readonly MergedTurn[], plain: BedrockMessage[]): BedrockMessage[] {
  const replayed: BedrockMessage[] = [];
  let found = false;
  for (const [index, turn] of turns.entries()) {
    const message = plain[index] as BedrockMessage;
    const state = turn.role === 'user' ? undefined : stateOf(turn.turns, model);
    if (state === undefined) {
      if (turn.role === 'assistant' && turn.turns.some((part) => part.toolCalls.length > 0)) return plain;
      replayed.push(message);
      continue;
    }
    if (state.prefix !== digestOf(frame, replayed)) return plain;
    found = true;
    replayed.push({ role: 'assistant', content: withReasoning(message, state.content) });
  }
  return found ? replayed : plain;
}

/** The answer's own blocks in their order, with its calls and their cache points as the caller sent them back, because the caller may have edited the arguments. */
function withReasoning(message: BedrockMessage, content: readonly AssistantBlock[]): BedrockMessage['content'] {
  if (content.every(isReasoning)) return [...content, ...message.content];
  const calls = message.content.flatMap((block, index) => {
    if (!('toolUse' in block)) return [];
    const next = message.content[index + 1];
    return [next !== undefined && 'cachePoint' in next ? [block, next] : [block]];
  });
  return content.flatMap((block): BedrockBlock[] => ('toolUse' in block ? (calls.shift() ?? [block]) : [block]));
}

/** See `Adapter.replayed`. */
export function replayed(model: string, turn: AssistantTurn): unknown {
  const { content = [] } = stateOf([turn], model) ?? {};
  const isSame = textOf(content) === writtenText(turn);
  return given(content.map((block) => ('toolUse' in block || ('text' in block && isSame) ? undefined : block)));
}

/** The reasoning of a turn; undefined if the model, the text or the calls differ from what the model wrote. */
function stateOf(parts: readonly AssistantTurn[], model: string): ReasoningState | undefined {
  const part = parts.length === 1 ? parts[0] : undefined;
  const state = part === undefined ? undefined : stateIn(part, 'bedrock');
  const prefix = asString(state?.['prefix']);
  if (part === undefined || state?.['model'] !== model || prefix === undefined) return undefined;
  const content = readContent(state['content']);
  // leading, but for a message of reasoning alone, which would be refused
  if (content?.every(isReasoning) && (part.text.trim() !== '' || part.toolCalls.length > 0)) return { model, prefix, content };
  if (content === undefined || textOf(content).trim() !== writtenText(part).trim()) return undefined;
  const ids = content.flatMap((block) => ('toolUse' in block ? [block.toolUse.toolUseId] : []));
  const sameCalls = ids.length === part.toolCalls.length && ids.every((id, at) => id === part.toolCalls[at]?.id);
  return sameCalls ? { model, prefix, content } : undefined;
}

function textOf(content: readonly AssistantBlock[]): string {
  return content.map((block) => ('text' in block ? block.text : '')).join('');
}

/** The caller could have changed the blocks, so each is checked before it is sent. */
function readContent(value: unknown): AssistantBlock[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const blocks = value.map(readBlock);
  return blocks.every((block) => block !== undefined) ? blocks : undefined;
}

function readBlock(value: unknown): AssistantBlock | undefined {
  const block = asObject(value);
  if (typeof block['text'] === 'string') return { text: block['text'] };
  if (isObject(block['reasoningContent'])) {
    const reasoning = readReasoning(block['reasoningContent']);
    return reasoning === undefined ? undefined : { reasoningContent: reasoning };
  }
  const { toolUseId, name, input } = asObject(block['toolUse']);
  return typeof toolUseId === 'string' && typeof name === 'string' && isObject(input) ? { toolUse: { toolUseId, name, input } } : undefined;
}

function readReasoning(value: Record<string, unknown>): ReasoningContent | undefined {
  const redactedContent = asString(value['redactedContent']);
  if (redactedContent !== undefined) return { redactedContent };
  const { text, signature } = asObject(value['reasoningText']);
  return typeof text === 'string' && typeof signature === 'string' ? { reasoningText: { text, signature } } : undefined;
}
