// Did a change make keys with limits and connections with several keys cheaper? `npx tsx bench/builds.bench.ts <dist of before> [<turns>]` compares another build with
// `dist` in one run: the two servers take short turns, each with every caller, and processor time counts. So what a hundredth costs shows also on a busy machine, where
// two runs of `check.ts --keys` differ by more.
import { resolve } from 'node:path';
import { type Server, startGateway, startUpstream } from './harness/processes.ts';
import { median, percentile } from './harness/stats.ts';
import { gatewayTarget, makeKeys, type Target } from './harness/targets.ts';
import { takeTurns, turnRatio, type Turns } from './harness/turns.ts';

/** So many of the turns meet little other work. */
const QUIET = 0.2;
const CONVERSATIONS = { count: 1000, by: 'beginning' } as const;
const SIDES = { capped: 'plain', limited: 'gateway', fourkeys: 'beginning' } as const;
const ALL = ['gateway', 'plain', 'capped', 'limited', 'beginning', 'fourkeys'] as const;

const [before, turns = '60', only] = process.argv.slice(2);
if (before === undefined) throw new Error('name the folder of the other build');

const upstream = await startUpstream();
const servers = { before: await startGateway(upstream, { dist: resolve(before) }), now: await startGateway(upstream) };
try {
  const targets = (await Promise.all(Object.entries(servers).map(([build, server]) => targetsOf(build, server)))).flat();
  const found = await takeTurns(targets, Number(turns));
  for (const [side, base] of Object.entries(SIDES)) {
    if (!found.has(`now ${side}`)) continue;
    const ratios = Object.keys(servers).map((build) => {
      const [name, beside] = [`${build} ${side}`, `${build} ${base}`];
      const quiet = percentile(found.get(name) ?? [], QUIET) / percentile(found.get(beside) ?? [], QUIET);
      return `${build} ${turnRatio(found, name, beside).toFixed(3)} (quiet ${quiet.toFixed(3)})`;
    });
    process.stdout.write(`${side} beside ${base}: ${ratios.join(', ')}\n`);
  }
  for (const side of ALL) {
    if (!found.has(`now ${side}`)) continue;
    const us = Object.keys(servers).map((build) => `${build} ${usOf(found, `${build} ${side}`)}`);
    process.stdout.write(`${side}: ${us.join(', ')} µs; now beside before ${turnRatio(found, `now ${side}`, `before ${side}`).toFixed(3)}\n`);
  }
} finally {
  await Promise.all([upstream.stop(), servers.before.stop(), servers.now.stop()]);
}

async function targetsOf(build: string, server: Server): Promise<Target[]> {
  const { plain, capped, limited } = await makeKeys(server);
  const all: Record<(typeof ALL)[number], Target> = {
    gateway: gatewayTarget(server, 'openai-chat'),
    plain: gatewayTarget(server, 'openai-chat', { token: plain }),
    capped: gatewayTarget(server, 'openai-chat', { token: capped }),
    limited: gatewayTarget(server, 'openai-chat', { token: limited }),
    beginning: gatewayTarget(server, 'openai-chat', { conversations: CONVERSATIONS }),
    fourkeys: gatewayTarget(server, 'openai-chat', { connection: 'fourkeys', conversations: CONVERSATIONS }),
  };
  return ALL.filter((name) => only === undefined || only.split(',').includes(name)).map((name) => ({ ...all[name], name: `${build} ${name}` }));
}

function usOf(found: Turns, name: string): string {
  return median(found.get(name) ?? []).toFixed(1);
}
