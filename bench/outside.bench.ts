// What do the figures of `GET /metrics` and the spans of a small request cost by themselves? In one process, without a server: each in a loop, in processor time of a
// request. Spans are made, written and sent to a collector that forgets them.
//
//   npx tsx bench/outside.bench.ts

import type { IncomingMessage } from 'node:http';
import * as api from '@opentelemetry/api';
import * as nodeHttp from '@opentelemetry/otlp-exporter-base/node-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import * as sdk from '@opentelemetry/sdk-trace-base';
import { type CoreBus, createBus } from '../core/bus.ts';
import type { Core } from '../core/index.ts';
import { Metrics } from '../transports/metrics/metrics.ts';
import { CallSpans } from '../transports/telemetry/call-spans.ts';
import { SpanClock } from '../transports/telemetry/clock.ts';
import { ExportQueue } from '../transports/telemetry/export-queue.ts';
import { ByteOutlet } from '../transports/telemetry/outlets.ts';
import { SpanIds } from '../transports/telemetry/spans.ts';
import { RequestSpans } from '../transports/telemetry/tracing.ts';
import type { Upstreams } from '../transports/telemetry/upstreams.ts';
import { launch } from './harness/processes.ts';
import { median } from './harness/stats.ts';

const ROUNDS = 9;
const REQUESTS = 100_000;
/** Requests that are answered before something is sent: a batch of two spans each. */
const BATCH = 256;

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
function tell(bus: CoreBus, call: number, traceparent?: string): void {
  const usage = { inputTokens: 20, outputTokens: 12, totalTokens: 32 };
  const times = { durationMs: 3.2, queuedMs: 0.1, sentMs: 0.1, firstTextMs: 3.1 };
  const answer = { stopReason: 'end_turn', model: 'gpt-4o-mini-2024', id: 'chatcmpl-123456789' } as const;
  bus.emit('call.finished', {
    kind: 'chat',
    call,
    requestId: 'r',
    adapter: 'openai',
    model: 'm',
    path: '/v1/chat',
    attempts: 1,
    ...times,
    usage,
    answer,
    traceparent,
  });
  bus.emit('call.counted', { call, requestId: 'r', key: null, provider: 'openai', model: 'm', usage, costUsd: 0.0001, error: null });
  bus.emit('request.served', { requestId: 'r', method: 'POST', route: '/v1/chat', status: 200, durationMs: 3.3, traceparent });
}

function telling(bus: CoreBus): () => void {
  return () => {
    for (let call = 0; call < REQUESTS; call += 1) tell(bus, call);
  };
}

const [heard, unheard] = [createBus(), createBus()];
new Metrics({ events: heard } as unknown as Core);
const [without, withMetrics] = [await cpuUs(REQUESTS, telling(unheard)), await cpuUs(REQUESTS, telling(heard))];
process.stdout.write(`figures of a request: ${(withMetrics - without).toFixed(2)} us\n`);

const collector = await launch({ name: 'collector', args: ['--import', 'tsx', 'servers/collector.ts'], cwd: import.meta.dirname });
process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
const origin = { resource: resourceFromAttributes({ 'service.name': 'blockhouse' }), scope: { name: 'blockhouse' } };
const settings = { most: 4 * BATCH, batch: 2 * BATCH, delayMs: 5000, timeoutMs: 30_000 };
const fail = (error?: unknown): never => {
  throw new Error(`a span is lost: ${String(error)}`);
};
const queue = new ExportQueue(new ByteOutlet(nodeHttp, origin), settings, { dropped: fail, failed: fail });
const traced = createBus();
const core = { events: traced } as unknown as Core;
const tracing = { clock: new SpanClock(), ids: new SpanIds(api, sdk, {}), note: queue.add.bind(queue) };
const requests = new RequestSpans(core, tracing, true);
const upstream = { provider: 'openai', address: '127.0.0.1', port: 4000 };
new CallSpans(core, tracing, { of: () => upstream } as unknown as Upstreams, ({ traceparent = '' }) => requests.find(traceparent));

async function exporting(): Promise<void> {
  for (let call = 1; call <= REQUESTS; call += 1) {
    const req = { headers: {}, url: '/v1/chat' } as IncomingMessage;
    tell(traced, call, requests.begin(req));
    await undefined;
    if (call % BATCH === 0) await queue.forceFlush();
  }
}
process.stdout.write(`two spans, made, written and sent: ${(await cpuUs(REQUESTS, exporting)).toFixed(1)} us\n`);
await queue.shutdown();
await collector.stop();
