// What does a block cost that is asked as a model? The processor time of a message over the same message with `…/chat?wait=`, in turns, and the memory of connections that wait.
//
//   npx tsx bench/block-model.bench.ts [messages a turn] [turns]
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { cpuMs, rssMiB, type Server, sleep, startGateway } from './harness/processes.ts';
import { median } from './harness/stats.ts';

const [messages = 40, turns = 9] = process.argv.slice(2).map(Number);
const WAITING = 500;
const BLOCKS = 20;
const SETTLE_MS = 8000;

/** A daemon that answers at once, or not at all. */
const silent: ServerResponse[] = [];
let isSilent = false;
const daemon = createServer((req, res) => {
  req.resume();
  if (req.url !== '/api/chat') {
    res.writeHead(404).end(); // a question about the model
    return;
  }
  res.writeHead(200, { 'content-type': 'application/x-ndjson' });
  if (isSilent) silent.push(res);
  else res.end('{"message":{"role":"assistant","content":"Hello"},"done":false}\n{"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":1}\n');
});
daemon.listen(0, '127.0.0.1');
await once(daemon, 'listening');
const url = `http://127.0.0.1:${(daemon.address() as AddressInfo).port}`;
const server = await startGateway({ url } as Server, { env: { BLOCKHOUSE_LOG_LEVEL: 'error' } });
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

function post(path: string, body: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
    const asking = request(`${server.url}${path}`, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    asking.on('error', reject);
    asking.end(JSON.stringify(body));
  });
}

/** How many messages wait or are being answered. */
async function queued(): Promise<number> {
  const answer = await fetch(`${server.url}/api/blocks`, { headers: { authorization: `Bearer ${server.token}` } });
  const { blocks } = (await answer.json()) as { blocks: { queue: { queued: number; processing: number } }[] };
  return blocks.reduce((sum, { queue }) => sum + queue.queued + queue.processing, 0);
}

async function expect(status: number, answered: Promise<number>): Promise<void> {
  const got = await answered;
  if (got !== status) throw new Error(`The server has answered ${got} and not ${status}.`);
}

const WAYS = {
  wait: (n: number) => post('/api/blocks/b0/chat?wait=60', { message: `question ${n}` }),
  model: (n: number) => post('/v1/chat/completions', { model: 'block/b0', messages: [{ role: 'user', content: `question ${n}` }] }),
};

/** Milliseconds of the processor for each message. */
async function turn(ask: (n: number) => Promise<number>): Promise<number> {
  const before = cpuMs(server.pid);
  for (let n = 0; n < messages; n += 1) await expect(200, ask(n));
  return (cpuMs(server.pid) - before) / messages;
}

try {
  const config = { adapter: { provider: 'ollama', model: 'm' } };
  for (let block = 0; block < BLOCKS; block += 1) {
    await expect(200, post('/api/blocks', { name: `b${block}`, config }));
    await expect(200, post(`/api/blocks/b${block}/start`, {}));
  }
  for (const ask of [WAYS.wait, WAYS.model, WAYS.wait, WAYS.model]) await turn(ask);
  const found: Record<keyof typeof WAYS, number[]> = { wait: [], model: [] };
  for (let round = 0; round < turns; round += 1)
    for (const way of round % 2 === 0 ? (['wait', 'model'] as const) : (['model', 'wait'] as const)) found[way].push(await turn(WAYS[way]));
  const more = median(found.model.map((value, round) => value - (found.wait[round] ?? Number.NaN)));
  process.stdout.write(
    `a message with ?wait=: ${median(found.wait).toFixed(2)} ms of the processor; as a model: ${median(found.model).toFixed(2)} ms; more, turn by turn: ${more.toFixed(2)} ms\n`,
  );
  isSilent = true;
  await sleep(SETTLE_MS);
  const before = rssMiB(server.pid);
  for (let n = 0; n < WAITING; n += 1)
    post('/v1/chat/completions', { model: `block/b${n % BLOCKS}`, stream: true, messages: [{ role: 'user', content: `waiting ${n}` }] }).catch(() => 0);
  while ((await queued()) < WAITING) await sleep(500);
  await sleep(SETTLE_MS);
  const waiting = rssMiB(server.pid) - before;
  process.stdout.write(`${WAITING} waiting connections: ${waiting.toFixed(1)} MiB more (${silent.length} blocks at work)\n`);
  process.stdout.write(`load of the machine ${loadavg()[0]?.toFixed(1)}\n`);
} finally {
  agent.destroy();
  daemon.closeAllConnections();
  daemon.close();
  await server.stop();
}
