// A request to several models at once, and what each answers. Nothing of it is kept on the server; the last request stays in the tab.
import { type Signal, signal } from '@preact/signals';
import type { ToolCall, Usage, Warning } from '../../../core/types.ts';
import { ownOf } from '../base/own.ts';
import { EventReader } from '../base/sse.ts';
import { stored } from '../base/stored.ts';
import { respond } from './http.ts';

/** What is asked. Texts as they are typed. */
export interface Question {
  /** As `provider/model`. */
  readonly models: readonly string[];
  readonly system: string;
  readonly message: string;
  readonly maxTokens: string;
  readonly temperature: string;
  /** A JSON array of tools; empty for none. */
  readonly tools: string;
  /** A JSON schema for the answer; empty for none. */
  readonly schema: string;
}

/** A message of the conversation that goes on with answers to tools. */
export type Turn = Readonly<Record<string, unknown>>;

/** One model's answer, as it comes. */
export interface Answer {
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage | undefined;
  readonly stopReason: string | undefined;
  readonly warnings: readonly Warning[];
  readonly error: unknown;
  readonly isRunning: boolean;
  readonly firstTextMs: number | undefined;
  readonly durationMs: number;
}

const KEPT_AT = 'blockhouse.playground';
export const MAX_MODELS = 4;
export const EMPTY: Question = { models: [''], system: '', message: '', maxTokens: '', temperature: '', tools: '', schema: '' };

/** The last request of this tab. */
export function keptQuestion(): Question {
  return { ...EMPTY, ...(stored(sessionStorage, KEPT_AT) as Partial<Question> | undefined) };
}

export function keepQuestion(question: Question): void {
  sessionStorage.setItem(KEPT_AT, JSON.stringify(question));
}

/** The body of `POST /v1/chat` for one model. Throws an Error that names what was typed wrong. */
export function bodyOf(question: Question, model: string, turns: readonly Turn[]): Readonly<Record<string, unknown>> {
  const [adapter = '', ...rest] = model.split('/');
  if (rest.join('/') === '') throw new Error('Write the model as provider/model.');
  const config = {
    ...(question.maxTokens.trim() !== '' && { maxTokens: Number(question.maxTokens) }),
    ...(question.temperature.trim() !== '' && { temperature: Number(question.temperature) }),
    ...(question.schema.trim() !== '' && { output: { type: 'json_schema', schema: json('Schema', question.schema) } }),
  };
  return {
    adapter,
    model: rest.join('/'),
    messages: [...(question.system.trim() === '' ? [] : [{ role: 'system', content: question.system }]), { role: 'user', content: question.message }, ...turns],
    stream: { reasoning: true, toolDeltas: true },
    ...(Object.keys(config).length > 0 && { config }),
    ...(question.tools.trim() !== '' && { tools: json('Tools', question.tools) }),
  };
}

/** The request as a command; the key is a variable. */
export function curlOf(origin: string, body: object): string {
  const text = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl -N ${origin}/v1/chat -H "Authorization: Bearer $(blockhouse token)" -H 'Content-Type: application/json' -d '${text}'`;
}

/** A running request; its answer changes with each piece. */
export class Asked {
  readonly answer: Signal<Answer>;
  readonly #stop = new AbortController();
  readonly #began = performance.now();

  constructor(model: string) {
    this.answer = signal({
      model,
      text: '',
      reasoning: '',
      toolCalls: [],
      usage: undefined,
      stopReason: undefined,
      warnings: [],
      error: undefined,
      isRunning: true,
      firstTextMs: undefined,
      durationMs: 0,
    });
  }

  /** Resolves when the answer is complete, has failed, or was ended. */
  async run(body: object): Promise<void> {
    try {
      const response = await respond('POST', '/v1/chat', { body, signal: this.#stop.signal });
      const stream = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      const events = new EventReader();
      for (;;) {
        const read = await stream?.read();
        if (read === undefined || read.done) break;
        for (const { event, data } of events.add(read.value)) this.#take(event, JSON.parse(data) as Record<string, unknown>);
      }
      if (this.answer.peek().stopReason === undefined && this.answer.peek().error === undefined)
        this.#set({ error: new Error('The answer ended before it was complete.') });
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#set({ error });
    } finally {
      this.#set({ isRunning: false, durationMs: performance.now() - this.#began });
    }
  }

  /** Ends the request; the provider's, too. */
  stop(): void {
    this.#stop.abort();
  }

  #take(event: string, data: Record<string, unknown>): void {
    const { text, reasoning, firstTextMs } = this.answer.peek();
    const elapsed = performance.now() - this.#began;
    const common = { durationMs: elapsed, ...(firstTextMs === undefined && (event === 'content' || event === 'reasoning') && { firstTextMs: elapsed }) };
    if (event === 'content') this.#set({ ...common, text: text + String(data['text']) });
    else if (event === 'reasoning') this.#set({ ...common, reasoning: reasoning + String(data['text']) });
    else if (event === 'error') this.#set({ ...common, error: new Error(String(data['error'])) });
    else if (event === 'done') {
      const {
        usage,
        stopReason,
        toolCalls = [],
        warnings = [],
      } = data as unknown as { usage: Usage; stopReason: string; toolCalls?: ToolCall[]; warnings?: Warning[] };
      this.#set({ ...common, usage, stopReason, toolCalls, warnings });
    }
  }

  #set(more: Partial<Answer>): void {
    this.answer.value = { ...this.answer.peek(), ...more };
  }
}

/** The turns that go on after the tools of an answer were answered by hand. */
export function turnsAfter(answer: Answer, results: Readonly<Record<string, string>>): readonly Turn[] {
  return [
    { role: 'assistant', content: answer.text, toolCalls: answer.toolCalls },
    { role: 'tool', toolResults: answer.toolCalls.map(({ id }) => ({ toolCallId: id, content: ownOf(results, id) ?? '' })) },
  ];
}

function json(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${what}: this is not JSON (${(error as Error).message}).`);
  }
}
