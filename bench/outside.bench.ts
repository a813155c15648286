// What do the figures of `GET /metrics` and the spans of a small request cost by themselves? In one process, without a server: each in a loop, in processor time of a
// request. For spans it is the work of the packages alone, encoded and sent to a collector that forgets them.
//
//   npx tsx bench/outside.bench.ts
import * as api from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import * as sdk from '@opentelemetry/sdk-trace-base';
import { type CoreBus, createBus } from '../core/bus.ts';
import type { Core } from '../core/index.ts';
import { Metrics } from '../transports/metrics/metrics.ts';
import { SpanFactory } from '../transports/telemetry/spans.ts';
import { launch } from './harness/processes.ts';
import { median } from './harness/stats.ts';

const ROUNDS = 9;
const REQUESTS = 100_000;
/** Of a batch, with two spans each. */
const BATCH = 256;
const BATCHES = 100;

async function cpuUs(count: number, work: () => void | Promise<void>): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    if (round > 0) rounds.push((user + system) / count);
  }
  return median(rounds);
}

/** What a small request tells. */
function tell(bus: CoreBus, call: number): void {
  const usage = { inputTokens: 20, outputTokens: 12, totalTokens: 32 };
  const times = { durationMs: 3.2, queuedMs: 0.1, sentMs: 0.1, firstTextMs: 3.1 };
  const answer = { stopReason: 'end_turn', model: 'gpt-4o-mini-2024', id: 'chatcmpl-123456789' } as const;
  bus.emit('call.finished', { kind: 'chat', call, requestId: 'r', adapter: 'openai', model: 'm', path: '/v1/chat', attempts: 1, ...times, usage, answer });
  bus.emit('call.counted', { call, requestId: 'r', key: null, provider: 'openai', model: 'm', usage, costUsd: 0.0001, error: null });
  bus.emit('request.served', { requestId: 'r', method: 'POST', route: '/v1/chat', status: 200, durationMs: 3.3 });
}

function telling(bus: CoreBus): () => void {
  return () => {
    for (let call = 0; call < REQUESTS; call += 1) tell(bus, call);
  };
}

const factory = new SpanFactory(api, sdk, {}, resourceFromAttributes({ 'service.name': 'blockhouse' }), { name: 'blockhouse' });

/** The two spans of a request, with the attributes that it has. */
function spansOf(): sdk.ReadableSpan[] {
  const own = factory.begin();
  const [from, to] = [Date.now(), Date.now() + 3];
  const id = 'req_0123456789abcdef01234567';
  const request = { 'http.request.method': 'POST', 'url.scheme': 'http', 'url.path': '/v1/chat', 'http.response.status_code': 200, 'http.route': '/v1/chat' };
  const attempt = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o-mini',
    'blockhouse.connection': 'openai',
  };
  const place = { 'blockhouse.attempt': 1, 'server.address': '127.0.0.1', 'server.port': 4000 };
  const use = { 'gen_ai.usage.input_tokens': 20, 'gen_ai.usage.output_tokens': 12, 'blockhouse.cost_usd': 0.00012 };
  const answer = { 'gen_ai.response.model': 'gpt-4o-mini-2024', 'gen_ai.response.id': 'chatcmpl-1', 'gen_ai.response.finish_reasons': ['end_turn'] };
  const times = { from, to };
  return [
    factory.make({ name: 'POST /v1/chat', kind: 'SERVER', own, parent: undefined, ...times, attributes: { ...request, 'blockhouse.request_id': id } }),
    factory.make({
      name: 'chat gpt-4o-mini',
      kind: 'CLIENT',
      own: factory.within(own),
      parent: own,
      ...times,
      attributes: { ...attempt, ...place, ...use, ...answer, 'blockhouse.request_id': id },
    }),
  ];
}

const [heard, unheard] = [createBus(), createBus()];
new Metrics({ events: heard } as unknown as Core);
const [without, withMetrics] = [await cpuUs(REQUESTS, telling(unheard)), await cpuUs(REQUESTS, telling(heard))];
process.stdout.write(`figures of a request: ${(withMetrics - without).toFixed(2)} us\n`);

const collector = await launch({ name: 'collector', args: ['--import', 'tsx', 'servers/collector.ts'], cwd: import.meta.dirname });
const exporter = new OTLPTraceExporter({ url: `${collector.url}/v1/traces` });
const spans = Array.from({ length: BATCH }, spansOf).flat();
const exporting = async (): Promise<void> => {
  for (let batch = 0; batch < BATCHES; batch += 1) await new Promise<void>((resolve) => exporter.export(spans, () => resolve()));
};
process.stdout.write(`two spans, encoded and sent by the packages: ${(await cpuUs(BATCH * BATCHES, exporting)).toFixed(1)} us\n`);
await exporter.shutdown();
await collector.stop();
