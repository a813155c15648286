// Servers whose database crashes, or is replaced by a standby: what was acknowledged, and is still there, is answered once, and nothing is shown that is lost.
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { connectStore } from '../../core/index.ts';
import { endAnswer, repeatingDaemon, type StartedCore, sendPiece, startCore } from '../support/blocks.ts';
import { ask, noPostgres, OwnPostgres } from '../support/postgres.ts';
import { type StoreProxy, storeProxy } from '../support/store-proxy.ts';
import { until } from '../support/until.ts';
import type { Answerer } from '../support/upstream.ts';

/** The shortest that servers may have. */
const LEASE_MS = 2000;
const BLOCKS = ['ada', 'bob'];

interface World {
  readonly all: readonly [StartedCore, StartedCore];
  readonly proxies: readonly StoreProxy[];
}

/** Two servers that share a database, each by its own way. */
async function servers(t: Test, { store }: OwnPostgres, answer: Answerer = repeatingDaemon): Promise<World> {
  const proxies = [await storeProxy(t, store), await storeProxy(t, store)];
  const all: StartedCore[] = [];
  for (const proxy of proxies) all.push(await startCore(t, { answer, store: await connectStore(proxy.store, { leaseMs: LEASE_MS }) }));
  for (const name of BLOCKS) {
    await all[0]?.create(name);
    await all[0]?.blocks.start(name);
  }
  return { all: all as [StartedCore, StartedCore], proxies };
}

/** Until it is acknowledged. */
async function post(server: StartedCore, block: string, message: string): Promise<string> {
  for (;;) {
    const posted = await server.blocks.post(block, { message, clientId: message }, 'api').catch((error: { code: string }) => {
      if (error.code !== 'STORE_UNREACHABLE') throw error;
      return undefined;
    });
    if (posted !== undefined) return posted.id;
    await delay(50);
  }
}

/** Before their database goes. */
async function close(all: readonly StartedCore[]): Promise<void> {
  for (const { core } of all) await core.close();
}

const nodeOf = ({ core }: StartedCore): string | undefined => core.storeHealth?.node;
const isAway = ({ core }: StartedCore): boolean => core.storeHealth?.isAway === true;
const number = async (store: string, text: string): Promise<number> => Number(Object.values((await ask(store, text))[0] ?? {})[0]);

/** J2, J4: one answer for each message, in their order; counters are those of the rows. */
async function assertSound(t: Test, store: string): Promise<void> {
  const unanswered = "m.role = 'user' and not exists (select from bh.message a where a.block_id = m.block_id and a.reply_to = m.id)";
  const deadline = performance.now() + 60_000;
  while ((await number(store, `select count(*) from bh.message m where ${unanswered}`)) > 0) {
    if (performance.now() > deadline) throw new Error(`not answered: ${JSON.stringify(await ask(store, `select * from bh.message m where ${unanswered}`))}`);
    await delay(50);
  }
  t.equal(
    await number(
      store,
      `select count(*) from bh.message a join bh.message q on q.block_id = a.block_id and q.id = a.reply_to
      join bh.message b on b.block_id = a.block_id and b.seq > a.seq join bh.message r on r.block_id = b.block_id and r.id = b.reply_to where r.seq < q.seq`,
    ),
    0,
    'answers are in the order of their messages',
  );
  t.equal(await number(store, 'select count(*) from (select from bh.message where reply_to is not null group by block_id, reply_to having count(*) > 1) x'), 0);
  t.equal(await number(store, 'select count(*) from bh.block where queued + processing + failed <> 0'), 0);
  t.equal(await number(store, 'select sum(calls) from bh.spend'), await number(store, 'select count(*) from bh.ledger'));
}

/** A standby takes over; one that `isLate` lacks the last commits. */
async function takeOver(t: Test, isLate: boolean): Promise<void> {
  const primary = await OwnPostgres.start(t);
  const { all, proxies } = await servers(t, primary);
  const [a, b] = all;
  await a.core.modelsFile?.setAlias('fast', ['ollama/m']);
  await post(a, 'ada', 'kept');
  await assertSound(t, primary.store);
  await primary.crash();
  const standby = await OwnPostgres.start(t, primary);
  await primary.start();
  await until('the servers are back', () => !all.some(isAway));
  await standby.start();
  if (isLate) await ask(standby.store, "alter system set primary_conninfo = ''");
  if (isLate) await ask(standby.store, 'select pg_reload_conf()');
  while (isLate && (await number(standby.store, 'select count(*) from pg_stat_wal_receiver')) > 0) await delay(20);

  // What the standby does not have, if it is late: messages, revisions of a document and of a setting, and the id of a server.
  await ask(primary.store, 'delete from bh.node where id = $1', [nodeOf(a)]);
  await until('it has joined again', () => a.factsOf('node.joined').some(({ self }) => self === true));
  await post(b, 'ada', 'lost');
  for (const text of ['one', 'two']) {
    await a.blocks.updateConfig('ada', { description: `lost ${text}` });
    await a.core.modelsFile?.setAlias(`lost-${text}`, ['ollama/m']);
  }
  await assertSound(t, primary.store);
  t.match(await b.blocks.history('ada'), [{ content: 'kept' }, {}, { content: 'lost' }, {}]);
  await b.blocks.list();
  const end = await number(primary.store, "select pg_current_wal_lsn() - '0/0'");
  while (!isLate && (await number(standby.store, "select pg_last_wal_replay_lsn() - '0/0'")) < end) await delay(20);
  await primary.crash();
  await ask(standby.store, 'select pg_promote()');
  for (const proxy of proxies) proxy.leadTo(standby.store);
  const told = (server: StartedCore): string[] =>
    server.factsOf('workspace.fault').flatMap(({ error }) => (/\(timeline 2 after 1\)/.test(String(error)) ? [String(error)] : []));
  await until('both say so', () => all.every((server) => told(server).length === 1));

  await post(b, 'ada', 'after');
  await post(a, 'bob', 'after');
  await assertSound(t, standby.store);
  const kept = isLate ? ['kept', 'after'] : ['kept', 'lost', 'after'];
  for (const server of all)
    t.same(
      (await server.blocks.history('ada')).flatMap(({ role, content }) => (role === 'user' ? [content] : [])),
      kept,
    );
  await b.blocks.updateConfig('ada', { description: 'new' });
  await b.core.modelsFile?.setAlias('new', ['ollama/m']);
  const descriptions = async (): Promise<unknown[]> =>
    Promise.all(all.map(async ({ blocks }) => [(await blocks.details('ada')).config.description, (await blocks.list())[0]?.config?.description]));
  const isNew = async (): Promise<boolean> => (await descriptions()).flat().every((text) => text === 'new');
  for (const deadline = performance.now() + 10_000; !(await isNew()) && performance.now() < deadline; ) await delay(50);
  t.same((await descriptions()).flat(), ['new', 'new', 'new', 'new']);
  const aliases = isLate ? ['fast', 'new'] : ['fast', 'lost-one', 'lost-two', 'new'];
  const known = (): string =>
    all
      .map(({ core }) =>
        Object.keys(core.modelsFile?.document().aliases ?? {})
          .sort()
          .join(),
      )
      .join(' ');
  await until('both have the alias', () => known() === `${aliases.join()} ${aliases.join()}`, 10_000);
  t.same(
    (await a.core.check()).findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  await close(all);
}

t.test('databases that fail', { skip: noPostgres }, async (t) => {
  t.test('X8: a database that crashes and comes back after longer than a lease has given up no server, and no reply is lost', async (t) => {
    const database = await OwnPostgres.start(t);
    let isHeld = true;
    const answer: Answerer = async (request, res, ...rest) => {
      if (request.path === '/api/tags') return repeatingDaemon(request, res, ...rest);
      sendPiece(res, 'Half, ');
      while (isHeld) await delay(20);
      sendPiece(res, 'and the rest');
      endAnswer(res);
    };
    const { all } = await servers(t, database, answer);
    const nodes = all.map(nodeOf);
    for (const [index, name] of BLOCKS.entries()) await post(all[index] as StartedCore, name, 'slow');
    const calls = (): number => all.flatMap(({ upstream }) => upstream.requests.filter(({ path }) => path === '/api/chat')).length;
    await until('both are being answered', () => calls() === BLOCKS.length);
    await database.crash();
    await until('the leases have ended', () => all.every(isAway));
    await t.rejects(all[0].blocks.post('ada', { message: 'x' }, 'api'), { code: 'STORE_UNREACHABLE' });
    await database.start();
    await until('the servers are back', () => !all.some(isAway));
    isHeld = false;
    await assertSound(t, database.store);
    t.same(all.map(nodeOf), nodes, 'nobody was given up');
    t.equal(calls(), BLOCKS.length, 'each reply went on');
    t.equal(await number(database.store, 'select max(attempts) from bh.message'), 1);
    t.same(
      all.flatMap(({ factsOf }) => factsOf('workspace.fault')).filter(({ error }) => /timeline/.test(String(error))),
      [],
      'a crash loses nothing',
    );
    await close(all);
  });

  t.test('X8: a database that crashes again and again while messages come', async (t) => {
    const database = await OwnPostgres.start(t);
    const { all } = await servers(t, database);
    const posted: string[] = [];
    for (let crashes = 0; crashes < 3; crashes += 1) {
      const posts = Array.from({ length: 6 }, (_, n) => post(all[n % 2] as StartedCore, BLOCKS[n % BLOCKS.length] as string, `${crashes}-${n}`));
      await Promise.all([...posts.slice(0, 2)]);
      await database.crash();
      await database.start();
      posted.push(...(await Promise.all(posts)));
    }
    await assertSound(t, database.store);
    t.equal(await number(database.store, "select count(*) from bh.message where role = 'user'"), posted.length, 'J1: each is there, once');
    await close(all);
  });

  t.test('X9: a standby takes over that has all commits', (t) => takeOver(t, false));

  t.test('X9: a standby that each commit waits for takes over while messages come: nothing that was acknowledged is lost', async (t) => {
    const primary = await OwnPostgres.start(t);
    const { all, proxies } = await servers(t, primary);
    await primary.crash();
    const standby = await OwnPostgres.start(t, primary);
    await primary.start();
    await standby.start();
    await ask(primary.store, "alter system set synchronous_standby_names = '*'");
    await ask(primary.store, 'select pg_reload_conf()');
    const isWaitedFor = async (): Promise<boolean> => (await number(primary.store, "select count(*) from pg_stat_replication where sync_state = 'sync'")) === 1;
    while (!(await isWaitedFor())) await delay(20);
    await until('the servers are back', () => !all.some(isAway));

    const acknowledged: string[] = [];
    let isOver = false;
    const posting = BLOCKS.map(async (block, index) => {
      for (let n = 0; !isOver; n += 1) {
        await post(all[(index + n) % 2] as StartedCore, block, `${block}-${n}`);
        acknowledged.push(`${block}-${n}`);
      }
    });
    await until('messages come', () => acknowledged.length >= 6);
    const before = acknowledged.length;
    await primary.crash();
    await ask(standby.store, 'select pg_promote()');
    for (const proxy of proxies) proxy.leadTo(standby.store);
    await until('they go on with the standby', () => acknowledged.length >= before + 6);
    isOver = true;
    await Promise.all(posting);
    await assertSound(t, standby.store);
    const there = await ask(standby.store, "select content from bh.message where role = 'user'");
    t.same(there.map(({ content }) => String(content)).sort(), acknowledged.toSorted(), 'J1: each is there, once');
    t.ok(
      all.every((server) => server.factsOf('workspace.fault').some(({ error }) => /\(timeline 2 after 1\)/.test(String(error)))),
      'both say that it is another one',
    );
    await close(all);
  });

  t.test('X10: a standby takes over that lacks the last commits: what it has goes on, and nothing of what is lost is shown', (t) => takeOver(t, true));
});
