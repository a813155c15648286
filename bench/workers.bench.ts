// What do workers cost, and how many requests do they serve? One process against two workers of one primary, in turn, with the token of the workspace and with a
// key that has a cap, for which a worker asks the primary before each call. The client and the mock of the provider have processes of their own, so on a machine of
// two cores four processes want them: compare the processor time of a request, and the requests a second only where cores are free.
//
//   npx tsx bench/workers.bench.ts [rounds] [ms]

import { loadWhole, type WholeRound } from './harness/load.ts';
import { childrenOf, ownCpuMs, rssMiB, type Server, startGateway, startUpstream } from './harness/processes.ts';
import { spreadText } from './harness/report.ts';
import { interleave } from './harness/rounds.ts';
import { spreadOf } from './harness/stats.ts';
import { gatewayTarget, type Target } from './harness/targets.ts';
import { warmWhole } from './harness/world.ts';

const [rounds = 7, ms = 2000] = process.argv.slice(2).map(Number);
const SIZE = 80;
const CONCURRENCY = 32;

async function cappedKey({ url, token }: Server): Promise<string> {
  const response = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', tokensPerDay: 1e12 }),
  });
  return ((await response.json()) as { readonly key: string }).key;
}

/** `primaryUs`: microseconds of the process that was started, for each request. */
interface Round extends WholeRound {
  readonly primaryUs: number;
}

const upstream = await startUpstream();
const one = await startGateway(upstream, { args: ['--gateway-only'] });
const two = await startGateway(upstream, { args: ['--gateway-only', '--workers', '2'] });
try {
  const targets: Target[] = [];
  for (const [name, server] of [
    ['one process', one],
    ['two workers', two],
  ] as const) {
    targets.push({ ...gatewayTarget(server, 'openai-chat'), name });
    targets.push({ ...gatewayTarget({ ...server, token: await cappedKey(server) }, 'openai-chat'), name: `${name}, key with a cap` });
  }
  await warmWhole(targets, SIZE);
  const found = await interleave(targets, rounds, async (target) => {
    const before = ownCpuMs(target.pid);
    const round = await loadWhole(target, target.whole(SIZE), { concurrency: CONCURRENCY, ms });
    return { ...round, primaryUs: ((ownCpuMs(target.pid) - before) * 1000) / round.count };
  });
  const of = (name: string, figure: (round: Round) => number): number[] => (found.get(name) ?? []).map(figure);
  for (const { name } of targets) {
    const text = [
      `${spreadText(spreadOf(of(name, (round) => round.cpuUs)))} us of processor time, of them ${spreadText(spreadOf(of(name, (round) => round.primaryUs)))} in the first process`,
      `${spreadText(spreadOf(of(name, (round) => round.perSecond)))} requests a second`,
    ];
    process.stdout.write(`${name}: ${text.join(', ')}, p99 ${spreadText(spreadOf(of(name, (round) => round.p99)))} ms\n`);
  }
  const memory = (pid: number): string => [pid, ...childrenOf(pid)].map((each) => rssMiB(each).toFixed(0)).join(' + ');
  process.stdout.write(`resident MiB: one process ${memory(one.pid)}; primary and workers ${memory(two.pid)}\n`);
} finally {
  await Promise.all([upstream.stop(), one.stop(), two.stop()]);
}
