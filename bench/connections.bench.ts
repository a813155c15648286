// What does a new connection cost a server with workers, and a request on one that is kept? `npx tsx bench/connections.bench.ts [rounds] [ms] [dist of before]`: one process and two
// workers in turn, and two workers of another build, if one is named. The client has the machine's cores, too, so compare processor time, and connections a second with what stands beside.
import { resolve } from 'node:path';
import { Connection } from './harness/connection.ts';
import { loadWhole } from './harness/load.ts';
import { cpuMs, ownCpuMs, type Server, startGateway, startUpstream } from './harness/processes.ts';
import { spreadText } from './harness/report.ts';
import { column, interleave } from './harness/rounds.ts';
import { spreadOf } from './harness/stats.ts';
import { gatewayTarget, type Target } from './harness/targets.ts';
import { warmWhole } from './harness/world.ts';

const [rounds = 7, ms = 2000] = process.argv.slice(2, 4).map(Number);
const before = process.argv[4];
const SIZE = 80;
const CONCURRENCY = 16;

interface Round {
  readonly perSecond: number;
  /** Microseconds of processor time for each: of all processes, and of the one that was started. */
  readonly cpuUs: number;
  readonly ownUs: number;
}

/** Connections that carry one small request each. */
async function loadConnections({ pid, port }: Target): Promise<Round> {
  const request = Buffer.from(`GET /v1/health HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`);
  let count = 0;
  const [cpu, own, startedAt] = [cpuMs(pid), ownCpuMs(pid), performance.now()];
  const client = async (): Promise<void> => {
    while (performance.now() - startedAt < ms) {
      const connection = await Connection.open(port);
      const { status } = await connection.exchange(request, () => undefined);
      if (status !== 200) throw new Error(`status ${status}`);
      connection.close();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, client));
  const elapsed = performance.now() - startedAt;
  return { perSecond: (count * 1000) / elapsed, cpuUs: ((cpuMs(pid) - cpu) * 1000) / count, ownUs: ((ownCpuMs(pid) - own) * 1000) / count };
}

async function loadKept(target: Target): Promise<Round> {
  const own = ownCpuMs(target.pid);
  const { count, perSecond, cpuUs } = await loadWhole(target, target.whole(SIZE), { concurrency: CONCURRENCY, ms });
  return { perSecond, cpuUs, ownUs: ((ownCpuMs(target.pid) - own) * 1000) / count };
}

const upstream = await startUpstream();
const workers = ['--gateway-only', '--workers', '2'];
const servers: [string, Server][] = [
  ['one process', await startGateway(upstream, { args: ['--gateway-only'] })],
  ['two workers', await startGateway(upstream, { args: workers })],
];
if (before !== undefined) servers.push(['two workers, before', await startGateway(upstream, { args: workers, dist: resolve(before) })]);
try {
  const targets = servers.map(([name, server]): Target => ({ ...gatewayTarget(server, 'openai-chat'), name }));
  await warmWhole(targets, SIZE);
  for (const target of targets) await loadConnections(target);
  for (const [what, load] of [
    ['a connection with one small request', loadConnections],
    ['a request on a connection that is kept', loadKept],
  ] as const) {
    const found = await interleave(targets, rounds, load);
    process.stdout.write(`${what}:\n`);
    for (const { name } of targets) {
      const of = (figure: (round: Round) => number): string => spreadText(spreadOf(column(found, name, figure)));
      process.stdout.write(
        `  ${name}: ${of((round) => round.cpuUs)} us, of them ${of((round) => round.ownUs)} in the first process; ${of((round) => round.perSecond)} a second\n`,
      );
    }
  }
} finally {
  await Promise.all([upstream.stop(), ...servers.map(([, server]) => server.stop())]);
}
