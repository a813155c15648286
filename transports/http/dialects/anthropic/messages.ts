// The messages of a Messages request as canonical ones. Pure: no I/O.
//
// results-first: what a user says beside results of tools comes after them.
// as-spoken: a turn of the assistant that says something after a call is several messages, one after the other.
import { createHash } from 'node:crypto';
import { type ContentPart, invalidRequest, type Message, type ToolCall, type ToolResult } from '../../../../core/index.ts';
import type { ToolNames } from '../shared/conversation.ts';
import { conversationIn, type Fields, objectAt, requiredText } from '../shared/fields.ts';
import { contentOfParts } from '../shared/media.ts';
import { type AnswerState, unpackState, withStates } from '../shared/packed-state.ts';
import { argumentsOf } from '../shared/tool-calls.ts';
import { blocksOf, cacheOf, type Notes, partsIn, partsOf } from './content.ts';

type AssistantMessage = Extract<Message, { readonly role: 'assistant' }>;

const CLIENT_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** The id of a call as a client takes it: an id with other characters gets the same substitute each time. */
export function clientId(id: string): string {
  if (CLIENT_ID.test(id)) return id;
  return `${id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 48)}_${createHash('sha256').update(id).digest('hex').slice(0, 12)}`;
}

/** Claude Code's own note for Anthropic's bills. It changes with each request, which would make every prompt cache useless. */
const BILLING_NOTE = 'x-anthropic-billing-header:';

/** The system text, which comes before all messages. Throws INVALID_REQUEST naming the field. */
export function systemOf(system: unknown, path: string, notes: Notes): Message[] {
  if (system == null) return [];
  const blocks = blocksOf(system, path).filter(({ block }) => typeof block['text'] !== 'string' || !block['text'].startsWith(BILLING_NOTE));
  const parts = blocks.flatMap(({ block, path: at }) => partsIn(block, at, notes));
  return parts.length === 0 ? [] : [notes.sources.note<Message>({ role: 'system', content: contentOfParts(parts) }, path)];
}

/** Throws INVALID_REQUEST naming the field. */
export function readMessages(body: Fields, names: ToolNames, notes: Notes): Message[] {
  const messages = conversationIn(body, 'messages');
  if (messages === undefined || messages.length === 0) throw invalidRequest('messages', 'must have at least one message');
  return messages.flatMap((given, index) => {
    const path = `messages.${index}`;
    const message = objectAt(given, path);
    switch (message['role']) {
      case 'system':
        return systemOf(message['content'], `${path}.content`, notes);
      case 'user':
        return readUser(message, path, notes);
      case 'assistant':
        return readAssistant(message, path, names, notes);
      default:
        throw invalidRequest(`${path}.role`, 'must be user, assistant or system');
    }
  });
}

/** results-first. */
function readUser(message: Fields, path: string, notes: Notes): Message[] {
  const { content } = message;
  if (typeof content === 'string') return [notes.sources.note<Message>({ role: 'user', content }, path)];
  const results: ToolResult[] = [];
  const parts: ContentPart[] = [];
  for (const { block, path: at } of blocksOf(content, `${path}.content`)) {
    if (block['type'] === 'tool_result') results.push(readResult(block, at, notes));
    else parts.push(...partsIn(block, at, notes));
  }
  const { sources } = notes;
  return [
    ...(results.length === 0 ? [] : [sources.note<Message>({ role: 'tool', toolResults: results }, path)]),
    ...(parts.length === 0 && results.length > 0 ? [] : [sources.note<Message>({ role: 'user', content: contentOfParts(parts) }, path)]),
  ];
}

function readResult(block: Fields, path: string, notes: Notes): ToolResult {
  const parts = partsOf(block['content'], `${path}.content`, notes);
  const { cache } = cacheOf(block);
  if (cache !== undefined) parts.push({ ...(parts.pop() ?? { type: 'text', text: '' }), cache });
  const result: ToolResult = { toolCallId: requiredText(block, 'tool_use_id', `${path}.tool_use_id`), content: contentOfParts(parts) };
  return notes.sources.note(block['is_error'] === true ? { ...result, isError: true } : result, path);
}

/** as-spoken. */
function readAssistant(message: Fields, path: string, names: ToolNames, notes: Notes): AssistantMessage[] {
  const first: Said = { parts: [], calls: [] };
  const said = [first];
  let now = first;
  const states: AnswerState[] = [];
  for (const { block, path: at } of blocksOf(message['content'], `${path}.content`)) {
    switch (block['type']) {
      case 'tool_use':
        now.calls.push(notes.sources.note(readCall(block, at, names), at));
        break;
      case 'thinking':
      case 'redacted_thinking':
        states.push(...readThinking(block, at, notes));
        break;
      default: {
        const parts = partsIn(block, at, notes);
        if (parts.length === 0) break;
        if (now.calls.length > 0) {
          now = { parts: [], calls: [] };
          said.push(now);
        }
        now.parts.push(...parts);
      }
    }
  }
  return withStates(said.map(messageOf), states).map((one) => notes.sources.note(one, path));
}

/** What an assistant says until it speaks again after a call. */
interface Said {
  readonly parts: ContentPart[];
  readonly calls: ToolCall[];
}

function messageOf({ parts, calls }: Said): AssistantMessage {
  const content = contentOfParts(parts);
  return { role: 'assistant', ...(content.length > 0 && { content }), ...(calls.length > 0 && { toolCalls: calls }) };
}

function readCall(block: Fields, path: string, names: ToolNames): ToolCall {
  return {
    id: requiredText(block, 'id', `${path}.id`),
    name: names.toOurs(requiredText(block, 'name', `${path}.name`)),
    arguments: argumentsOf(block['input'], `${path}.input`, names.budget),
    ...cacheOf(block),
  };
}

/** Only what this server has packed is understood. The text of a thought is for people. */
function readThinking(block: Fields, path: string, { warnings }: Notes): AnswerState[] {
  const packed = block['type'] === 'thinking' ? block['signature'] : block['data'];
  if (packed == null || packed === '') return [];
  const state = unpackState(packed);
  if (state === undefined) warnings.push({ field: path, message: 'The thinking was left out, since another model or server has made it.' });
  return state === undefined ? [] : [state];
}
