// Sends thinking blocks back with the next request. Pure: no I/O.
//
// Newer models check that a returned block follows exactly the conversation that it was written after, and that no block is missing.
// So a request sends back all of them, after comparing a digest of the conversation before each, or none.
//
// of-an-answer: anybody can make a state, because its digest has no secret. So only such blocks and members go back as an answer to our requests may have, and
//   what they have beside the text and the calls of the caller is part of the estimate of the request.
//
// leading: reasoning that comes before all else of its answer is complete before the answer goes on. A reader may have it from then on, and it goes back in
//   front of the text and the calls as the caller has them. The whole answer is compared with what the caller brings back wherever the caller has all of it.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../core/base/json.ts';
import { prefixDigest } from '../shared/claude.ts';
import type { AssistantTurn } from '../../core/index.ts';
import { type MergedTurn, writtenText } from '../shared/merge-turns.ts';
import { lookUp } from '../shared/read.ts';
import { given, stateIn } from '../shared/turn-state.ts';
import type { AnthropicMessage, AnthropicRequest, RawBlock } from './schema.ts';

type Frame = Omit<AnthropicRequest, 'messages'>;

/** Kept in an answer's `providerMetadata.anthropic` if the model has thought. */
export interface ThinkingState {
  readonly [key: string]: unknown;
  readonly model: string;
  /** Digest of everything before the answer. */
  readonly prefix: string;
  /** Every block of the answer, as it came; or its thinking alone (leading). */
  readonly content: readonly RawBlock[];
}

/** True if thinking came with the turn, whether or not it is still valid. */
export function hasThinking(turn: AssistantTurn): boolean {
  return stateIn(turn, 'anthropic') !== undefined;
}

/** True for a block that only the model can use. */
export function isThinking(block: RawBlock): boolean {
  return block['type'] === 'thinking' || block['type'] === 'redacted_thinking';
}

/** The digest of a request that thinking in its answer is bound to. */
export function digestOf(frame: Frame, messages: readonly AnthropicMessage[]): string {
  return prefixDigest([frame.system ?? null, frame.tools ?? null, messages]);
}

/** `plain` with the assistant's own blocks put back; `plain` itself if any block is lost or bound to another conversation or model. */
export function replayThinking(model: string, frame: Frame, turns: readonly MergedTurn[], plain: AnthropicMessage[]): AnthropicMessage[] {
  const replayed: AnthropicMessage[] = [];
  let found = false;
  for (const [index, turn] of turns.entries()) {
    const message = plain[index] as AnthropicMessage;
    if (turn.role === 'user') {
      replayed.push(message);
      continue;
    }
    const state = stateOf(turn.turns, model);
    if (state === undefined && turn.turns.every((part) => part.toolCalls.length === 0)) {
      replayed.push(message);
      continue;
    }
    if (state === undefined || state.prefix !== digestOf(frame, replayed)) return plain;
    found = true;
    replayed.push({ role: 'assistant', content: state.content.every(isThinking) ? [...state.content, ...message.content] : [...state.content] });
  }
  return found ? replayed : plain;
}

/** See `Adapter.replayed`. */
export function replayed(model: string, turn: AssistantTurn): unknown {
  const { content = [] } = stateOf([turn], model) ?? {};
  const isSame = textOf(content) === writtenText(turn);
  return given(
    content.map((block) => {
      if (block['type'] === 'tool_use') return block['caller'];
      return block['type'] === 'text' && isSame ? block['citations'] : block;
    }),
  );
}

/** Besides the type. Of each block that an answer may have (of-an-answer). */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'citations'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'name', 'input', 'caller'],
  // Of tools that a compatible server runs by itself.
  server_tool_use: ['id', 'name', 'input', 'caller'],
  mcp_tool_use: ['id', 'name', 'server_name', 'input'],
};
const RESULT = /^[a-z_]+_tool_result$/;
const RESULT_MEMBERS = ['tool_use_id', 'content', 'is_error', 'caller'];

/** Without members that no answer has; undefined for a block that is in no answer. The order of the members stays: digests depend on it. */
function readBlock(block: unknown): RawBlock | undefined {
  const type = isObject(block) ? block['type'] : undefined;
  if (!isObject(block) || typeof type !== 'string') return undefined;
  const members = lookUp(MEMBERS, type) ?? (RESULT.test(type) ? RESULT_MEMBERS : undefined);
  if (members === undefined || (type === 'text' && typeof block['text'] !== 'string')) return undefined;
  return Object.fromEntries(Object.entries(block).filter(([name]) => name === 'type' || members.includes(name)));
}

function readContent(value: unknown): RawBlock[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const blocks = value.map(readBlock);
  return blocks.every((block) => block !== undefined) ? blocks : undefined;
}

function textOf(content: readonly RawBlock[]): string {
  return content.map((block) => (block['type'] === 'text' ? block['text'] : '')).join('');
}

/** The thinking of a turn; undefined if the model, the text or the calls differ from what the model wrote. */
function stateOf(parts: readonly AssistantTurn[], model: string): ThinkingState | undefined {
  const part = parts.length === 1 ? parts[0] : undefined;
  const state = part === undefined ? undefined : stateIn(part, 'anthropic');
  if (part === undefined || state?.['model'] !== model || typeof state['prefix'] !== 'string') return undefined;
  const content = readContent(state['content']);
  if (content === undefined) return undefined;
  // leading, but for a message of thinking alone, which would be refused
  if (content.every(isThinking) && (part.text.trim() !== '' || part.toolCalls.length > 0)) return { model, prefix: state['prefix'], content };
  const calls = content.filter((block) => block['type'] === 'tool_use');
  const asked = part.toolCalls.map((call) => [call.id, call.name, call.arguments]);
  const written = calls.map((block) => [block['id'], block['name'], block['input']]);
  const unchanged = textOf(content).trim() === writtenText(part).trim() && isDeepStrictEqual(written, asked);
  return unchanged ? { model, prefix: state['prefix'], content } : undefined;
}
