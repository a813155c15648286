// What every dialect does to a client's conversation so that the gateway takes it: clients can't be changed, so odd but harmless histories are mended and
// warned of. Pure: no I/O.
import type { ChatRequest, ContentPart, Message, ToolResult, Warning } from '../../../../core/index.ts';
import type { DialectRequest } from './dialect.ts';
import { ArgumentBudget } from './tool-calls.ts';

type Messages = ChatRequest['messages'];
type Content = string | readonly ContentPart[];

const NO_RESULT = '(no result)';

/** A call that waits for its result, in its step: the assistant's messages in a row, from the first that calls a tool. */
interface WaitingCall {
  readonly id: string;
  readonly step: Step;
  result?: ToolResult;
}

/** The calls of a step. What the assistant says goes on in it until a result or another's message comes. */
interface Step {
  readonly calls: WaitingCall[];
  isOpen: boolean;
  /** True once the user or the assistant has spoken after it. */
  isPast: boolean;
}

/**
 * Each result comes right after the step of its call, wherever the client has it. Calls without a result get one, a result without its call becomes text of the
 * user, and assistant turns without anything are left out. Warnings name `field`, the client's own name of the list.
 */
export function mended(messages: Messages, field: string): { readonly messages: Messages; readonly warnings: readonly Warning[] } {
  if (messages.every(hasNothingOpen)) return { messages, warnings: [] };
  const mender = new Mender(field);
  for (const message of messages) mender.take(message);
  return { messages: mender.messages(), warnings: mender.warnings };
}

class Mender {
  readonly warnings: Warning[] = [];
  readonly #field: string;
  /** A step stands where its results go. */
  readonly #out: (Message | Step)[] = [];
  /** The calls without a result by their id: for each step that has some, in the order of the conversation. */
  readonly #waiting = new Map<string, WaitingCall[][]>();
  #step: Step | undefined;

  constructor(field: string) {
    this.#field = field;
  }

  take(message: Message): void {
    switch (message.role) {
      case 'tool':
        this.#endStep();
        for (const result of message.toolResults) this.#answer(result);
        break;
      case 'assistant':
        this.#assistant(message);
        break;
      case 'user':
        this.#endStep();
        this.#pass();
        this.#out.push(message);
        break;
      default:
        this.#out.push(message);
    }
  }

  messages(): Message[] {
    this.#endStep();
    return this.#out.map((one) => ('calls' in one ? { role: 'tool', toolResults: one.calls.map((call) => this.#resultOf(call)) } : one));
  }

  #resultOf({ id, result }: WaitingCall): ToolResult {
    if (result !== undefined) return result;
    this.#warn(`A tool call has no result, so it got "${NO_RESULT}".`);
    return { toolCallId: id, content: NO_RESULT };
  }

  #assistant(message: Extract<Message, { readonly role: 'assistant' }>): void {
    const calls = message.toolCalls ?? [];
    if (calls.length === 0 && isEmpty(message.content)) {
      this.#warn('An empty turn of the assistant was left out.');
      return;
    }
    if (this.#step?.isOpen !== true) {
      this.#pass();
      if (calls.length > 0) this.#step = { calls: [], isOpen: true, isPast: false };
    }
    this.#out.push(message);
    for (const { id } of calls) this.#wait(id);
  }

  #wait(id: string): void {
    const step = this.#step;
    if (step === undefined) return;
    const call: WaitingCall = { id, step };
    step.calls.push(call);
    const steps = this.#waiting.get(id);
    const last = steps?.at(-1);
    if (steps === undefined) this.#waiting.set(id, [[call]]);
    else if (last?.[0]?.step === step) last.push(call);
    else steps.push([call]);
  }

  /** A client that counts its calls from 0 in each step means the last step; within a step the first call. */
  #answer(result: ToolResult): void {
    const steps = this.#waiting.get(result.toolCallId);
    const last = steps?.at(-1);
    const call = last?.shift();
    if (last?.length === 0) steps?.pop();
    if (call !== undefined) {
      if (call.step.isPast) this.#warn('A tool result came late, so it was put right after its call.');
      call.result = result;
      return;
    }
    this.#warn('A tool result answers no call, so it became text of the user.');
    this.#pass();
    if (!isEmpty(result.content)) this.#out.push({ role: 'user', content: result.content });
  }

  #endStep(): void {
    if (this.#step?.isOpen !== true) return;
    this.#step.isOpen = false;
    this.#out.push(this.#step);
  }

  #pass(): void {
    if (this.#step !== undefined) this.#step.isPast = true;
  }

  #warn(message: string): void {
    this.warnings.push({ field: this.#field, message });
  }
}

/** Most conversations have no calls, and nothing to mend. */
function hasNothingOpen(message: Message): boolean {
  if (message.role === 'assistant') return (message.toolCalls?.length ?? 0) === 0 && !isEmpty(message.content);
  return message.role !== 'tool';
}

/** Reasoning alone says nothing. */
function isEmpty(content: Content | undefined): boolean {
  if (content === undefined || typeof content === 'string') return (content ?? '').trim() === '';
  return content.every(({ type, text }) => type === 'reasoning' || (type === 'text' && (text ?? '').trim() === ''));
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
  /** For the arguments of the calls of the same request. */
  readonly budget = new ArgumentBudget();

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
