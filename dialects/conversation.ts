// What every dialect does to a client's conversation so that the gateway takes it: clients can't be changed, so odd but harmless histories are mended and
// warned of. Pure: no I/O.
import type { ChatRequest, ContentPart, Message, ToolCall, ToolResult, Warning } from '../core/index.ts';
import type { DialectRequest } from './dialect.ts';

type Messages = ChatRequest['messages'];
type Content = string | readonly ContentPart[];

const NO_RESULT = '(no result)';

/**
 * Calls without a result get one, a result without its call becomes text of the user, and assistant turns without anything are left out. Warnings name
 * `field`, the client's own name of the list.
 */
export function mended(messages: Messages, field: string): { readonly messages: Messages; readonly warnings: readonly Warning[] } {
  if (messages.every(hasNothingOpen)) return { messages, warnings: [] };
  const warnings: Warning[] = [];
  const out: Message[] = [];
  let open = new Map<string, ToolCall>();
  let results: ToolResult[] = [];
  const close = (): void => {
    const missing = [...open.keys()].filter((id) => !results.some(({ toolCallId }) => toolCallId === id));
    if (missing.length > 0) warnings.push({ field, message: `A tool call has no result, so it got "${NO_RESULT}".` });
    const all = [...results, ...missing.map((toolCallId): ToolResult => ({ toolCallId, content: NO_RESULT }))];
    if (all.length > 0) out.push({ role: 'tool', toolResults: all });
    open = new Map();
    results = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      const orphans: Content[] = [];
      for (const result of message.toolResults) {
        const isKnown = open.has(result.toolCallId) && !results.some(({ toolCallId }) => toolCallId === result.toolCallId);
        if (isKnown) results.push(result);
        else orphans.push(result.content);
      }
      if (orphans.length === 0) continue;
      warnings.push({ field, message: 'A tool result answers no call, so it became text of the user.' });
      close();
      for (const content of orphans) if (!isEmpty(content)) out.push({ role: 'user', content });
      continue;
    }
    if (message.role !== 'system') close();
    if (message.role === 'assistant') {
      const calls = message.toolCalls ?? [];
      if (calls.length === 0 && isEmpty(message.content)) {
        warnings.push({ field, message: 'An empty turn of the assistant was left out.' });
        continue;
      }
      open = new Map(calls.map((call) => [call.id, call]));
    }
    out.push(message);
  }
  close();
  return { messages: out, warnings };
}

/** Most conversations have no calls, and nothing to mend. */
function hasNothingOpen(message: Message): boolean {
  if (message.role === 'assistant') return (message.toolCalls?.length ?? 0) === 0 && !isEmpty(message.content);
  return message.role !== 'tool';
}

function isEmpty(content: Content | undefined): boolean {
  if (content === undefined || typeof content === 'string') return (content ?? '').trim() === '';
  return content.every(({ type, text }) => type === 'text' && (text ?? '').trim() === '');
}

/** What is asked of the gateway. A choice among no tools is none. Field by field, because every request passes here and a spread costs several times as much. */
export function chatOf(
  messages: Messages,
  tools: NonNullable<ChatRequest['tools']>,
  toolChoice: ChatRequest['toolChoice'] | undefined,
  config: ChatRequest['config'],
): DialectRequest['chat'] {
  const chat: { -readonly [K in keyof DialectRequest['chat']]: DialectRequest['chat'][K] } = { messages };
  if (tools.length > 0) {
    chat.tools = tools;
    if (toolChoice !== undefined) chat.toolChoice = toolChoice;
  }
  if (config !== undefined) chat.config = config;
  return chat;
}

/** Both lists; most requests have no warnings. */
export function joinedWarnings(warnings: readonly Warning[], further: readonly Warning[]): readonly Warning[] {
  return further.length === 0 ? warnings : [...warnings, ...further];
}

const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** Names of tools that the gateway takes, for those that a client uses, and back. */
export class ToolNames {
  /** Undefined until there is a name. */
  #ours: Map<string, string> | undefined;
  #theirs: Map<string, string> | undefined;

  /** The name for the gateway; the same for the same name. */
  toOurs(name: string): string {
    this.#ours ??= new Map();
    this.#theirs ??= new Map();
    const known = this.#ours.get(name);
    if (known !== undefined) return known;
    const plain = NAME.test(name) ? name : `t_${name.replace(/[^a-zA-Z0-9_-]/g, '_')}`.slice(0, 56);
    let ours = plain;
    for (let n = 2; this.#theirs.has(ours); n += 1) ours = `${plain.slice(0, 56)}_${n}`;
    this.#ours.set(name, ours);
    this.#theirs.set(ours, name);
    return ours;
  }

  /** The client's name of a tool that the model has called. */
  toTheirs(name: string): string {
    return this.#theirs?.get(name) ?? name;
  }
}

/** `/v1/chat` takes temperatures up to 1; what is above is sent as 1. */
export function clampedTemperature(value: number, warnings: Warning[], field = 'temperature'): number {
  if (value <= 1) return value;
  warnings.push({ field, message: 'A temperature above 1 was sent as 1.' });
  return 1;
}
