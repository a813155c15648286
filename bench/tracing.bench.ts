// What does tracing of every request cost? Two gateways, one with a collector and one without, in short turns (harness/turns.ts): the processor time of a small
// request. A second pair, which are both without, says how exact that is.
//
//   npx tsx bench/tracing.bench.ts [fours]
import { loadavg } from 'node:os';
import { launch, type Server, startGateway, startUpstream } from './harness/processes.ts';
import { gatewayTarget, type Target } from './harness/targets.ts';
import { turnRatio } from './harness/turns.ts';
import { warmWhole } from './harness/world.ts';

const [fours = 100] = process.argv.slice(2).map(Number);
const SIZE = 80;

/** What the server with the collector says of its spans. */
async function droppedBy({ url, token }: Server): Promise<string> {
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
  const dropped = [...text.matchAll(/^blockhouse_spans_dropped_total\{reason="(\w+)"\} (\d+)/gm)].map(([, reason, count]) => `${reason} ${count}`);
  const calls = [...text.matchAll(/^blockhouse_calls_total\{[^}]*\} (\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  return `${calls} calls; spans dropped: ${dropped.join(', ')}`;
}

const upstream = await startUpstream();
const collector = await launch({ name: 'collector', args: ['--import', 'tsx', 'servers/collector.ts'], cwd: import.meta.dirname });
const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
const [plain, same, traced] = await Promise.all([startGateway(upstream), startGateway(upstream), startGateway(upstream, { env })]);
try {
  const targets: readonly Target[] = [plain, same, traced].map((server) => gatewayTarget(server, 'openai-chat'));
  const [base, twin, target] = targets as [Target, Target, Target];
  await warmWhole(targets, SIZE);
  const before = loadavg()[0];
  const control = await turnRatio(twin, base, fours);
  const ratio = await turnRatio(target, base, fours);
  process.stdout.write(`with traces and metrics ${ratio.toFixed(3)} times a server without; one without beside another ${control.toFixed(3)}\n`);
  process.stdout.write(`${await droppedBy(traced)}; load of the machine ${before?.toFixed(1)} to ${loadavg()[0]?.toFixed(1)}\n`);
} finally {
  await Promise.all([upstream, collector, plain, same, traced].map((server) => server.stop()));
}
