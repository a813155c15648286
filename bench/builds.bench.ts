// Did a change make keys with limits and connections with several keys cheaper? `npx tsx bench/builds.bench.ts <dist of before>` compares another build with `dist` in one
// run, on a server of each: what `check.ts --keys` compares, on both, and then the same caller at both.
import { resolve } from 'node:path';
import { type Server, startGateway, startUpstream } from './harness/processes.ts';
import { gatewayTarget, makeKeys, type Target } from './harness/targets.ts';
import { turnRatio } from './harness/turns.ts';

const CONVERSATIONS = { count: 1000, by: 'beginning' } as const;
const PAIRS = { capped: 'plain', limited: 'gateway', fourkeys: 'beginning' } as const;

const [before, fours = '100', only = Object.keys(PAIRS).join(',')] = process.argv.slice(2);
if (before === undefined) throw new Error('name the folder of the other build');

const upstream = await startUpstream();
const servers = { before: await startGateway(upstream, { dist: resolve(before) }), now: await startGateway(upstream) };
try {
  const builds = { before: await targetsOf(servers.before), now: await targetsOf(servers.now) };
  for (const name of only.split(',') as (keyof typeof PAIRS)[]) {
    const base = PAIRS[name];
    const ratios = [];
    for (const [build, targets] of Object.entries(builds)) ratios.push(`${build} ${(await turnRatio(targets[name], targets[base], Number(fours))).toFixed(3)}`);
    process.stdout.write(`${name} beside ${base}: ${ratios.join(', ')}\n`);
    for (const caller of [name, base]) {
      const ratio = await turnRatio(builds.now[caller], builds.before[caller], Number(fours));
      process.stdout.write(`${caller}: now beside before ${ratio.toFixed(3)}\n`);
    }
  }
} finally {
  await Promise.all([upstream.stop(), servers.before.stop(), servers.now.stop()]);
}

async function targetsOf(server: Server): Promise<Record<keyof typeof PAIRS | (typeof PAIRS)[keyof typeof PAIRS], Target>> {
  const { plain, capped, limited } = await makeKeys(server);
  return {
    gateway: gatewayTarget(server, 'openai-chat'),
    plain: gatewayTarget(server, 'openai-chat', { token: plain }),
    capped: gatewayTarget(server, 'openai-chat', { token: capped }),
    limited: gatewayTarget(server, 'openai-chat', { token: limited }),
    beginning: gatewayTarget(server, 'openai-chat', { conversations: CONVERSATIONS }),
    fourkeys: gatewayTarget(server, 'openai-chat', { connection: 'fourkeys', conversations: CONVERSATIONS }),
  };
}
