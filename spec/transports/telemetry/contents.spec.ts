import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Prompt } from '../../../core/index.ts';
import { Contents, openContents } from '../../../transports/telemetry/contents.ts';
import { ask, createBlock } from '../../support/block-calls.ts';
import { ANSWER, BODY, COMPLETION, SECRET, spansOf, startGpu } from '../../support/otlp/gpu.ts';
import { startTraced, type Traced } from '../../support/otlp/traced.ts';
import { until } from '../../support/until.ts';
import { sendJson } from '../../support/upstream.ts';

const CAPTURE = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
const ON = { otel: { [CAPTURE]: 'SPAN_ONLY' } };
const NAMES = ['gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.system_instructions'];
const OUTPUT = JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: ANSWER }], finish_reason: 'stop' }]);
const WITH_SYSTEM = { ...BODY, messages: [{ role: 'system', content: 'be kind' }, ...BODY.messages] };

const chatSpan = (server: Traced, attributes = {}) => server.collector.span('chat m', attributes)?.attributes ?? {};

t.test('where the variable says so, the span of a call has what was asked and answered', async (t) => {
  const server = await startGpu(t, ON);
  await server.call('POST', '/v1/chat', { body: WITH_SYSTEM });
  await spansOf(server, 2);
  t.match(chatSpan(server), {
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: SECRET }] }]),
    'gen_ai.output.messages': OUTPUT,
    'gen_ai.system_instructions': '[{"type":"text","content":"be kind"}]',
  });
  for (const name of NAMES) t.notOk(Object.hasOwn(server.collector.span('POST /v1/chat')?.attributes ?? {}, name), 'that of the request has none');
});

t.test('without the variable, or with NO_CONTENT, nothing has a word of it, and nobody reads it', async (t) => {
  for (const otel of [{}, { [CAPTURE]: 'NO_CONTENT' }, { [CAPTURE]: 'false' }]) {
    t.equal(openContents({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', ...otel }), undefined);
    const server = await startGpu(t, { otel });
    await server.call('POST', '/v1/chat', { body: WITH_SYSTEM });
    const text = JSON.stringify(await spansOf(server, 2));
    for (const hidden of [SECRET, ANSWER, 'be kind', ...NAMES]) t.notOk(text.includes(hidden), hidden);
  }
  t.equal(openContents({ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', [CAPTURE]: 'SPAN_ONLY' }), undefined);
});

t.test('no fact of the bus has a word of it, also where it is exported', async (t) => {
  const server = await startGpu(t, ON);
  const facts: unknown[] = [];
  for (const name of ['call.started', 'attempt.started', 'attempt.ended', 'call.finished', 'call.counted', 'call.billed', 'request.served'] as const)
    server.core.events.on(name, (fact) => facts.push(fact));
  await server.call('POST', '/v1/chat', { body: BODY });
  await spansOf(server, 2);
  t.equal(chatSpan(server)['gen_ai.output.messages'], OUTPUT);
  t.ok(facts.length >= 5);
  for (const hidden of [SECRET, ANSWER]) t.notOk(JSON.stringify(facts).includes(hidden), hidden);
});

t.test('the protocols of clients that are translated have it, too, whole and streamed', async (t) => {
  const server = await startGpu(t, { ...ON, answer: (_request, res) => sendJson(res, COMPLETION) });
  await server.call('POST', '/v1/messages', { body: { model: 'gpu/m', max_tokens: 9, messages: BODY.messages } });
  await spansOf(server, 2);
  t.equal(chatSpan(server)['gen_ai.output.messages'], OUTPUT);
  await server.call('POST', '/v1/messages', { body: { model: 'gpu/m', max_tokens: 9, stream: true, messages: BODY.messages } });
  await spansOf(server, 4);
  t.equal(chatSpan(server, { 'gen_ai.request.stream': true })['gen_ai.output.messages'], OUTPUT);
});

t.test('calls whose bytes go through have it, and only where it is asked for', async (t) => {
  const server = await startGpu(t, ON);
  await server.call('POST', '/v1/chat/completions', { body: { model: 'gpu/m', messages: BODY.messages } });
  await spansOf(server, 2);
  t.match(chatSpan(server), { 'gen_ai.input.messages': new RegExp(SECRET), 'gen_ai.output.messages': OUTPUT });
  const off = await startGpu(t);
  await off.call('POST', '/v1/chat/completions', { body: { model: 'gpu/m', messages: BODY.messages } });
  await spansOf(off, 2);
  for (const name of NAMES) t.notOk(Object.hasOwn(chatSpan(off), name), name);
});

t.test('the calls of blocks have it', async (t) => {
  const message = { role: 'assistant', content: ANSWER };
  const server = await startTraced(t, {
    ...ON,
    answer: (_request, res) => sendJson(res, { model: 'm', message, done: true, done_reason: 'stop', prompt_eval_count: 5, eval_count: 2 }),
  });
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ ollama: { baseURL: server.upstream.url } }), { mode: 0o600 });
  await createBlock(server, 'helper');
  await server.call('POST', '/api/blocks/helper/start');
  await ask(server, 'helper', SECRET);
  await until('the span is there', () => server.collector.span('invoke_agent helper') !== undefined);
  t.match(chatSpan(server), { 'gen_ai.input.messages': new RegExp(SECRET), 'gen_ai.output.messages': OUTPUT });
  for (const name of NAMES) t.notOk(Object.hasOwn(server.collector.span('invoke_agent helper')?.attributes ?? {}, name));
});

t.test('it stands at the last attempt, and one that failed says so', async (t) => {
  let count = 0;
  const server = await startGpu(t, {
    ...ON,
    retries: 1,
    random: () => 0,
    answer: (_request, res) => {
      count += 1;
      if (count === 2) sendJson(res, COMPLETION);
      else res.writeHead(503).end();
    },
  });
  await server.call('POST', '/v1/chat', { body: BODY });
  await spansOf(server, 3);
  t.notOk(Object.hasOwn(chatSpan(server, { 'blockhouse.attempt': 1 }), 'gen_ai.input.messages'));
  t.match(chatSpan(server, { 'blockhouse.attempt': 2 }), { 'gen_ai.input.messages': new RegExp(SECRET), 'gen_ai.output.messages': OUTPUT });
  server.collector.spans.length = 0;
  await server.call('POST', '/v1/chat', { body: BODY });
  await spansOf(server, 3);
  const failed = chatSpan(server, { 'blockhouse.attempt': 2 });
  t.match(failed, { 'gen_ai.input.messages': new RegExp(SECRET), 'error.type': 'UPSTREAM_FAILED' });
  t.notOk(Object.hasOwn(failed, 'gen_ai.output.messages'), 'there was no answer');
});

t.test('a call that is not recorded is not read', async (t) => {
  const server = await startGpu(t, { otel: { ...ON.otel, OTEL_TRACES_SAMPLER: 'always_off' } });
  const contents = new Contents();
  contents.start(() => false);
  t.equal(contents.begin(callOf(1)), undefined);
  t.equal((await server.call('POST', '/v1/chat', { body: BODY })).status, 200);
  await server.flush();
  t.strictSame(server.collector.spans, []);
});

const PROMPT = { system: undefined, turns: [{ role: 'user', text: SECRET }] } as unknown as Prompt;
const callOf = (call: number) => ({ call, traceparent: undefined, caller: undefined, prompt: PROMPT });

t.test('what waits for its export is bounded, and what is exported or lost makes room', async (t) => {
  const contents = new Contents(300);
  contents.start(() => true);
  const ended = (call: number) => {
    contents.begin(callOf(call))?.([{ type: 'text', text: ANSWER }]);
    return contents.end({ call, code: undefined, answer: { stopReason: 'max_tokens' } });
  };
  const first = ended(1);
  t.match(first?.attributes, { 'gen_ai.output.messages': /"finish_reason":"length"/ });
  t.strictSame(ended(2)?.attributes, { 'blockhouse.content_dropped': true });
  first?.release();
  first?.release();
  t.match(ended(3)?.attributes, { 'gen_ai.input.messages': new RegExp(SECRET) });
  t.strictSame(ended(4)?.attributes, { 'blockhouse.content_dropped': true }, 'a release counts once');
  t.equal(contents.end({ call: 3, code: undefined, answer: undefined }), undefined, 'nothing of a call stays');
});

t.test('what a span and an event have makes room when both have gone', async (t) => {
  const contents = new Contents(300);
  contents.start(() => true);
  const ended = (call: number) => {
    contents.begin(callOf(call))?.([{ type: 'text', text: ANSWER }]);
    return contents.end({ call, code: undefined, answer: undefined });
  };
  const first = ended(1);
  const release = first?.hold();
  first?.release();
  first?.release();
  t.strictSame(ended(2)?.attributes, { 'blockhouse.content_dropped': true });
  release?.();
  release?.();
  t.match(ended(3)?.attributes, { 'gen_ai.input.messages': new RegExp(SECRET) });
  t.strictSame(ended(4)?.attributes, { 'blockhouse.content_dropped': true }, 'a release counts once');
  t.equal(first?.isOnSpan, true);
  const onEvents = new Contents(300, false);
  onEvents.start(() => true);
  onEvents.begin(callOf(1));
  t.equal(onEvents.end({ call: 1, code: undefined, answer: undefined })?.isOnSpan, false);
});

t.test('pieces of an answer are joined, its calls have their place, and a very long one is not kept', async (t) => {
  const contents = new Contents();
  contents.start(() => true);
  const take = contents.begin(callOf(1));
  take?.([
    { type: 'reasoning', text: 'h' },
    { type: 'reasoning', text: 'm' },
    { type: 'text', text: '' },
    { type: 'text', text: 'a' },
  ]);
  take?.([
    { type: 'text', text: 'b' },
    { type: 'toolCall', toolCall: { id: 'c', name: 'n', arguments: {} } },
  ]);
  const parts = [
    { type: 'reasoning', content: 'hm' },
    { type: 'text', content: 'ab' },
    { type: 'tool_call', id: 'c', name: 'n', arguments: {} },
  ];
  const { attributes } = contents.end({ call: 1, code: 'CANCELLED', answer: undefined }) ?? {};
  t.equal(attributes?.['gen_ai.output.messages'], JSON.stringify([{ role: 'assistant', parts, finish_reason: 'error' }]));
  const long = contents.begin(callOf(2));
  for (let count = 0; count < 100; count += 1) long?.([{ type: 'text', text: 'w'.repeat(1000) }]);
  const text = String(contents.end({ call: 2, code: undefined, answer: { stopReason: 'end_turn' } })?.attributes['gen_ai.output.messages']);
  t.ok(Buffer.byteLength(text) <= 32_768);
  t.match(text, /w \[…cut\]"\}\],"finish_reason":"stop"\}\]$/);
});
