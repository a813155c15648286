import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openContents } from '../../../transports/telemetry/contents.ts';
import { ask, createBlock } from '../../support/block-calls.ts';
import { readScrape, sumOf } from '../../support/observability/scrape.ts';
import { type ReceivedEvent, startCollector } from '../../support/otlp/collector.ts';
import { ANSWER, BODY, COMPLETION, KEYS, SECRET, spansOf, startGpu } from '../../support/otlp/gpu.ts';
import { startTraced, type Traced } from '../../support/otlp/traced.ts';
import { until } from '../../support/until.ts';
import { sendJson } from '../../support/upstream.ts';

const CAPTURE = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
const DELAY = { OTEL_BLRP_SCHEDULE_DELAY: '1' };
const EVENTS = { [CAPTURE]: 'EVENT_ONLY', ...DELAY };
const NAME = 'gen_ai.client.inference.operation.details';
const WITH_SYSTEM = { ...BODY, messages: [{ role: 'system', content: 'be kind' }, ...BODY.messages] };
const CONTENT = {
  'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: SECRET }] }],
  'gen_ai.output.messages': [{ role: 'assistant', parts: [{ type: 'text', content: ANSWER }], finish_reason: 'stop' }],
  'gen_ai.system_instructions': [{ type: 'text', content: 'be kind' }],
};

async function eventsOf({ collector }: Pick<Traced, 'collector'>, count: number): Promise<readonly ReceivedEvent[]> {
  await until(`${count} events are with the collector`, () => collector.events.length >= count);
  return collector.events;
}

const pathsOf = ({ collector }: Traced): ReadonlySet<string> => new Set(collector.requests.map(({ path }) => path));

t.test('with EVENT_ONLY, the event of a call has in its structure what was asked and answered, and no span has a word of it', async (t) => {
  const server = await startGpu(t, { otel: EVENTS });
  const before = Date.now();
  await server.call('POST', '/v1/chat', { body: WITH_SYSTEM });
  const [event] = await eventsOf(server, 1);
  await spansOf(server, 2);
  const span = server.collector.span('chat m');
  t.match(event, { name: NAME, traceId: span?.traceId, spanId: span?.spanId, flags: 1, severity: 9, resource: { 'service.name': 'blockhouse' } });
  t.ok((event?.at ?? 0) >= before - 1 && event?.at === event?.observedAt);
  t.match(event?.attributes, {
    ...CONTENT,
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'm',
    'gen_ai.response.model': 'm',
    'gen_ai.response.id': 'x',
    'gen_ai.response.finish_reasons': ['end_turn'],
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 3,
    'gen_ai.usage.cache_read.input_tokens': 4,
    'server.address': '127.0.0.1',
    'blockhouse.connection': 'gpu',
    'blockhouse.request_id': span?.attributes['blockhouse.request_id'],
  });
  for (const hidden of [SECRET, ANSWER, 'be kind', ...Object.keys(CONTENT)]) t.notOk(JSON.stringify(server.collector.traces).includes(hidden), hidden);
  for (const key of KEYS) t.notOk(JSON.stringify(server.collector.logs).includes(key));
});

t.test('with SPAN_AND_EVENT, both have it', async (t) => {
  const server = await startGpu(t, { otel: { ...EVENTS, [CAPTURE]: 'SPAN_AND_EVENT' } });
  await server.call('POST', '/v1/chat', { body: WITH_SYSTEM });
  const [event] = await eventsOf(server, 1);
  await spansOf(server, 2);
  t.match(event?.attributes, CONTENT);
  for (const [name, value] of Object.entries(CONTENT)) t.equal(server.collector.span('chat m')?.attributes[name], JSON.stringify(value));
});

t.test('nothing goes to the logs of a collector where no events are asked for, or OTEL_LOGS_EXPORTER is none', async (t) => {
  for (const otel of [{}, { [CAPTURE]: 'NO_CONTENT' }, { [CAPTURE]: 'SPAN_ONLY' }, { ...EVENTS, OTEL_LOGS_EXPORTER: 'none' }]) {
    const server = await startGpu(t, { otel: { ...DELAY, ...otel } });
    await server.call('POST', '/v1/chat', { body: BODY });
    await server.flush();
    t.strictSame([...pathsOf(server)].sort(), ['/v1/metrics', '/v1/traces']);
    t.equal(readScrape((await server.call('GET', '/metrics')).text).has('blockhouse_events_dropped_total'), false);
  }
  t.equal(openContents({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', ...EVENTS, OTEL_LOGS_EXPORTER: 'none' }), undefined, 'nobody reads it');
});

t.test('logs have variables of their own, and need neither traces nor the address of all', async (t) => {
  const [logs, others] = [await startCollector(t), await startCollector(t)];
  const server = await startGpu(t, {
    collector: others,
    otel: {
      ...EVENTS,
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_EXPORTER_OTLP_ENDPOINT: others.url,
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${logs.url}/v1/logs`,
      OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'x-team=red',
      OTEL_EXPORTER_OTLP_LOGS_COMPRESSION: 'gzip',
    },
  });
  await server.call('POST', '/v1/chat', { body: WITH_SYSTEM });
  const [event] = await eventsOf({ collector: logs }, 1);
  t.match(event, { name: NAME, traceId: '', spanId: '', flags: 0, attributes: CONTENT });
  t.match(logs.requests[0], { path: '/v1/logs', headers: { 'x-team': 'red', 'content-encoding': 'gzip', 'content-type': 'application/x-protobuf' } });
  await server.flush();
  t.strictSame([...pathsOf(server)], ['/v1/metrics']);
});

t.test('with http/json, a collector gets the same as JSON, and says in JSON what it has not taken', async (t) => {
  const collector = await startCollector(t);
  const server = await startGpu(t, { collector, otel: { ...EVENTS, OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/json' } });
  await server.call('POST', '/v1/chat', { body: WITH_SYSTEM });
  const [event] = await eventsOf(server, 1);
  await spansOf(server, 2);
  const span = server.collector.span('chat m');
  t.match(event, { name: NAME, traceId: span?.traceId, spanId: span?.spanId, attributes: { ...CONTENT, 'gen_ai.usage.input_tokens': 12 } });
  t.equal(collector.requests.find(({ path }) => path === '/v1/logs')?.headers['content-type'], 'application/json');
  collector.answer = (res) => res.writeHead(200).end('{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}');
  await server.call('POST', '/v1/chat', { body: BODY });
  await server.flush();
  t.equal(await droppedBy(server, 'export_failed'), 1);
});

const droppedBy = async (server: Traced, reason: string): Promise<number> =>
  sumOf(readScrape((await server.call('GET', '/metrics')).text), 'blockhouse_events_dropped_total', { reason });

t.test('what a collector does not get is counted, and keeps nobody waiting', async (t) => {
  const server = await startGpu(t, {
    otel: { ...EVENTS, OTEL_BLRP_MAX_QUEUE_SIZE: '2', OTEL_BLRP_SCHEDULE_DELAY: '60000', OTEL_EXPORTER_OTLP_TIMEOUT: '500' },
  });
  for (const reason of ['queue_full', 'export_failed', 'shutdown']) t.equal(await droppedBy(server, reason), 0, 'from the start on');
  server.collector.answer = () => undefined;
  for (let count = 0; count < 6; count += 1) t.equal((await server.call('POST', '/v1/chat', { body: BODY })).status, 200);
  t.equal(await droppedBy(server, 'queue_full'), 2, 'two are on their way, and two wait');
  await server.telemetry.close(20);
  t.equal(await droppedBy(server, 'shutdown'), 4);
});

t.test('a call that failed has its event with the last attempt, and one that is not recorded has none', async (t) => {
  const server = await startGpu(t, { otel: EVENTS, retries: 1, random: () => 0, answer: (_request, res) => void res.writeHead(503).end() });
  await server.call('POST', '/v1/chat', { body: BODY });
  const [event] = await eventsOf(server, 1);
  await spansOf(server, 3);
  t.equal(event?.spanId, server.collector.span('chat m', { 'blockhouse.attempt': 2 })?.spanId);
  t.match(event?.attributes, { 'error.type': 'UPSTREAM_FAILED', 'gen_ai.input.messages': CONTENT['gen_ai.input.messages'] });
  t.notOk(Object.hasOwn(event?.attributes ?? {}, 'gen_ai.output.messages'), 'there was no answer');
  const off = await startGpu(t, { otel: { ...EVENTS, OTEL_TRACES_SAMPLER: 'always_off' } });
  await off.call('POST', '/v1/chat', { body: BODY });
  await off.flush();
  t.strictSame(off.collector.events, []);
});

t.test('calls whose bytes go through, streams and calls of blocks have theirs', async (t) => {
  const server = await startGpu(t, { otel: EVENTS, answer: (_request, res) => sendJson(res, COMPLETION) });
  await server.call('POST', '/v1/chat/completions', { body: { model: 'gpu/m', messages: BODY.messages } });
  await server.call('POST', '/v1/messages', { body: { model: 'gpu/m', max_tokens: 9, stream: true, messages: BODY.messages } });
  for (const { attributes } of await eventsOf(server, 2)) t.match(attributes, { 'gen_ai.output.messages': CONTENT['gen_ai.output.messages'] });
  const message = { role: 'assistant', content: ANSWER };
  const other = await startTraced(t, {
    otel: EVENTS,
    answer: (_request, res) => sendJson(res, { model: 'm', message, done: true, done_reason: 'stop', prompt_eval_count: 5, eval_count: 2 }),
  });
  writeFileSync(join(other.workspace, 'auth.json'), JSON.stringify({ ollama: { baseURL: other.upstream.url } }), { mode: 0o600 });
  await createBlock(other, 'helper');
  await other.call('POST', '/api/blocks/helper/start');
  await ask(other, 'helper', SECRET);
  const [event] = await eventsOf(other, 1);
  await until('the span is there', () => other.collector.span('chat m') !== undefined);
  t.equal(event?.spanId, other.collector.span('chat m')?.spanId);
  t.match(event?.attributes, { 'gen_ai.output.messages': CONTENT['gen_ai.output.messages'] });
});
