// Servers of a database that are killed amid calls of keys with caps: what those may have cost counts after the next start in their folder, and once.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { repeatingDaemon } from '../support/blocks.ts';
import { type Reply, ServerClient } from '../support/crash/server-client.ts';
import { ServerProcess, type SpawnOptions } from '../support/crash/server-process.ts';
import { migratedStore } from '../support/migrated.ts';
import { askAgain, noPostgres } from '../support/postgres.ts';
import { storeProxy } from '../support/store-proxy.ts';
import { isWholeSweep } from '../support/sweep.ts';
import { testFolder } from '../support/test-folder.ts';
import { untilSo } from '../support/until.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** What a call counts with of which nothing is known: the output that is usual, and some input. */
const USUAL = 1000;
/** What one has used that has its answer. */
const USED = 50;
/** Below so many at once, each has a line of its own. */
const CALLS = 24;
/** So many that they share a line. */
const MANY = 60;
const FOLDER = 'gateway-open';

t.setTimeout(300_000);

const skipsWorkers = process.platform !== 'linux' ? 'no /proc' : !isWholeSweep && 'three processes for a fact of one; test:faults has it';

interface Spent {
  readonly tokens: number;
  readonly calls: number;
}

/** A database, a folder, and a provider that holds its answers back. */
async function world(t: Test) {
  const store = await migratedStore(t);
  const held: (() => void)[] = [];
  const { url } = await startUpstream(t, (request, res, index) => {
    if (request.path === '/api/tags') return repeatingDaemon(request, res, index);
    const answer = { message: { role: 'assistant', content: 'word' }, done: true, done_reason: 'stop', prompt_eval_count: 30, eval_count: 20 };
    held.push(() => sendJson(res, answer));
  });
  const workspace = testFolder(t);
  const { ask, end } = askAgain(store);
  t.teardown(end);
  const begin = (options: Partial<SpawnOptions> = {}): ServerProcess => {
    const server = new ServerProcess({ workspace, daemonUrl: url, ...options, env: { BLOCKHOUSE_STORE: store, BLOCKHOUSE_LEASE_MS: '2000', ...options.env } });
    t.teardown(() => server.kill());
    return server;
  };
  const start = async (options: Partial<SpawnOptions> = {}): Promise<{ readonly server: ServerProcess; readonly client: ServerClient }> => {
    const server = begin(options);
    const ready = await server.ready();
    if (ready === undefined) throw new Error(`the server did not start: ${server.stderr}`);
    t.teardown(() => ready.client.close());
    return { server, client: ready.client };
  };
  const spent = async (account: string): Promise<Spent> => {
    const [row] = await ask('select sum(tokens)::int as tokens, sum(calls)::int as calls from bh.key_day where key = $1', [account]);
    return { tokens: Number(row?.['tokens'] ?? 0), calls: Number(row?.['calls'] ?? 0) };
  };
  const lines = async (): Promise<Record<string, unknown>[]> =>
    ask("select key, grp, error, tokens::int, usage->>'estimated' as estimated from bh.gateway_call order by at, node, n");
  return { store, workspace, held, begin, start, spent, lines, ask };
}

/** Calls of a key in a group, both with caps. */
async function callsOf(t: Test, client: ServerClient, held: readonly unknown[]) {
  t.match(await client.call('PUT', '/api/key-groups/team', { tokensPerMonth: 1e9 }), { status: 200 });
  const made = await client.call('POST', '/api/keys', { name: 'app', tokensPerDay: 1e9, group: 'team' });
  const caller = new ServerClient(client.url, String(made?.json['key']), 200);
  t.teardown(() => caller.close());
  /** Sends so many. Resolves when the provider has all of them. */
  return async (count: number): Promise<readonly Promise<unknown>[]> => {
    const before = held.length;
    const body = { model: 'ollama/m', messages: [{ role: 'user', content: 'hi' }] };
    const call = async (): Promise<Reply | undefined> => {
      const reply = await caller.call('POST', '/v1/chat/completions', body);
      return reply?.status === 401 || reply?.status === 503 ? call() : reply; // another worker knows a new key within a second, and a busy database may not answer in time
    };
    const calls = Array.from({ length: count }, call);
    await untilSo('the provider has them', async () => held.length === before + count);
    return calls;
  };
}

t.test('a database', { skip: noPostgres }, async (t) => {
  t.test('calls that are under way at a kill -9 count for their key and its group after the next start, and what had ended counts what it used', async (t) => {
    const { workspace, held, begin, start, spent, lines, ask } = await world(t);
    const { server, client } = await start();
    const send = await callsOf(t, client, held);
    const [first] = await send(1);
    await send(CALLS);
    held[0]?.();
    await first;
    await untilSo('its line is written', async () => (await lines()).length === 1);
    t.same(await spent('app'), { tokens: USED, calls: 1 });
    await server.kill();
    cpSync(join(workspace, FOLDER), join(workspace, 'before'), { recursive: true });
    const servers = async (): Promise<number> => (await ask('select count(*)::int as n from bh.node where expires_at > clock_timestamp()'))[0]?.['n'] as number;
    await untilSo('the killed server is given up', async () => (await servers()) === 0);
    const joined = async (): Promise<boolean> => (await servers()) > 0;
    const counted = async (): Promise<boolean> => (await spent('app')).calls > 1;
    for (const moment of isWholeSweep ? [joined, counted] : [counted]) {
      const dying = begin();
      await untilSo('it has come so far', moment);
      await dying.kill();
      await untilSo('it is given up', async () => (await servers()) === 0);
    }
    const again = await start();
    await untilSo('they are counted', async () => (await spent('app')).calls === CALLS + 1);
    const total = await spent('app');
    t.ok(total.tokens >= USED + CALLS * USUAL, `${total.tokens} tokens`);
    t.same(await spent('group:team'), total);
    const left = (await lines()).filter(({ error }) => error === 'SHUTTING_DOWN');
    t.same([...new Set(left.map(({ key, grp, estimated }) => `${key} ${grp} ${estimated}`))], ['app team true']);
    t.equal(left.length, CALLS);

    await again.server.kill();
    rmSync(join(workspace, FOLDER), { recursive: true });
    cpSync(join(workspace, 'before'), join(workspace, FOLDER), { recursive: true }); // as if it had been killed before it forgot them
    const third = await start();
    t.match(await third.client.call('GET', '/api/keys'), { status: 200 });
    t.same(await spent('app'), total, 'nothing counts twice');
    await third.server.kill('SIGTERM');
    t.same(await spent('app'), total);
  });

  t.test('calls that ended while the database was away count what they used, once, also after a kill -9', async (t) => {
    const { store, held, start, spent, lines } = await world(t);
    const proxy = await storeProxy(t, store);
    const { server, client } = await start({ env: { BLOCKHOUSE_STORE: proxy.store } });
    const send = await callsOf(t, client, held);
    const replies: unknown[] = [];
    for (const call of await send(CALLS)) void call.then((reply) => replies.push(reply)); // the provider may get them in another order
    proxy.refuse();
    for (const answer of held.slice(0, CALLS / 2)) answer();
    await untilSo('half of them are answered', async () => replies.length === CALLS / 2);
    for (const reply of replies) t.match(reply, { status: 200 });
    t.same(await spent('app'), { tokens: 0, calls: 0 });
    await server.kill();
    const again = await start();
    await untilSo('they are counted', async () => (await spent('app')).calls === CALLS);
    const { tokens } = await spent('app');
    const all = await lines();
    const [ended, left] = [null, 'SHUTTING_DOWN'].map((code) => all.filter(({ error }) => error === code).map((line) => Number(line['tokens'])));
    t.same([ended?.length, left?.length], [CALLS / 2, CALLS / 2]);
    t.same([...new Set(ended)], [USED]);
    t.ok(
      left?.every((count) => count >= USUAL),
      `${left}`,
    );
    await again.server.kill('SIGTERM');
    t.match(await spent('app'), { tokens, calls: CALLS });
  });

  t.test('many calls at once count no less than they may have used', async (t) => {
    const { held, start, spent } = await world(t);
    const { server, client } = await start();
    await (await callsOf(t, client, held))(MANY);
    await server.kill();
    await start();
    await untilSo('they are counted', async () => (await spent('app')).tokens >= MANY * USUAL);
    t.ok((await spent('app')).tokens <= 2 * MANY * (USUAL + 100), `${(await spent('app')).tokens} tokens`);
  });

  t.test('what a killed worker had under way counts once another has taken its place', { skip: skipsWorkers }, async (t) => {
    const { held, start, spent } = await world(t);
    const { server, client } = await start({ args: ['--workers', '2'] });
    await (await callsOf(t, client, held))(CALLS);
    const pids = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim().split(' ').map(Number);
    t.equal(pids.length, 2);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await untilSo('they are counted', async () => (await spent('app')).calls === CALLS);
    await server.kill('SIGTERM');
    t.equal((await spent('app')).calls, CALLS);
  });
});
