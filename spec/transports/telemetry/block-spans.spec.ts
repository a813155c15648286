import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as api from '@opentelemetry/api';
import * as sdk from '@opentelemetry/sdk-trace-base';
import t from 'tap';
import { type CoreBus, createBus } from '../../../core/bus.ts';
import { BlockSpans } from '../../../transports/telemetry/block-spans.ts';
import { CallSpans } from '../../../transports/telemetry/call-spans.ts';
import { SpanClock } from '../../../transports/telemetry/clock.ts';
import { ObjectBatch, type Origin } from '../../../transports/telemetry/span-batch.ts';
import { type Noted, SpanIds } from '../../../transports/telemetry/spans.ts';
import type { Upstreams } from '../../../transports/telemetry/upstreams.ts';
import { ask, createBlock } from '../../support/block-calls.ts';
import { ANSWER, SECRET } from '../../support/otlp/gpu.ts';
import { startTraced } from '../../support/otlp/traced.ts';
import { until } from '../../support/until.ts';
import { sendJson } from '../../support/upstream.ts';

t.test('a message to a block is a span from its arrival to its outcome, with a link to the request that sent it', async (t) => {
  const server = await startTraced(t, {
    env: {},
    answer: (_request, res) =>
      sendJson(res, { model: 'm', message: { role: 'assistant', content: ANSWER }, done: true, done_reason: 'stop', prompt_eval_count: 5, eval_count: 2 }),
  });
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ ollama: { baseURL: server.upstream.url } }), { mode: 0o600 });
  await createBlock(server, 'helper');
  await server.call('POST', '/api/blocks/helper/start');
  await ask(server, 'helper', SECRET);
  await until('the span is there', () => server.collector.span('invoke_agent helper') !== undefined);
  const message = server.collector.span('invoke_agent helper');
  const request = server.collector.span('POST /api/blocks/:name/chat');
  t.match(message, { kind: 'INTERNAL', parentSpanId: '', hasFailed: false, links: [{ traceId: request?.traceId, spanId: request?.spanId }] });
  t.match(message?.attributes, {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'helper',
    'blockhouse.message_id': String,
    'blockhouse.channel': 'web',
    'blockhouse.outcome': 'done',
    'gen_ai.usage.input_tokens': 5,
    'gen_ai.usage.output_tokens': 2,
  });
  t.match(server.collector.span('chat m'), { kind: 'CLIENT', parentSpanId: message?.spanId, attributes: { 'gen_ai.provider.name': 'ollama' } });
  t.equal(server.collector.span('queue', { 'blockhouse.block': 'helper' })?.parentSpanId, message?.spanId);
});

/** As `world` has it: only events. */
function worldOf(): { readonly core: { readonly events: CoreBus }; readonly ended: readonly sdk.ReadableSpan[]; readonly lost: () => number } {
  const events = createBus();
  const batch = new ObjectBatch({ resource: {}, scope: { name: 'x' } } as Origin);
  const tracing = { clock: new SpanClock(), ids: new SpanIds(api, sdk, {}), note: (noted: Noted) => noted.write(batch) };
  let lost = 0;
  const blocks = new BlockSpans({ events }, tracing, () => {
    lost += 1;
  });
  const upstreams = { of: () => ({ provider: 'p', address: undefined, port: undefined }) } as unknown as Upstreams;
  new CallSpans({ events }, tracing, upstreams, (fact, from) => blocks.parentOf(fact, from));
  return { core: { events }, ended: batch.spans, lost: () => lost };
}

const CALL = {
  kind: 'chat',
  call: 1,
  requestId: 'r',
  adapter: 'p',
  model: 'm',
  caller: 'helper',
  attempts: 1,
  durationMs: 100,
  queuedMs: 0,
  sentMs: 0,
} as const;

t.test('a compaction is a span around its call, within the message that is answered meanwhile', async (t) => {
  const { core, ended } = worldOf();
  core.events.emit('message.queued', { block: 'helper', id: 'm1', channel: 'web' });
  core.events.emit('message.started', { block: 'helper', id: 'm1', attempt: 1, provider: 'p', model: 'm' });
  core.events.emit('call.finished', CALL);
  core.events.emit('memory.compacted', { block: 'helper', outcome: 'summarized', trigger: 'threshold' });
  core.events.emit('call.finished', { ...CALL, messageId: 'm1' });
  core.events.emit('message.finished', { block: 'helper', id: 'm1', status: 'failed', code: 'UPSTREAM_FAILED' });
  await Promise.resolve(); // spans of calls come a moment later, since their cost does
  const [compaction, message] = ['compact memory', 'invoke_agent helper'].map((wanted) => ended.find(({ name }) => name === wanted));
  const [summary, answer] = ended.filter(({ name }) => name === 'chat m');
  t.equal(summary?.parentSpanContext?.spanId, compaction?.spanContext().spanId);
  t.equal(compaction?.parentSpanContext?.spanId, message?.spanContext().spanId);
  t.equal(answer?.parentSpanContext?.spanId, message?.spanContext().spanId);
  t.match(compaction, {
    name: 'compact memory',
    attributes: { 'blockhouse.outcome': 'summarized', 'blockhouse.trigger': 'threshold', 'blockhouse.block': 'helper' },
  });
  t.match(message, { status: { code: api.SpanStatusCode.ERROR }, attributes: { 'error.type': 'UPSTREAM_FAILED', 'blockhouse.outcome': 'failed' } });
});

t.test('a window that is moved without a call is a compaction, too, and one that was given up leaves nothing', async (t) => {
  const { core, ended } = worldOf();
  core.events.emit('memory.compacted', { block: 'helper', outcome: 'evicted', trigger: 'overflow' });
  t.match(ended[0], { name: 'compact memory', attributes: { 'blockhouse.outcome': 'evicted' }, parentSpanContext: undefined });
  core.events.emit('call.finished', CALL); // of a compaction that a stop has ended
  core.events.emit('message.started', { block: 'helper', id: 'm2', attempt: 1, provider: 'p', model: 'm' });
  core.events.emit('memory.compacted', { block: 'helper', outcome: 'failed', trigger: 'manual' });
  core.events.emit('message.finished', { block: 'helper', id: 'm2', status: 'done' });
  await Promise.resolve();
  const call = ended.find(({ name }) => name === 'chat m');
  const compaction = ended.filter(({ name }) => name === 'compact memory')[1];
  const message = ended.find(({ name }) => name === 'invoke_agent helper');
  t.ok(call?.parentSpanContext?.spanId);
  t.not(compaction?.spanContext().spanId, call?.parentSpanContext?.spanId);
  t.equal(compaction?.parentSpanContext?.spanId, message?.spanContext().spanId);
  t.equal(compaction?.status.code, api.SpanStatusCode.ERROR);
});

t.test('a second attempt at a message waits no second time, and what was archived is forgotten', async (t) => {
  const { core, ended } = worldOf();
  const started = { block: 'helper', id: 'm1', provider: 'p', model: 'm' };
  core.events.emit('message.queued', { block: 'helper', id: 'm1', channel: 'web' });
  core.events.emit('message.started', { ...started, attempt: 1 });
  core.events.emit('message.started', { ...started, attempt: 2 });
  core.events.emit('block.archived', { block: 'helper', archiveName: 'helper_1' });
  core.events.emit('message.finished', { block: 'helper', id: 'm1', status: 'done' });
  t.strictSame(
    ended.map(({ name }) => name),
    ['queue'],
  );
});

t.test('of very many messages that wait, the oldest have no span, and are counted', async (t) => {
  const { core, ended, lost } = worldOf();
  for (let index = 0; index < 10_003; index += 1) core.events.emit('message.queued', { block: 'helper', id: `m${index}`, channel: 'api' });
  t.equal(lost(), 3);
  for (const id of ['m0', 'm2', 'm3', 'm10002']) core.events.emit('message.finished', { block: 'helper', id, status: 'expired' });
  t.strictSame(
    ended.map(({ attributes }) => attributes['blockhouse.message_id']),
    ['m3', 'm10002'],
  );
});
