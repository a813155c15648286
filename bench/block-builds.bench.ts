// Did a change make the messages of blocks dearer? `npx tsx bench/block-builds.bench.ts <dist of before>` compares another build with `dist` in one run: twenty blocks on a
// server of each, in files, whose messages are posted, answered and waited for. The servers take turns, and processor time counts.
import { resolve } from 'node:path';
import { cpuMs, type Server, startGateway, startUpstream } from './harness/processes.ts';
import { median, percentile } from './harness/stats.ts';
import { streamModel } from './servers/model.ts';

const BLOCKS = Array.from({ length: 20 }, (_, index) => `block-${index}`);
const MESSAGES = 10;
const WARM_ROUNDS = 2;

const [before, rounds = '16'] = process.argv.slice(2);
if (before === undefined) throw new Error('name the folder of the other build');

const upstream = await startUpstream();
const servers = [await startGateway(upstream, { dist: resolve(before) }), await startGateway(upstream)] as const;
try {
  for (const server of servers) {
    for (const name of BLOCKS) {
      await post(server, '', { name, config: { adapter: { provider: 'openai', model: streamModel(8, 0) } } });
      await post(server, `/${name}/start`);
    }
    for (let round = 0; round < WARM_ROUNDS; round += 1) await takeRound(server);
  }
  const [old, now]: [number[], number[]] = [[], []];
  for (let round = 0; round < Number(rounds); round += 1)
    for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) (side === 0 ? old : now).push(await takeRound(servers[side as 0 | 1]));
  const ratios = now.map((ms, round) => ms / (old[round] ?? ms));
  const text = (value: number): string => value.toFixed(3);
  process.stdout.write(`a message and its answer: ${text(median(old))} ms before, ${text(median(now))} ms now\n`);
  process.stdout.write(
    `now beside before: ${text(median(ratios))}, of ${rounds} rounds half from ${text(percentile(ratios, 0.25))} to ${text(percentile(ratios, 0.75))}\n`,
  );
} finally {
  await Promise.all([upstream, ...servers].map((server) => server.stop()));
}

/** Processor time of the server for a message, in milliseconds. */
async function takeRound(server: Server): Promise<number> {
  const from = cpuMs(server.pid);
  await Promise.all(
    BLOCKS.map(async (name) => {
      for (let count = 0; count < MESSAGES; count += 1) {
        const { answer } = await post(server, `/${name}/chat?wait=60`, { message: `message ${count}` });
        if (answer == null) throw new Error(`${name} did not answer`);
      }
    }),
  );
  return (cpuMs(server.pid) - from) / (BLOCKS.length * MESSAGES);
}

async function post({ url, token }: Server, path: string, body?: object): Promise<{ readonly answer?: unknown }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/blocks${path}`, { method: 'POST', headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  if (!response.ok) throw new Error(`${path} got ${response.status}: ${await response.text()}`);
  return (await response.json()) as { answer?: unknown };
}
