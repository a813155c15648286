// One suite for every adapter: the same meanings over each provider's own bytes. What a provider can't do is a named gap
// with its reason in the wire's file.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Test } from 'tap';
import { BlockhouseError, type ChatRequest, type ChatStreamEvent, type Core, type CoreOptions, createCore } from '../../core/index.ts';
import { swept } from '../support/sweep.ts';
import { testFolder } from '../support/test-folder.ts';
import { type Answerer, type FakeUpstream, type RecordedRequest, startUpstream } from '../support/upstream.ts';
import type { Meaning, Wire } from './wire.ts';

const PLAIN: Meaning = { text: ['Hel', 'lo ', 'wörld', ' ✓ 🙂'], toolCalls: [], stop: 'end_turn', usage: { input: 12, output: 5 } };
const OSLO = { id: 'call_oslo', name: 'get_weather', arguments: { city: 'Oslo', days: 2 } };
const ROME = { id: 'call_rome', name: 'get_weather', arguments: { city: 'Røme "quoted" \\ \n', nested: { list: [1, 'two', null] } } };
const TOOLS: NonNullable<ChatRequest['tools']> = [
  { name: 'get_weather', description: 'Weather of a city', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
  { type: 'function', function: { name: 'no_parameters' } },
];

interface Rig {
  readonly core: Core;
  readonly upstream: FakeUpstream;
  request(overrides?: Partial<ChatRequest>): ChatRequest;
}

async function rig(t: Test, wire: Wire, answer: Answerer, options: Partial<CoreOptions> = {}): Promise<Rig> {
  const upstream = await startUpstream(t, answer);
  const workspace = testFolder(t);
  if (wire.stored !== undefined) writeFileSync(join(workspace, 'auth.json'), JSON.stringify(wire.stored));
  const core = createCore({ workspace, adapters: [wire.create()], env: wire.env(upstream.url), retries: 0, ...options });
  t.teardown(() => core.close());
  return {
    core,
    upstream,
    request: (overrides = {}) => ({ adapter: wire.adapter, model: wire.model, messages: [{ role: 'user', content: 'hi' }], ...overrides }),
  };
}

function answerWith(wire: Wire, meaning: Meaning): Answerer {
  return (request, res) => {
    const streamed = wire.readRequest(request).stream;
    const { type } = streamed ? wire.stream(meaning) : wire.whole(meaning);
    res.writeHead(200, { 'content-type': type });
    res.end(streamed ? Buffer.concat(wire.stream(meaning).frames) : wire.whole(meaning).body);
  };
}

interface Outcome {
  content: string;
  toolCalls: { name: string; arguments: unknown }[];
  stopReason: string;
  usage: unknown;
}

async function whole({ core, request }: Rig): Promise<Outcome> {
  const { message, stopReason, usage } = await core.chat(request());
  return { content: message.content, toolCalls: (message.toolCalls ?? []).map(plainCall), stopReason, usage };
}

async function streamed({ core, request }: Rig): Promise<Outcome> {
  const events = await collect(core.stream(request({ stream: true })));
  const done = events.at(-1);
  if (done?.type !== 'done') throw new Error('the last event is not done');
  const content = events.map((event) => (event.type === 'content' ? event.text : '')).join('');
  return { content, toolCalls: (done.toolCalls ?? []).map(plainCall), stopReason: done.stopReason, usage: done.usage };
}

const plainCall = ({ name, arguments: args }: { name: string; arguments: unknown }) => ({ name, arguments: args });

async function collect(stream: AsyncIterable<ChatStreamEvent>): Promise<ChatStreamEvent[]> {
  const events: ChatStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function failure(promise: Promise<unknown>): Promise<BlockhouseError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof BlockhouseError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

export function conformance(t: Test, wire: Wire): void {
  const gap = (name: string): { skip: string } | Record<string, never> => (wire.gaps[name] === undefined ? {} : { skip: `${name}: ${wire.gaps[name]}` });
  answers(t, wire, gap);
  requests(t, wire, gap);
  failures(t, wire, gap);
  departures(t, wire);
  fragmentation(t, wire, gap);
}

type Gap = (name: string) => { skip: string } | Record<string, never>;

function answers(t: Test, wire: Wire, gap: Gap): void {
  const cases: { title: string; meaning: Meaning; gap?: string }[] = [
    { title: 'a plain answer', meaning: PLAIN },
    { title: 'an empty answer', meaning: { ...PLAIN, text: [], usage: { input: 3, output: 0 } } },
    { title: 'one tool call', meaning: { ...PLAIN, text: [], toolCalls: [OSLO], stop: 'tool_use' } },
    { title: 'several tool calls behind a text', meaning: { ...PLAIN, toolCalls: [OSLO, ROME, { ...OSLO, id: 'call_3', arguments: {} }], stop: 'tool_use' } },
    { title: 'stop reason max_tokens', meaning: { ...PLAIN, stop: 'max_tokens' } },
    { title: 'stop reason stop_sequence', meaning: { ...PLAIN, stop: 'stop_sequence' }, gap: 'stop_sequence' },
    { title: 'stop reason content_filter', meaning: { ...PLAIN, stop: 'content_filter' }, gap: 'content_filter' },
    { title: 'stop reason refusal', meaning: { ...PLAIN, stop: 'refusal' }, gap: 'refusal' },
    { title: 'a stop reason that nobody knows yet', meaning: { ...PLAIN, stop: 'unknown' } },
    { title: 'no usage', meaning: { ...PLAIN, usage: undefined } },
    { title: 'usage with cache reads', meaning: { ...PLAIN, usage: { input: 100, output: 5, cacheRead: 60 } }, gap: 'cache counts' },
    {
      title: 'usage with cache writes',
      meaning: { ...PLAIN, usage: { input: 100, output: 5, cacheRead: 60, cacheWrite: 30 } },
      gap: wire.gaps['cache writes'] === undefined ? 'cache counts' : 'cache writes',
    },
    { title: 'usage with reasoning', meaning: { ...PLAIN, usage: { input: 100, output: 50, reasoning: 40 } }, gap: 'reasoning counts' },
  ];
  for (const { title, meaning, gap: name } of cases) {
    t.test(`${title}: whole and streamed forms agree`, name === undefined ? {} : gap(name), async (t) => {
      const r = await rig(t, wire, answerWith(wire, meaning));
      const expected = {
        content: meaning.text.join(''),
        toolCalls: meaning.toolCalls.map(plainCall),
        stopReason: meaning.stop,
        usage: expectedUsage(meaning, wire),
      };
      t.match(await whole(r), expected, 'whole');
      t.match(await streamed(r), expected, 'streamed');
      t.same((await whole(r)).usage, (await streamed(r)).usage, 'the same usage keys in both forms');
    });
  }
}

function expectedUsage({ usage }: Meaning, wire: Wire): Record<string, number | boolean> {
  if (usage === undefined) return { estimated: true };
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
    ...(usage.cacheRead !== undefined && { cacheReadTokens: usage.cacheRead }),
    ...(usage.cacheWrite !== undefined && wire.gaps['cache writes'] === undefined && { cacheWriteTokens: usage.cacheWrite }),
    ...(usage.reasoning !== undefined && { reasoningTokens: usage.reasoning }),
  };
}

function requests(t: Test, wire: Wire, gap: Gap): void {
  t.test('a stream begins with start and its texts come in order', async (t) => {
    const { core, request } = await rig(t, wire, answerWith(wire, PLAIN));
    const events = await collect(core.stream(request({ stream: true })));
    t.same(events[0], { type: 'start', provider: wire.adapter, model: wire.model });
    t.same(
      events.flatMap((event) => (event.type === 'content' ? [event.text] : [])),
      PLAIN.text,
    );
  });

  t.test('system messages, temperature, maxTokens and tools reach the provider', async (t) => {
    const { core, request, upstream } = await rig(t, wire, answerWith(wire, PLAIN));
    const messages: ChatRequest['messages'] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'three' },
    ];
    await core.chat(request({ messages, tools: TOOLS, config: { temperature: 0.3, maxTokens: 77 } }));
    const sent = wire.readRequest(upstream.requests[0] as RecordedRequest);
    t.match(sent, {
      model: wire.model,
      stream: false,
      system: 'Be brief.\n\nBe kind.',
      texts: ['user: one', 'assistant: two', 'user: three'],
      maxTokens: 77,
      temperature: 0.3,
    });
    t.same(sent.tools, ['get_weather', 'no_parameters']);
  });

  t.test('maxTokens is 4096 where none is asked for', async (t) => {
    const { core, request, upstream } = await rig(t, wire, answerWith(wire, PLAIN));
    await core.chat(request());
    t.equal(wire.readRequest(upstream.requests[0] as RecordedRequest).maxTokens, 4096);
  });

  t.test('tool calls and their results are replayed, results in call order', async (t) => {
    const { core, request, upstream } = await rig(t, wire, answerWith(wire, PLAIN));
    const messages: ChatRequest['messages'] = [
      { role: 'user', content: 'weather?' },
      { role: 'assistant', content: 'Let me look.', toolCalls: [OSLO, ROME] },
      { role: 'tool', toolResults: [{ toolCallId: 'call_rome', content: 'no data', isError: true }] },
      { role: 'tool', toolResults: [{ toolCallId: 'call_oslo', content: '3 C' }] },
      { role: 'user', content: 'and now?' },
    ];
    await core.chat(request({ messages, tools: TOOLS }));
    const sent = wire.readRequest(upstream.requests[0] as RecordedRequest);
    t.same(sent.texts, ['user: weather?', 'assistant: Let me look.', 'user: and now?']);
    t.same(sent.calls.map(plainCall), [OSLO, ROME].map(plainCall));
    t.match(sent.results, [{ content: '3 C' }, { content: /no data/ }]);
    for (const { isError } of sent.results.slice(1)) t.not(isError, false, 'the failed result is marked where the wire has a mark');
  });

  t.test('the ids of calls and results agree on the wire', gap('call ids in a foreign replay'), async (t) => {
    const { core, request, upstream } = await rig(t, wire, answerWith(wire, PLAIN));
    const foreign = { ...OSLO, id: 'foreign:id/with spaces and more than sixty-four characters, as some providers make them' };
    const messages: ChatRequest['messages'] = [
      { role: 'user', content: 'weather?' },
      { role: 'assistant', toolCalls: [foreign] },
      { role: 'tool', toolResults: [{ toolCallId: foreign.id, content: '3 C' }] },
    ];
    await core.chat(request({ messages, tools: TOOLS }));
    const sent = wire.readRequest(upstream.requests[0] as RecordedRequest);
    t.ok(sent.calls[0]?.id);
    t.equal(sent.calls[0]?.id, sent.results[0]?.id);
  });

  t.test('what the model called can be sent back as it came', async (t) => {
    const { core, request, upstream } = await rig(t, wire, (request, res, index) =>
      answerWith(wire, index === 0 ? { ...PLAIN, toolCalls: [OSLO, ROME], stop: 'tool_use' } : PLAIN)(request, res, index),
    );
    const question = { role: 'user' as const, content: 'weather?' };
    const { message } = await core.chat(request({ messages: [question], tools: TOOLS }));
    const toolResults = (message.toolCalls ?? []).map(({ id }) => ({ toolCallId: id, content: 'fine' }));
    await core.chat(request({ messages: [question, message, { role: 'tool', toolResults }], tools: TOOLS }));
    const sent = wire.readRequest(upstream.requests[1] as RecordedRequest);
    t.same(sent.calls.map(plainCall), [OSLO, ROME].map(plainCall));
    t.same(
      sent.results.map(({ id }) => id),
      sent.calls.map(({ id }) => id),
    );
  });
}

function failures(t: Test, wire: Wire, gap: Gap): void {
  for (const { title, status, headers, body, code, retryable } of wire.errors) {
    t.test(`${title} (HTTP ${status}) is ${code}, whole and streamed`, async (t) => {
      const { core, request } = await rig(t, wire, (_request, res) => {
        res.writeHead(status, { 'content-type': 'application/json', ...headers });
        res.end(body);
      });
      for (const error of [await failure(core.chat(request())), await failure(collect(core.stream(request({ stream: true }))))]) {
        t.match(error, { code, retryable, upstreamStatus: status });
        if (code === 'UPSTREAM_RATE_LIMITED' && retryable && (headers?.['retry-after'] !== undefined || wire.gaps['retry-after header'] !== undefined))
          t.equal(error.retryAfterMs, 7000);
        for (const secret of Object.values(wire.env(''))) if (/canary/i.test(secret)) t.notMatch(error.message, secret);
      }
    });
  }

  t.test('a retryable failure is repeated, and nothing of it stays in the answer', async (t) => {
    const { core, request, upstream } = await rig(
      t,
      wire,
      (request, res, index) => {
        if (index > 0) return answerWith(wire, PLAIN)(request, res, index);
        res.writeHead(503, { 'retry-after-ms': '1', 'content-type': 'application/json' });
        res.end('{}');
      },
      { retries: 2 },
    );
    t.equal((await core.chat(request())).message.content, PLAIN.text.join(''));
    t.equal(upstream.requests.length, 2);
  });

  t.test('an error inside a stream, before any text, is the failure it names', async (t) => {
    const { core, request } = await rig(t, wire, (_request, res) => {
      res.writeHead(200, { 'content-type': wire.stream(PLAIN).type });
      res.end(wire.streamError('it broke down'));
    });
    t.match(await failure(collect(core.stream(request({ stream: true })))), { code: 'UPSTREAM_FAILED', retryable: true, message: /it broke down/ });
  });

  t.test('an error inside a stream, after some text, follows the text', async (t) => {
    const { core, request, upstream } = await rig(
      t,
      wire,
      (_request, res) => {
        const { type, frames, endFrames } = wire.stream(PLAIN);
        res.writeHead(200, { 'content-type': type });
        res.end(Buffer.concat([...frames.slice(0, -endFrames), wire.streamError('it broke down')]));
      },
      { retries: 2 },
    );
    const texts: string[] = [];
    const reading = (async () => {
      for await (const event of core.stream(request({ stream: true }))) if (event.type === 'content') texts.push(event.text);
    })();
    t.match(await failure(reading), { code: 'UPSTREAM_FAILED', message: /it broke down/ });
    t.same(texts, PLAIN.text);
    t.equal(upstream.requests.length, 1, 'and is not repeated');
  });

  for (const how of ['ends', 'breaks'] as const) {
    t.test(`a stream that ${how} before its end mark is UPSTREAM_MALFORMED, never a short answer`, async (t) => {
      const { core, request } = await rig(t, wire, (_request, res) => {
        const { type, frames, endFrames } = wire.stream({ ...PLAIN, toolCalls: [OSLO], stop: 'tool_use' });
        res.writeHead(200, { 'content-type': type });
        res.write(Buffer.concat(frames.slice(0, -endFrames)), () => (how === 'ends' ? res.end() : res.socket?.resetAndDestroy()));
      });
      t.match(await failure(collect(core.stream(request({ stream: true })))), { code: 'UPSTREAM_MALFORMED' });
    });
  }

  for (const how of ['stalls', 'is reset'] as const) {
    t.test(`an answer whose connection ${how} after its end mark is complete`, gap('end mark'), async (t) => {
      const r = await rig(t, wire, (_request, res) => {
        const { type, frames } = wire.stream(PLAIN);
        res.writeHead(200, { 'content-type': type });
        res.write(Buffer.concat(frames), () => (how === 'stalls' ? undefined : res.socket?.resetAndDestroy()));
      });
      t.match(await streamed(r), { content: PLAIN.text.join(''), stopReason: 'end_turn', usage: { inputTokens: 12 } });
    });
  }

  t.test('an error status counts although its body never ends', async (t) => {
    const half: Answerer = (_request, res) => {
      res.writeHead(503, { 'content-type': 'application/json' });
      res.write('{"err');
    };
    const { core, request } = await rig(t, wire, half, { timeouts: { idleMs: 150 } });
    t.match(await failure(core.chat(request())), { code: 'UPSTREAM_FAILED', upstreamStatus: 503 });
  });

  t.test('a frame that is cut in two by the end of the stream is UPSTREAM_MALFORMED', async (t) => {
    const { core, request } = await rig(t, wire, (_request, res) => {
      const { type, frames, endFrames } = wire.stream(PLAIN);
      const bytes = Buffer.concat(frames.slice(0, -endFrames));
      res.writeHead(200, { 'content-type': type });
      res.end(bytes.subarray(0, bytes.length - 9));
    });
    t.match(await failure(collect(core.stream(request({ stream: true })))), { code: 'UPSTREAM_MALFORMED' });
  });

  t.test('an answer that is no answer is UPSTREAM_MALFORMED', async (t) => {
    for (const body of ['', 'not json', '[]', 'null', '{}', '<html>']) {
      const { core, request } = await rig(t, wire, (_request, res) => {
        res.writeHead(200, { 'content-type': 'application/json' });
        res.end(body);
      });
      t.match(await failure(core.chat(request())), { code: 'UPSTREAM_MALFORMED' }, JSON.stringify(body));
    }
  });

  t.test('silence before the first byte, and silence in the middle, are UPSTREAM_TIMEOUT and close the connection', async (t) => {
    const { core, request, upstream } = await rig(
      t,
      wire,
      (_request, res, index) => {
        if (index === 0) return;
        const { type, frames, endFrames } = wire.stream(PLAIN);
        res.writeHead(200, { 'content-type': type });
        res.write(Buffer.concat(frames.slice(0, -endFrames)));
      },
      { timeouts: { firstByteMs: 150, idleMs: 150 } },
    );
    for (const index of [0, 1]) {
      t.match(await failure(collect(core.stream(request({ stream: true })))), { code: 'UPSTREAM_TIMEOUT' });
      await upstream.requests[index]?.closed;
    }
  });

  t.test('a refused connection is UPSTREAM_UNREACHABLE', async (t) => {
    const { core, request, upstream } = await rig(t, wire, () => undefined);
    upstream.server.close();
    await once(upstream.server, 'close');
    t.match(await failure(core.chat(request())), { code: 'UPSTREAM_UNREACHABLE', retryable: true });
  });

  t.test('usage that makes no sense is left out, not passed on', gap('nonsense usage'), async (t) => {
    const nonsense: Meaning = { ...PLAIN, usage: { input: -5, output: Number.NaN } };
    const { core, request } = await rig(t, wire, answerWith(wire, nonsense));
    const { usage } = await core.chat(request());
    for (const count of [usage.inputTokens, usage.outputTokens, usage.totalTokens]) t.ok(Number.isInteger(count) && count >= 0, String(count));
  });
}

function departures(t: Test, wire: Wire): void {
  const phases: Record<string, (res: ServerResponse) => void> = {
    'before the headers': () => undefined,
    'before the first token': (res) => {
      res.writeHead(200, { 'content-type': wire.stream(PLAIN).type });
      res.flushHeaders();
    },
    'in the middle of the stream': (res) => {
      const { type, frames, endFrames } = wire.stream(PLAIN);
      res.writeHead(200, { 'content-type': type });
      res.write(Buffer.concat(frames.slice(0, -endFrames)));
    },
  };
  for (const [phase, begin] of Object.entries(phases)) {
    for (const stream of [true, false]) {
      t.test(`a caller who leaves ${phase} of a ${stream ? 'streamed' : 'whole'} answer closes the connection to the provider`, async (t) => {
        const { core, request, upstream } = await rig(t, wire, (_request, res) => begin(res));
        const abort = new AbortController();
        const running = stream ? collect(core.stream(request({ stream }), { signal: abort.signal })) : core.chat(request(), { signal: abort.signal });
        const failed = failure(running);
        const { closed } = await upstream.arrived(0);
        abort.abort();
        t.equal((await failed).code, 'CANCELLED');
        await closed;
      });
    }
  }
}

function fragmentation(t: Test, wire: Wire, gap: Gap): void {
  const rich: Meaning = { ...PLAIN, toolCalls: [OSLO, ROME], stop: 'tool_use' };

  t.test('a stream cut at any byte offset reads the same', async (t) => {
    const { type, frames } = wire.stream(rich);
    const bytes = Buffer.concat(frames);
    const offsets = swept(bytes.length, 11);
    const { core, request } = await rig(t, wire, async (_request, res, index) => {
      res.writeHead(200, { 'content-type': type });
      res.socket?.setNoDelay(true);
      const cut = (offsets[index] ?? 0) + 1;
      res.write(bytes.subarray(0, cut));
      await new Promise((resolve) => setImmediate(resolve));
      res.end(bytes.subarray(cut));
    });
    const expected = { content: rich.text.join(''), toolCalls: rich.toolCalls.map(plainCall), stopReason: 'tool_use' };
    const run = async (): Promise<void> => {
      const outcome = await streamed({ core, request } as Rig);
      if (outcome.content !== expected.content || JSON.stringify(outcome.toolCalls) !== JSON.stringify(expected.toolCalls)) t.match(outcome, expected);
    };
    for (let from = 0; from < offsets.length; from += 8) await Promise.all(offsets.slice(from, from + 8).map(run));
    t.pass(`${offsets.length} of ${bytes.length} offsets`);
  });

  t.test('a stream in one-byte chunks reads the same', async (t) => {
    const { type, frames } = wire.stream(rich);
    const bytes = Buffer.concat(frames);
    const r = await rig(t, wire, async (_request, res) => {
      res.writeHead(200, { 'content-type': type });
      for (const byte of bytes) res.write(Buffer.from([byte]));
      res.end();
    });
    t.match(await streamed(r), { content: rich.text.join(''), toolCalls: rich.toolCalls.map(plainCall), usage: { inputTokens: 12 } });
  });

  t.test('a stream with CRLF line ends reads the same', gap('CRLF line ends'), async (t) => {
    const { type, frames } = wire.stream(rich);
    const r = await rig(t, wire, (_request, res) => {
      res.writeHead(200, { 'content-type': type });
      res.end(Buffer.concat(frames).toString().replaceAll('\n', '\r\n'));
    });
    t.match(await streamed(r), { content: rich.text.join(''), toolCalls: rich.toolCalls.map(plainCall) });
  });

  t.test('a last line without its line end is read', gap('CRLF line ends'), async (t) => {
    const { type, frames } = wire.stream(PLAIN);
    const r = await rig(t, wire, (_request, res) => {
      res.writeHead(200, { 'content-type': type });
      res.end(Buffer.concat(frames).toString().trimEnd());
    });
    t.match(await streamed(r), { content: PLAIN.text.join(''), stopReason: 'end_turn' });
  });
}
