// How much processor time does it take to translate a large request of a client?
//
// In one process, without a socket: what a coding agent sends first (85 KB, 25 tools) is read and answered in Chat Completions, and the tokens of 1 MB of
// Messages are read and estimated. Processor time, so that other work on the machine counts less.
import { toPrompt } from '../core/gateway/prompt.ts';
import { promptTokens } from '../core/gateway/prompt-tokens.ts';
import { readCounted } from '../transports/http/dialects/anthropic/request.ts';
import { OPENAI_CHAT } from '../transports/http/dialects/openai-chat/index.ts';
import { type Result, spreadText } from './harness/report.ts';
import { type Spread, spreadOf } from './harness/stats.ts';

const CHAT_BYTES = 85_000;
const TOOLS = 25;
const COUNTED_BYTES = 1_000_000;
const MAX_MS = { chat: 1.5, count: 50 };
const PROSE = 'Say in one sentence what a gateway is good for, "quoted",\nand in another one what it costs. ';

export interface TranslateOptions {
  readonly rounds: number;
  readonly times: number;
}

export async function run({ rounds, times }: TranslateOptions = { rounds: 9, times: 200 }): Promise<Result> {
  const chatText = JSON.stringify(chatRequest());
  const countText = JSON.stringify(countRequest());
  const chat = measure(rounds, times, () => translateChat(JSON.parse(chatText)));
  const count = measure(rounds, Math.max(1, Math.round(times / 10)), () => estimate(JSON.parse(countText)));
  const rows = [
    [`Chat Completions, ${Math.round(chatText.length / 1000)} KB, ${TOOLS} tools: read and answered`, spreadText(chat)],
    [`count_tokens, ${(countText.length / 1e6).toFixed(1)} MB: read and estimated`, spreadText(count)],
  ];
  return {
    name: 'translate',
    question: 'How much processor time does it take to translate a large request?',
    tables: [{ title: 'Translation', columns: ['', 'CPU, ms'], rows }],
    bars: [
      { what: 'CPU to translate a request of 85 KB with 25 tools', value: chat.median, limit: MAX_MS.chat, side: 'most', unit: ' ms' },
      { what: 'CPU to estimate the tokens of 1 MB', value: count.median, limit: MAX_MS.count, side: 'most', unit: ' ms' },
    ],
    charts: [],
    notes: [`${rounds} rounds of ${times} requests: median (lowest–highest), the JSON parsed each time.`],
    data: { chat, count },
  };
}

/** Milliseconds of processor time each, after a round to warm up. */
function measure(rounds: number, times: number, work: () => unknown): Spread {
  const found: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.cpuUsage();
    for (let time = 0; time < times; time += 1) work();
    const { user, system } = process.cpuUsage(before);
    if (round > 0) found.push((user + system) / 1000 / times);
  }
  return spreadOf(found);
}

function translateChat(body: unknown): string {
  const request = OPENAI_CHAT.read(body);
  const done = { usage: { inputTokens: 20_000, outputTokens: 5, totalTokens: 20_005 }, stopReason: 'end_turn' } as const;
  return OPENAI_CHAT.answer({ pieces: [{ type: 'text', text: 'Hello.' }], done }, { requestId: 'req_1', created: 0, request });
}

function estimate(body: unknown): number {
  const { chat } = readCounted(body);
  return promptTokens(toPrompt({ ...chat, adapter: 'any', model: 'any' }));
}

function chatRequest(): object {
  const field = { type: 'string', description: PROSE };
  const parameters = {
    type: 'object',
    properties: { path: field, text: field, options: { type: 'object', properties: { a: field, b: field } } },
    required: ['path'],
  };
  const tools = Array.from({ length: TOOLS }, (_, index) => ({
    type: 'function',
    function: { name: `tool_${index}`, description: PROSE.repeat(10), parameters },
  }));
  const left = CHAT_BYTES - JSON.stringify(tools).length;
  const system = PROSE.repeat(Math.ceil(left / JSON.stringify(PROSE).length));
  return {
    model: 'any/model',
    tools,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: 'hi' },
    ],
  };
}

function countRequest(): object {
  const text = PROSE.repeat(100);
  const turns = Math.ceil(COUNTED_BYTES / JSON.stringify(text).length);
  const messages = Array.from({ length: turns }, (_, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: [{ type: 'text', text }] }));
  return { model: 'any/model', messages };
}
