import { loadStreams, loadWhole } from './harness/load.ts';
import { startGateway, startPipe, startUpstream } from './harness/processes.ts';
import { gatewayTarget, providerTarget } from './harness/targets.ts';
import { interleave, column } from './harness/rounds.ts';
import { ratioOf, spreadOf } from './harness/stats.ts';
import { spreadText } from './harness/report.ts';
import { warmStreams, warmWhole } from './harness/world.ts';
const [kind, roundsText, ...dists] = process.argv.slice(2);
const u = await startUpstream(); const p = await startPipe(u);
const gs = []; for (const d of dists) gs.push(await startGateway(u, { dist: d }));
const ts = [providerTarget(p, 'openai-chat'), ...gs.map((g, i) => ({ ...gatewayTarget(g, 'openai-chat'), name: dists[i]! }))];
if (kind === 'whole') await warmWhole(ts, 80, 8000); else await warmStreams(ts);
const rounds: any = kind === 'whole' ? await interleave(ts, +roundsText!, (t) => loadWhole(t, t.whole(80), { concurrency: 64, ms: 1500 }))
  : await interleave(ts, +roundsText!, (t) => loadStreams(t, t.stream(400, 5), { concurrency: 16, ms: 0 }));
for (const t of ts) process.stdout.write(`${t.name.padEnd(20)} cpu ${spreadText(spreadOf(column(rounds, t.name, (r: any) => r.cpuUs)))}  x pipe ${spreadText(ratioOf(column(rounds, t.name, (r: any) => r.cpuUs), column(rounds, 'pipe', (r: any) => r.cpuUs)))}  lat ${spreadText(spreadOf(column(rounds, t.name, (r: any) => r.p50 ?? r.frame.p50)))}\n`);
for (const s of [u, p, ...gs]) await s.stop();
