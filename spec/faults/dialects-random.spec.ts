// Random streams of providers and random requests of clients, in each protocol before each provider, as it is (the native lane) and translated.
//
// repeatable: always the same choices; BLOCKHOUSE_FUZZ_SEED makes others, BLOCKHOUSE_FUZZ_ROUNDS more of them.
// never-looks-whole: an answer has its end mark only if the provider sent its own.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t from 'tap';
import type { Meaning, Wire } from '../conformance/wire.ts';
import { Random } from '../support/crash/random.ts';
import { CLIENTS, type Client, dataOf, type Fields, startTranslating } from '../support/dialect-clients.ts';
import { sweep } from '../support/sweep.ts';
import type { Answerer } from '../support/upstream.ts';
import { WIRES } from '../support/wire-server.ts';

const SEED = Number(process.env['BLOCKHOUSE_FUZZ_SEED'] ?? 20_261_123);
const ROUNDS = Number(process.env['BLOCKHOUSE_FUZZ_ROUNDS'] ?? sweep(200, 2));
/** Each wait has an end; only a defect reaches it. */
const PATIENCE_MS = 20_000;

const MEANT: Meaning = {
  text: ['Grüße ', '🙂\n', 'data: [DONE]\n\nevent: message_stop\n'],
  toolCalls: [{ id: 'call_1', name: 'weather', arguments: { city: 'a "b"\\\n\u2028' } }],
  stop: 'tool_use',
  usage: { input: 12, output: 5 },
};

interface Cut {
  readonly bytes: Buffer;
  /** True if the end mark of the provider is surely in it. */
  readonly isWhole: boolean;
  /** True if no part of the end frames is in it. */
  readonly isCut: boolean;
  readonly how: string;
}

function cutOf(wire: Wire, random: Random): Cut {
  const { frames, endFrames } = wire.stream(MEANT);
  const isText = wire.stream(MEANT).type === 'text/event-stream';
  const isCrlf = wire.lines && random.chance(0.3);
  const hasComments = isText && random.chance(0.3);
  const dressed = frames.map((frame) => {
    const bytes = isCrlf ? Buffer.from(frame.toString().replaceAll('\n', '\r\n')) : frame;
    return hasComments ? Buffer.concat([Buffer.from(isCrlf ? ': c\r\n\r\n' : ': c\n\n'), bytes]) : bytes;
  });
  if (isText && random.chance(0.2)) dressed.unshift(Buffer.from([0xef, 0xbb, 0xbf]));
  const all = Buffer.concat(dressed);
  const beforeEnd = all.length - Buffer.concat(dressed.slice(-endFrames)).length;
  const end = random.chance(0.3) ? all.length : random.below(all.length);
  return {
    bytes: all.subarray(0, end),
    isWhole: end === all.length,
    isCut: end <= beforeEnd,
    how: `cut at ${end} of ${all.length}, CRLF ${isCrlf}, comments ${hasComments}`,
  };
}

function sending({ bytes }: Cut, type: string, random: Random): Answerer {
  return async (_request, res) => {
    res.writeHead(200, { 'content-type': type });
    for (let at = 0; at < bytes.length && !res.destroyed; ) {
      const size = 1 + random.below(random.chance(0.5) ? 40 : 4000);
      res.write(bytes.subarray(at, at + size));
      at += size;
      if (random.chance(0.3)) await new Promise((resolve) => setImmediate(resolve));
    }
    if (random.chance(0.3)) res.destroy();
    else res.end();
  };
}

/** Answers also what a true provider would refuse: the native lane passes on what it gets. */
function answerAny(wire: Wire): Answerer {
  return ({ path, body }, res) => {
    const isStream = /stream/i.test(path) || /"stream":true/.test(body);
    const { type } = isStream ? wire.stream(MEANT) : wire.whole(MEANT);
    res.writeHead(200, { 'content-type': type });
    res.end(isStream ? Buffer.concat(wire.stream(MEANT).frames) : wire.whole(MEANT).body);
  };
}

/** Reads a stream with the client's own library; true if it ended without an error. */
async function readBySdk(client: Client, url: string, token: string, model: string): Promise<boolean> {
  const limits = { maxRetries: 0, timeout: PATIENCE_MS };
  try {
    if (client.id === 'messages')
      await new Anthropic({ apiKey: token, baseURL: url, ...limits }).messages
        .stream({ model, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] })
        .finalMessage();
    else {
      const openai = new OpenAI({ apiKey: token, baseURL: `${url}/v1`, ...limits });
      if (client.id === 'chat') await openai.chat.completions.stream({ model, messages: [{ role: 'user', content: 'hi' }] }).finalChatCompletion();
      else await openai.responses.stream({ model, input: 'hi' }).finalResponse();
    }
    return true;
  } catch {
    return false; // What it says is its own; what matters is that it ends, and not well.
  }
}

const ODD_TEXTS = ['', '\ud800', 'a\udc00b', '\u0000', '\u202e\u200b\ufeff', '𝓃𝒶𝓂ℯ 🙂', '__proto__', 'constructor', '../..', 'x'.repeat(5000)];
const ODD_NUMBERS = [0, -0, -1, 1.5, 1e308, -1e308, 2 ** 53, 1e-320];

function oddValue(random: Random, depth = 0): unknown {
  switch (random.below(depth > 3 ? 6 : 9)) {
    case 0:
    case 1:
      return null;
    case 2:
      return random.pick(ODD_TEXTS);
    case 3:
      return random.pick(ODD_NUMBERS);
    case 4:
      return random.chance(0.5);
    case 5:
      return random.pick([[], {}]);
    case 6:
      return Array.from({ length: 1 + random.below(3) }, () => oddValue(random, depth + 1));
    case 7:
      return { type: random.pick([...ODD_TEXTS, 'function', 'text', 'of_tomorrow']), [random.pick(ODD_TEXTS)]: oddValue(random, depth + 1) };
    default:
      return JSON.parse(`${'{"a":['.repeat(60)}1${']}'.repeat(60)}`) as unknown;
  }
}

const STRUCTURES: Readonly<Record<Client['id'], Fields>> = {
  chat: {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 's' }] },
      { role: 'user', content: 'hi', name: 'n' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'a:/b', type: 'function', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'a:/b', content: 'ok' },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true } }],
    tool_choice: 'auto',
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
    stream_options: { include_usage: true },
    stop: ['x'],
    metadata: { a: 'b' },
    reasoning_effort: 'low',
    seed: 1,
    user: 'u',
    n: 1,
  },
  responses: {
    instructions: 'i',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'bh1.e30' },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'ok' },
      { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'd', output: 'ok' },
    ],
    tools: [
      { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true },
      { type: 'custom', name: 'g', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
      { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'f', parameters: {} }] },
      { type: 'web_search' },
    ],
    text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } },
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    metadata: { a: 'b' },
  },
  messages: {
    max_tokens: 100,
    system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '', signature: 'bh1.e30' },
          { type: 'tool_use', id: 'a:/b', name: 'f', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a:/b', is_error: true, content: [{ type: 'text', text: 'x' }] }] },
    ],
    tools: [
      { name: 'f', description: 'd', input_schema: { type: 'object' } },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'auto' },
    thinking: { type: 'enabled', budget_tokens: 1024 },
    output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
    metadata: { user_id: 'u' },
    stop_sequences: ['x'],
  },
};

/** A copy with some values below it changed. */
function mutated(value: unknown, random: Random): unknown {
  if (random.chance(0.012)) return oddValue(random);
  if (Array.isArray(value)) return random.chance(0.01) ? [] : value.map((one) => mutated(one, random));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(() => !random.chance(0.01));
  return Object.fromEntries([
    ...kept.map(([name, inner]) => [name, mutated(inner, random)] as const),
    ...(random.chance(0.1) ? [[random.pick(ODD_TEXTS), oddValue(random)] as const] : []),
  ]);
}

function oddRequest(client: Client, model: string, random: Random): Fields {
  const body = { ...(mutated(STRUCTURES[client.id], random) as Fields), model, stream: random.chance(0.5) };
  const [tool] = (STRUCTURES[client.id]['tools'] ?? []) as Fields[];
  if (random.chance(0.1))
    return {
      ...body,
      tools: Array.from({ length: 300 }, (_, n) =>
        client.id === 'chat' ? { type: 'function', function: { name: `é.${n}/`, parameters: {} } } : { ...tool, name: `é.${n}/` },
      ),
    };
  return body;
}

/** Some servers of Chat Completions send no [DONE]. */
const hasFinishReason = (stream: string): boolean => dataOf(stream).some((chunk) => /"finish_reason":"/.test(JSON.stringify(chunk)));

t.comment(`seed ${SEED}`);

for (const [number, wire] of WIRES.entries()) {
  t.test(`${wire.name}: no cut of its stream looks whole, and no request is a fault of ours`, async (t) => {
    const random = new Random(SEED + number);
    let answer: Answerer = answerAny(wire);
    for (const isNative of [false, true]) {
      const server = await startTranslating(t, wire, (request, res, index) => answer(request, res, index), isNative);
      for (const client of CLIENTS) {
        const faults: string[] = [];
        for (let round = 0; round < ROUNDS; round += 1) {
          const cut = cutOf(wire, random);
          answer = sending(cut, wire.stream(MEANT).type, random);
          const where = `${client.id}, native ${isNative}: ${cut.how}`;
          const { text, status } = await server.call('POST', client.path, { body: client.ask(server.model, { stream: true }) });
          if (status === 500 || /INTERNAL_ERROR/.test(text)) faults.push(`${where}: an error of ours: ${text.slice(0, 300)}`);
          const hasEnd = client.hasEndMark(text) || (isNative && client.id === 'chat' && hasFinishReason(text));
          if (hasEnd && cut.isCut) faults.push(`${where}: it looks whole`);
          if (!hasEnd && status === 200 && !client.hasError(text)) faults.push(`${where}: neither an end nor an error: ${text.slice(-300)}`);
          if (round % 4 === 0) {
            const isGood = await readBySdk(client, server.url, server.token, server.model);
            if (isGood && cut.isCut) faults.push(`${where}: its library takes it for whole`);
          }
          answer = answerAny(wire);
          const body = oddRequest(client, server.model, random);
          const odd = await server.call('POST', client.path, { body });
          if (odd.status === 500 || /INTERNAL_ERROR/.test(odd.text))
            faults.push(`${client.id}, native ${isNative}: ${odd.text.slice(0, 300)} for ${JSON.stringify(body).slice(0, 3000)}`);
        }
        t.same(faults, [], `${client.id}, native ${isNative}, seed ${SEED}`);
        t.same(
          server.log.filter(({ fields }) => fields['status'] === 500 || fields['code'] === 'INTERNAL_ERROR'),
          [],
          'the log has no error of ours',
        );
        server.log.length = 0;
      }
    }
  });
}
