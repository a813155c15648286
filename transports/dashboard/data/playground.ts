// A request to several models at once, and what each answers. Nothing of it is kept on the server; the last request stays in the tab.
import { computed, type Signal, signal } from '@preact/signals';
import type { PriceList, ToolCall, Usage, Warning } from '../../../core/types.ts';
import { ownOf } from '../base/own.ts';
import { EventReader } from '../base/sse.ts';
import { stored } from '../base/stored.ts';
import { get, respond } from './http.ts';
import { type ChatBody, type ChatMessage, chatEvent, responsesBody } from './responses.ts';

/** What is asked. Texts as they are typed. */
export interface Question {
  /** As `provider/model`, or a name that programs send, such as an alias. */
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

/** One model's answer, as it comes. */
export interface Answer {
  readonly model: string;
  /** The model that answers, as `provider/model`; undefined until the answer begins. */
  readonly answeredBy: string | undefined;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage | undefined;
  /** USD; null if the price is not known, undefined while the cost is not. */
  readonly costUsd: number | null | undefined;
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

/** A request, and where it is sent. */
export interface Request {
  readonly path: '/v1/chat' | '/v1/responses';
  readonly body: object;
}

/**
 * The request to one model, or to a name that programs send: `providers` tell the two apart, and are undefined until they are known. Throws an Error that names
 * what was typed wrong.
 */
export function requestOf(question: Question, model: string, turns: readonly ChatMessage[], providers: readonly string[] | undefined): Request {
  const [adapter = '', ...rest] = model.split('/');
  if (model.endsWith('/')) throw new Error('Write the model as provider/model.');
  const isName = rest.length === 0 || providers?.includes(adapter) === false;
  const config = {
    ...(question.maxTokens.trim() !== '' && { maxTokens: Number(question.maxTokens) }),
    ...(question.temperature.trim() !== '' && { temperature: Number(question.temperature) }),
    ...(question.schema.trim() !== '' && { output: { type: 'json_schema', schema: json('Schema', question.schema) } }),
  };
  const body: ChatBody = {
    model: isName ? model : rest.join('/'),
    messages: [
      ...(question.system.trim() === '' ? [] : [{ role: 'system', content: question.system } as const]),
      { role: 'user', content: question.message },
      ...turns,
    ],
    ...(Object.keys(config).length > 0 && { config }),
    ...(question.tools.trim() !== '' && { tools: json('Tools', question.tools) }),
  };
  return isName
    ? { path: '/v1/responses', body: responsesBody(body) }
    : { path: '/v1/chat', body: { adapter, ...body, stream: { reasoning: true, toolDeltas: true } } };
}

/** The request as a command; the key is a variable. */
export function curlOf(origin: string, { path, body }: Request): string {
  const text = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl -N ${origin}${path} -H "Authorization: Bearer $(blockhouse token)" -H 'Content-Type: application/json' -d '${text}'`;
}

/** A running request; its answer changes with each piece. */
export class Asked {
  readonly answer: Signal<Answer>;
  /** True if the answer is to be JSON, whose marks are none of Markdown. */
  readonly isJson: boolean;
  /** Changes once, and not with each piece. */
  readonly isRunning = computed(() => this.answer.value.isRunning);
  readonly #stop = new AbortController();
  readonly #began = performance.now();

  constructor(model: string, isJson: boolean) {
    this.isJson = isJson;
    this.answer = signal({
      model,
      answeredBy: undefined,
      text: '',
      reasoning: '',
      toolCalls: [],
      usage: undefined,
      costUsd: undefined,
      stopReason: undefined,
      warnings: [],
      error: undefined,
      isRunning: true,
      firstTextMs: undefined,
      durationMs: 0,
    });
  }

  /** Resolves when the answer is complete, has failed, or was ended. */
  async run({ path, body }: Request): Promise<void> {
    try {
      const response = await respond('POST', path, { body, signal: this.#stop.signal });
      this.#begun(response.headers);
      const translate: typeof chatEvent = path === '/v1/chat' ? (...told) => told : chatEvent;
      const stream = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      const events = new EventReader();
      for (;;) {
        const read = await stream?.read();
        if (read === undefined || read.done) break;
        for (const { event, data } of events.add(read.value))
          if (data !== '[DONE]') this.#take(...translate(event, JSON.parse(data) as Record<string, unknown>));
      }
      const { answeredBy = '', usage, stopReason, error } = this.answer.peek();
      if (stopReason === undefined && error === undefined) this.#set({ error: new Error('The answer ended before it was complete.') });
      if (usage !== undefined) this.#set({ costUsd: await costOf(answeredBy, usage) });
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#set({ error, durationMs: performance.now() - this.#began });
    } finally {
      this.#set({ isRunning: false });
    }
  }

  /** Ends the request; the provider's, too. */
  stop(): void {
    this.#stop.abort();
  }

  /** What the head of an answer to a name says: which model answers, which were passed over, and what of the question that model does not take. */
  #begun(headers: Headers): void {
    const note = (header: string, field: string): readonly Warning[] => {
      const message = headers.get(`x-blockhouse-${header}`);
      return message === null ? [] : [{ field, message }];
    };
    const { model } = this.answer.peek();
    const warnings = [...note('fallback', 'Passed over'), ...note('warnings', 'Left out')];
    this.#set({ answeredBy: headers.get('x-blockhouse-model') ?? model, warnings });
  }

  #take(event: string, data: Record<string, unknown>): void {
    const { text, reasoning, firstTextMs, warnings: before } = this.answer.peek();
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
        warnings = before,
      } = data as unknown as { usage: Usage; stopReason: string; toolCalls?: ToolCall[]; warnings?: Warning[] };
      this.#set({ ...common, usage, stopReason, toolCalls, warnings });
    }
  }

  #set(more: Partial<Answer>): void {
    this.answer.value = { ...this.answer.peek(), ...more };
  }
}

/** USD by the prices that the server knows, or by the bill in the answer; null if that is not known. */
async function costOf(model: string, usage: Usage): Promise<number | null> {
  if (usage.costUsd !== undefined && usage.estimated !== true) return usage.costUsd;
  if (usage.unpricedTier === true) return null;
  const query = new URLSearchParams(Object.entries({ model, ...usage }).map(([name, value]) => [name, String(value)]));
  return (await get<PriceList>(`/api/prices?${query}`)).prices[0]?.costUsd ?? null;
}

/** The turns that go on after the tools of an answer were answered by hand. */
export function turnsAfter(answer: Answer, results: Readonly<Record<string, string>>): readonly ChatMessage[] {
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
