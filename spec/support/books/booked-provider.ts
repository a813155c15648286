// A provider that keeps its own books: what each request would be billed, and whether the provider could tell it. It speaks Chat Completions, Responses,
// Embeddings, Messages, Ollama's chat, Gemini's generateContent and Bedrock's Converse. What it does is in the prompt: `call-12 ok 40 filling …`.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { eventFrame } from '../../adapters/bedrock/help.ts';

/** How a request goes: `slow` takes its time, `cut` breaks off, `garbage` can't be read, `mute` tells no usage, `every` tells it in each frame where the protocol can, `silent` breaks off before its answer, `refuse` and `fail` are errors, `flaky` is one at first, and `limited` a limit at first. */
export const COURSES = ['ok', 'slow', 'cut', 'garbage', 'mute', 'every', 'silent', 'refuse', 'fail', 'flaky', 'limited'] as const;
export type Course = (typeof COURSES)[number];

/** One request that has arrived. */
export interface Seen {
  readonly id: string;
  input: number;
  /** What has been sent so far. */
  output: number;
  /** True once the client can know both: the usage was told, and its answer has ended. */
  isTold: boolean;
  /** False for what no provider bills: an error without any work. */
  isBilled: boolean;
}

/** Of the provider's own tokens, four characters make one. */
const tokensOf = (text: string): number => Math.ceil(text.length / 4);
/** Every answer is made of it. */
export const WORD = 'qux';
const PACE_MS = 4;
/** Longer than the patience of any client. */
const SILENCE_MS = 300;

interface Wire {
  readonly type: string;
  opening(seen: Seen): string | Buffer;
  /** With `seen`, it tells the usage so far, if the protocol can. */
  piece(text: string, seen?: Seen): string | Buffer;
  ending(seen: Seen, tells: boolean): string | Buffer;
  whole(text: string, seen: Seen, tells: boolean): string;
}

const sse = (data: object, event?: string): string => `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
const chatUsage = ({ input, output }: Seen) => ({ prompt_tokens: input, completion_tokens: output, total_tokens: input + output });
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const CHAT: Wire = {
  type: 'text/event-stream',
  opening: () => sse(chunk({ role: 'assistant', content: '' })),
  piece: (content, seen) => sse({ ...chunk({ content }), ...(seen !== undefined && { usage: chatUsage(seen) }) }),
  ending: (seen, tells) => `${sse(chunk({}, 'stop'))}${tells ? sse({ ...chunk({}), choices: [], usage: chatUsage(seen) }) : ''}data: [DONE]\n\n`,
  whole: (content, seen, tells) =>
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      ...(tells && { usage: chatUsage(seen) }),
    }),
};

const responsesUsage = ({ input, output }: Seen) => ({ input_tokens: input, output_tokens: output, total_tokens: input + output });
const response = (status: string, more: object = {}) => ({ id: 'resp_1', object: 'response', created_at: 1, model: 'm', status, output: [], ...more });
const responseMessage = (text: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});

const RESPONSES: Wire = {
  type: 'text/event-stream',
  opening: () =>
    sse({ type: 'response.created', response: response('in_progress') }, 'response.created') +
    sse({ type: 'response.output_item.added', output_index: 0, item: { ...responseMessage(''), content: [] } }, 'response.output_item.added'),
  piece: (delta) => sse({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta }, 'response.output_text.delta'),
  ending: (seen, tells) =>
    sse({ type: 'response.output_item.done', output_index: 0, item: responseMessage('') }, 'response.output_item.done') +
    sse({ type: 'response.completed', response: response('completed', tells ? { usage: responsesUsage(seen) } : {}) }, 'response.completed'),
  whole: (text, seen, tells) => JSON.stringify(response('completed', { output: [responseMessage(text)], ...(tells && { usage: responsesUsage(seen) }) })),
};

const MESSAGES: Wire = {
  type: 'text/event-stream',
  opening: ({ input }) =>
    sse(
      {
        type: 'message_start',
        message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: input, output_tokens: 1 } },
      },
      'message_start',
    ) + sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, 'content_block_start'),
  piece: (text) => sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, 'content_block_delta'),
  ending: ({ output }, tells) =>
    sse({ type: 'content_block_stop', index: 0 }, 'content_block_stop') +
    sse({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: tells ? output : undefined } }, 'message_delta') +
    sse({ type: 'message_stop' }, 'message_stop'),
  whole: (text, { input, output }, tells) =>
    JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      ...(tells && { usage: { input_tokens: input, output_tokens: output } }),
    }),
};

const OLLAMA: Wire = {
  type: 'application/x-ndjson',
  opening: () => '',
  piece: (content) => `${JSON.stringify({ model: 'm', message: { role: 'assistant', content }, done: false })}\n`,
  ending: ({ input, output }, tells) =>
    `${JSON.stringify({ model: 'm', message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', ...(tells && { prompt_eval_count: input, eval_count: output }) })}\n`,
  whole: (content, { input, output }, tells) =>
    JSON.stringify({
      model: 'm',
      message: { role: 'assistant', content },
      done: true,
      done_reason: 'stop',
      ...(tells && { prompt_eval_count: input, eval_count: output }),
    }),
};

const candidate = (text: string, finishReason?: string) => ({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason }] });
/** A third of the output is thoughts, which stand beside the candidate's tokens; the prompt was in the cache. */
const geminiUsage = ({ input, output }: Seen) => {
  const thoughts = Math.floor(output / 3);
  return {
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: input,
      candidatesTokenCount: output - thoughts,
      thoughtsTokenCount: thoughts,
      totalTokenCount: input + output,
    },
  };
};

const GEMINI: Wire = {
  type: 'text/event-stream',
  opening: () => '',
  piece: (text, seen) => sse({ ...candidate(text), ...(seen !== undefined && geminiUsage(seen)) }),
  ending: (seen, tells) => sse({ ...candidate('', 'STOP'), ...(tells && geminiUsage(seen)) }),
  whole: (text, seen, tells) => JSON.stringify({ ...candidate(text, 'STOP'), ...(tells && geminiUsage(seen)) }),
};

/** A part of the prompt was in the cache, which stands beside the input. */
const converseUsage = ({ input, output }: Seen) => {
  const cached = Math.floor(input / 2);
  return { usage: { inputTokens: input - cached, cacheReadInputTokens: cached, cacheWriteInputTokens: 0, outputTokens: output, totalTokens: input + output } };
};

const CONVERSE: Wire = {
  type: 'application/vnd.amazon.eventstream',
  opening: () => eventFrame('messageStart', { role: 'assistant' }),
  piece: (text) => eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
  ending: (seen, tells) => {
    const stop = eventFrame('messageStop', { stopReason: 'end_turn' });
    return tells ? Buffer.concat([stop, eventFrame('metadata', { ...converseUsage(seen), metrics: { latencyMs: 1 } })]) : stop;
  },
  whole: (text, seen, tells) =>
    JSON.stringify({
      output: { message: { role: 'assistant', content: [{ text }] } },
      stopReason: 'end_turn',
      ...(tells && converseUsage(seen)),
    }),
};

/** What an answer with one vector looks like, and the headers in which Bedrock counts. */
function vectorsOf(path: string, input: number): { readonly headers: Readonly<Record<string, string>>; readonly body: object } {
  if (path.endsWith(':batchEmbedContents')) return { headers: {}, body: { embeddings: [{ values: [0.5] }], usageMetadata: { promptTokenCount: input } } };
  if (path.endsWith('/invoke')) return { headers: { 'x-amzn-bedrock-input-token-count': String(input) }, body: { embeddings: [[0.5]] } };
  const usage = { prompt_tokens: input, total_tokens: input };
  return { headers: {}, body: { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], usage } };
}

const EMBEDS = /(?:\/embeddings|:batchEmbedContents|\/invoke)$/;
const STREAMS = /(?:\/converse-stream|:streamGenerateContent\?alt=sse)$/;

export class BookedProvider {
  readonly seen: Seen[] = [];
  /** Requests under way. */
  running = 0;
  /** The most at a time. */
  mostRunning = 0;
  readonly #server: Server;
  readonly #known = new Set<string>();

  constructor() {
    this.#server = createServer((req, res) => {
      req.on('error', () => undefined);
      res.on('error', () => undefined);
      void this.#serve(req, res);
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const bytes of req) chunks.push(bytes as Buffer);
    } catch {
      return; // it was left before it had arrived whole
    }
    const path = req.url ?? '';
    const body = Buffer.concat(chunks).toString();
    const [prompt = '', id = '', course = 'ok', words = '1'] = /(call-[a-z0-9-]+) ([a-z]+) (\d+)[a-z ]*/.exec(body) ?? [];
    if (id === '') return void res.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"unknown"}}');
    const seen: Seen = { id, input: tokensOf(prompt), output: 0, isTold: false, isBilled: true };
    this.seen.push(seen);
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    try {
      const isStream = STREAMS.test(path) || body.includes('"stream":true');
      if (EMBEDS.test(path)) this.#embed(seen, course as Course, path, res);
      else await this.#answer({ seen, course: course as Course, words: Number(words), isStream }, wireOf(path), res);
    } finally {
      this.running -= 1;
    }
  }

  #embed(seen: Seen, course: Course, path: string, res: ServerResponse): void {
    if (this.#refuses(seen, course, res)) return;
    if (course !== 'ok') return void res.destroy();
    seen.isTold = true;
    const { headers, body } = vectorsOf(path, seen.input);
    res.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  }

  /** Errors, which nobody bills. */
  #refuses(seen: Seen, course: Course, res: ServerResponse): boolean {
    const isFirst = !this.#known.has(seen.id);
    this.#known.add(seen.id);
    const status = isFirst && course === 'limited' ? 429 : course === 'refuse' ? 400 : course === 'fail' || (isFirst && course === 'flaky') ? 500 : undefined;
    if (status === undefined) return false;
    seen.isBilled = false;
    res.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0.05' }).end('{"error":{"message":"No.","type":"x"}}');
    return true;
  }

  async #answer(asked: { seen: Seen; course: Course; words: number; isStream: boolean }, wire: Wire, res: ServerResponse): Promise<void> {
    const { seen, course, words, isStream } = asked;
    if (this.#refuses(seen, course, res)) return;
    if (course === 'silent') {
      await delay(SILENCE_MS);
      return void res.destroy();
    }
    const tells = course !== 'mute';
    if (!isStream) {
      if (course === 'slow') await delay(words * PACE_MS);
      if (res.destroyed) return;
      const text = `${WORD} `.repeat(words);
      seen.output = tokensOf(text);
      const whole = wire.whole(text, seen, tells);
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(whole) });
      if (course === 'cut') return breakOff(res, whole.slice(0, whole.length - 9));
      if (course === 'garbage') return void res.end(whole.replace('{', '['));
      seen.isTold = tells;
      res.end(whole);
      return;
    }
    res.writeHead(200, { 'content-type': wire.type });
    res.write(wire.opening(seen));
    for (let word = 0; word < words && !res.destroyed; word += 1) {
      seen.output += tokensOf(`${WORD} `);
      res.write(wire.piece(`${WORD} `, course === 'every' ? seen : undefined));
      if (course === 'slow') await delay(PACE_MS);
      if (course === 'cut' && word === words >> 1) return breakOff(res, '');
      if (course === 'garbage' && word === words >> 1) return void res.end('data: {"choices": [{]}\n\n');
    }
    if (res.destroyed) return;
    res.end(wire.ending(seen, tells), () => {
      seen.isTold = tells && course !== 'garbage';
    });
  }
}

/** By the end of the connection, so that what was written before arrives. */
function breakOff(res: ServerResponse, last: string): void {
  res.write(last, () => res.socket?.end());
}

function wireOf(path: string): Wire {
  if (path.endsWith('/messages')) return MESSAGES;
  if (path.endsWith('/responses')) return RESPONSES;
  if (/:(?:g|streamG)enerateContent/.test(path)) return GEMINI;
  if (/\/converse(?:-stream)?$/.test(path)) return CONVERSE;
  return path.endsWith('/api/chat') ? OLLAMA : CHAT;
}
