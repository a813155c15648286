// Reasoning blocks on their way back. Pure: no I/O.
//
// Newer Claude models check that a returned block stands behind exactly what it was written behind, and that none is
// missing among others: so it is all of them, proved by a digest of the prefix, or none.
import { isObject } from '../../core/index.ts';
import { prefixDigest } from '../claude.ts';
import type { AssistantTurn, MergedTurn } from '../merge-turns.ts';
import { asObject, asString, metadataOf } from '../read.ts';
import type { AssistantBlock, BedrockMessage, BedrockRequest, ReasoningContent } from './schema.ts';

/** What stands before the messages. */
export type Frame = Pick<BedrockRequest, 'system' | 'toolConfig'>;

/** What an answer with reasoning carries in its providerMetadata, under the adapter's id. */
export interface ReasoningState {
  readonly model: string;
  /** Digest of everything before the answer. */
  readonly prefix: string;
  /** Every block of the answer, in order. */
  readonly content: readonly AssistantBlock[];
}

/** The digest that an answer to this request is bound to; cache points are no part of it. */
export function digestOf(frame: Frame, messages: readonly BedrockMessage[]): string {
  return prefixDigest([frame.system ?? null, frame.toolConfig ?? null, messages]);
}

/** `plain` with the reasoning put back, or `plain` itself where any of it is lost or bound elsewhere. */
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

/** The answer's own blocks in their order, but its calls as the caller sent them back: edited arguments count. */
function withReasoning(message: BedrockMessage, content: readonly AssistantBlock[]): BedrockMessage['content'] {
  const calls = message.content.filter((block) => 'toolUse' in block);
  return content.map((block) => ('toolUse' in block ? (calls.shift() ?? block) : block));
}

/** The state of a turn that is still what the model wrote: same model, same text, same calls. */
function stateOf(parts: readonly AssistantTurn[], model: string): ReasoningState | undefined {
  const part = parts.length === 1 ? parts[0] : undefined;
  const state = part === undefined ? undefined : metadataOf(part, 'bedrock');
  const prefix = asString(state?.['prefix']);
  if (part === undefined || state?.['model'] !== model || prefix === undefined) return undefined;
  const content = readContent(state['content']);
  if (content === undefined || textOf(content).trim() !== part.text.trim()) return undefined;
  const ids = content.flatMap((block) => ('toolUse' in block ? [block.toolUse.toolUseId] : []));
  const sameCalls = ids.length === part.toolCalls.length && ids.every((id, at) => id === part.toolCalls[at]?.id);
  return sameCalls ? { model, prefix, content } : undefined;
}

function textOf(content: readonly AssistantBlock[]): string {
  return content.map((block) => ('text' in block ? block.text : '')).join('');
}

/** The blocks passed through the caller's hands, so they are read as strictly as they were written. */
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
