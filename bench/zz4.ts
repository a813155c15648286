import { loadWhole } from './harness/load.ts';
import { startGateway, startUpstream } from './harness/processes.ts';
import { gatewayTarget } from './harness/targets.ts';
import { warmWhole } from './harness/world.ts';
const u = await startUpstream(); const g = await startGateway(u, { dist: process.argv[2]!, flags: ['--cpu-prof', '--cpu-prof-dir=/tmp/prof', `--cpu-prof-name=w2.cpuprofile`, '--cpu-prof-interval=150'] });
const t = gatewayTarget(g, 'openai-chat'); await warmWhole([t], 80, 10000);
const x = await loadWhole(t, t.whole(80), { concurrency: 64, ms: 6000 });
process.stdout.write(`${x.count} ${x.cpuUs}\n`);
await g.stop(); await u.stop();
