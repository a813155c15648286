// `npx tsx bench/faults/worker-kill.ts --kills 20 [--dist <folder of another build>]`: the workers of a server are killed while connections are handed to them. No client may
// wait for an answer that never comes, and the port stays open. Needs a build, and Linux.
//
// Loopback and a temporary folder only; it ends by itself, and ends only what it has started.
import { request } from 'node:http';
import { parseArgs } from 'node:util';
import { childrenOf, DIST, type Server, sleep, startGateway, startUpstream } from '../harness/processes.ts';
import { countsOf, print, Verdict, wholeNumber } from './verdict.ts';

const MOST_KILLS = 1000;
const WORKERS = 4;
const CLIENTS = 24;
/** Longer than the longest pause before a worker is replaced. */
const HUNG_MS = 25_000;
/** So long the killed ones take no connections that the server has handed to them. */
const STOPPED_MS = 30;
const NEXT_MS = 200;
/** After so long a worker serves. */
const START_MS = 4000;
const LONGEST_WAIT_MS = 60_000;

const string = { type: 'string' } as const;
const { values } = parseArgs({ options: { kills: string, dist: string } });
const kills = wholeNumber('kills', values.kills ?? '20', MOST_KILLS);

type Outcome = 'answered' | 'broken' | 'refused' | 'hung' | 'shutting down';

/** One request on a connection of its own. */
function ask(url: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const sent = request(`${url}/v1/health`, { agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode === 200 ? 'answered' : 'shutting down'));
      response.on('error', () => resolve('broken'));
    });
    sent.setTimeout(HUNG_MS, () => {
      resolve('hung');
      sent.destroy();
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'broken'));
    sent.end();
  });
}

/** Ends two workers at a time, each fourth time in order. Only those that serve: a server whose workers can't start ends. Returns how many it has ended. */
async function endWorkers({ pid }: Server): Promise<number> {
  const seenAt = new Map<number, number>();
  const serving = (): number[] => {
    const [now, live] = [performance.now(), childrenOf(pid)];
    for (const one of live) if (!seenAt.has(one)) seenAt.set(one, now);
    return live.filter((one) => now - (seenAt.get(one) ?? now) > START_MS);
  };
  let ended = 0;
  for (let round = 0; ended < kills; round += 1) {
    const until = performance.now() + LONGEST_WAIT_MS;
    while (serving().length < WORKERS / 2) {
      if (performance.now() > until) throw new Error('the workers were not replaced');
      await sleep(20);
    }
    const victims = serving().slice(0, 2);
    for (const victim of victims) process.kill(victim, 'SIGSTOP');
    await sleep(STOPPED_MS);
    for (const victim of victims) {
      process.kill(victim, round % 4 === 3 ? 'SIGTERM' : 'SIGKILL');
      process.kill(victim, 'SIGCONT');
    }
    ended += victims.length;
    await sleep(NEXT_MS);
  }
  return ended;
}

const upstream = await startUpstream();
const server = await startGateway(upstream, { dist: values.dist ?? DIST, args: ['--gateway-only', '--workers', String(WORKERS)] });
try {
  print(`${kills} ends of ${WORKERS} workers, ${CLIENTS} clients`);
  const counts: Record<Outcome, number> = { answered: 0, broken: 0, refused: 0, hung: 0, 'shutting down': 0 };
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) counts[await ask(server.url)] += 1;
  };
  const clients = Array.from({ length: CLIENTS }, client);
  const ended = await endWorkers(server);
  isOver = true;
  await Promise.all(clients);
  const verdict = new Verdict();
  verdict.tell('workers ended', String(ended));
  verdict.tell('connections', countsOf(counts));
  verdict.say('connections that hang', String(counts.hung), '0', counts.hung === 0);
  verdict.say('connections refused', String(counts.refused), '0', counts.refused === 0);
  verdict.tell('connections broken', `${counts.broken}: what workers had taken when they were killed`);
  verdict.end();
} finally {
  await Promise.all([server.stop(), upstream.stop()]);
}
