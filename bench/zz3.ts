import { loadStreams, loadWhole } from './harness/load.ts';
import { startGateway, startPipe, startUpstream, cpuMs } from './harness/processes.ts';
import { gatewayTarget, providerTarget } from './harness/targets.ts';
import { warmStreams, warmWhole } from './harness/world.ts';
const say = (s: string) => process.stdout.write(s + '\n');
const kind = process.argv[2]!; const flags = process.argv[3] === 'prof' ? ['--cpu-prof', '--cpu-prof-dir=/tmp/prof', `--cpu-prof-name=${kind}.cpuprofile`, '--cpu-prof-interval=200'] : [];
const u = await startUpstream(); const g = await startGateway(u, { flags }); const p = await startPipe(u);
const ts = [gatewayTarget(g, 'openai-chat'), providerTarget(p, 'openai-chat')];
if (kind === 'whole') await warmWhole(ts, 80); else await warmStreams(ts);
for (let r = 0; r < 3; r += 1)
for (const t of ts) {
  if (kind === 'whole') { const x = await loadWhole(t, t.whole(80), { concurrency: 64, ms: 2500 }); say(`${t.name} n=${x.count} rps=${x.perSecond.toFixed(0)} cpu=${x.cpuUs.toFixed(1)}us p50=${x.p50.toFixed(1)}`); }
  else { const x = await loadStreams(t, t.stream(500, 5), { concurrency: 16, ms: 0 }); say(`${t.name} n=${x.frames} fps=${x.framesPerSecond.toFixed(0)} cpu=${x.cpuUs.toFixed(1)}us lat=${x.frame.p50.toFixed(2)}`); }
}
await g.stop(); await p.stop(); await u.stop();
