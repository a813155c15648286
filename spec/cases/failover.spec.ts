// Servers whose database crashes, or is replaced by a standby: what was acknowledged, and is still there, is answered once, and nothing is shown that is lost.
//
// one-life: the tests are what two servers and their databases live through one after the other. Each takes over what the one before has left.
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { connectStore } from '../../core/index.ts';
import { endAnswer, repeatingDaemon, type StartedCore, sendPiece, startCore } from '../support/blocks.ts';
import { askAgain, noPostgres, OwnPostgres } from '../support/postgres.ts';
import { type StoreProxy, storeProxy } from '../support/store-proxy.ts';
import { sweep } from '../support/sweep.ts';
import { until, untilSo } from '../support/until.ts';
import type { Answerer } from '../support/upstream.ts';

/** The shortest that servers may have. */
const LEASE_MS = 2000;
const BLOCKS = ['ada', 'bob'];

/** A database, and statements on one connection, because what is waited for is asked again and again. */
interface Place {
  readonly server: OwnPostgres;
  ask(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Of the connection: a database that is to be crashed or stopped has none. */
  end(): Promise<void>;
}

interface World {
  /** Whose end ends all of it (one-life). */
  readonly test: Test;
  readonly all: readonly [StartedCore, StartedCore];
  readonly proxies: readonly StoreProxy[];
  /** The one that the servers use. */
  place: Place;
  /** How often another one has taken over. */
  takeovers: number;
}

function placeOf(t: Test, server: OwnPostgres): Place {
  const { ask, end } = askAgain(server.store);
  t.teardown(end);
  return { server, ask, end };
}

/** Two servers that share a database, each by its own way. */
async function world(t: Test, answer: Answerer): Promise<World> {
  const server = await OwnPostgres.start(t);
  const proxies = [await storeProxy(t, server.store), await storeProxy(t, server.store)];
  const all: StartedCore[] = [];
  for (const proxy of proxies) all.push(await startCore(t, { answer, store: await connectStore(proxy.store, { leaseMs: LEASE_MS }) }));
  for (const name of BLOCKS) {
    await all[0]?.create(name);
    await all[0]?.blocks.start(name);
  }
  return { test: t, all: all as [StartedCore, StartedCore], proxies, place: placeOf(t, server), takeovers: 0 };
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

const nodeOf = ({ core }: StartedCore): string | undefined => core.storeHealth?.node;
const isAway = ({ core }: StartedCore): boolean => core.storeHealth?.isAway === true;
const number = async ({ ask }: Place, text: string): Promise<number> => Number(Object.values((await ask(text))[0] ?? {})[0]);

/** J2, J4: one answer for each message, in their order; counters are those of the rows. */
async function assertSound(t: Test, place: Place): Promise<void> {
  const unanswered = "m.role = 'user' and not exists (select from bh.message a where a.block_id = m.block_id and a.reply_to = m.id)";
  await untilSo('all is answered', async () => (await number(place, `select count(*) from bh.message m where ${unanswered}`)) === 0);
  t.equal(
    await number(
      place,
      `select count(*) from bh.message a join bh.message q on q.block_id = a.block_id and q.id = a.reply_to
      join bh.message b on b.block_id = a.block_id and b.seq > a.seq join bh.message r on r.block_id = b.block_id and r.id = b.reply_to where r.seq < q.seq`,
    ),
    0,
    'answers are in the order of their messages',
  );
  t.equal(await number(place, 'select count(*) from (select from bh.message where reply_to is not null group by block_id, reply_to having count(*) > 1) x'), 0);
  t.equal(await number(place, 'select count(*) from bh.block where queued + processing + failed <> 0'), 0);
  t.equal(await number(place, 'select sum(calls) from bh.spend'), await number(place, 'select count(*) from bh.ledger'));
}

/** A standby of the database in use, which is stopped for a moment. */
async function standbyOf({ test, all, place: { server, end } }: World): Promise<OwnPostgres> {
  await end();
  await server.crash();
  const standby = await OwnPostgres.start(test, server);
  await server.start();
  await until('the servers are back', () => !all.some(isAway));
  await standby.start();
  return standby;
}

/** The database in use is gone, and the standby is in its place. */
async function takeOver(one: World, standby: OwnPostgres): Promise<void> {
  await one.place.end();
  await one.place.server.crash();
  one.place = placeOf(one.test, standby);
  one.takeovers += 1;
  await one.place.ask('select pg_promote()');
  for (const proxy of one.proxies) proxy.leadTo(standby.store);
}

/** Both servers say once that it is another database. */
async function assertTold({ all, takeovers }: World): Promise<void> {
  const words = `(timeline ${takeovers + 1} after ${takeovers})`;
  const told = (server: StartedCore): number => server.factsOf('workspace.fault').filter(({ error }) => String(error).includes(words)).length;
  await until('both say so', () => all.every((server) => told(server) === 1));
}

/** A standby takes over from a quiet database; one that `isLate` lacks the last commits. `name` is of what is posted and set. */
async function takesOver(t: Test, one: World, name: string, isLate: boolean): Promise<void> {
  const [a, b] = one.all;
  const words = (...list: string[]): string[] => list.map((word) => `${name} ${word}`);
  const aliasesAtFirst = Object.keys(a.core.modelsFile?.document().aliases ?? {});
  await a.core.modelsFile?.setAlias(`${name}-kept`, ['ollama/m']);
  await post(a, 'ada', `${name} kept`);
  await assertSound(t, one.place);
  const before = (await a.blocks.history('ada')).length;
  const standby = await standbyOf(one);
  const late = placeOf(one.test, standby);
  if (isLate) {
    await late.ask("alter system set primary_conninfo = ''");
    await late.ask('select pg_reload_conf()');
    await untilSo('it follows no more', async () => (await number(late, 'select count(*) from pg_stat_wal_receiver')) === 0);
  }

  // What the standby does not have, if it is late: messages, revisions of a document and of a setting, and the id of a server.
  const joins = (): number => a.factsOf('node.joined').filter(({ self }) => self === true).length;
  const joinedBefore = joins();
  await one.place.ask('delete from bh.node where id = $1', [nodeOf(a)]);
  await until('it has joined again', () => joins() > joinedBefore);
  await post(b, 'ada', `${name} lost`);
  for (const text of ['one', 'two']) {
    await a.blocks.updateConfig('ada', { description: `${name} lost ${text}` });
    await a.core.modelsFile?.setAlias(`${name}-lost-${text}`, ['ollama/m']);
  }
  await assertSound(t, one.place);
  t.match((await b.blocks.history('ada')).slice(before), [{ content: `${name} lost` }, {}]);
  await b.blocks.list();
  const end = await number(one.place, "select pg_current_wal_lsn() - '0/0'");
  if (!isLate) await untilSo('it has all commits', async () => (await number(late, "select pg_last_wal_replay_lsn() - '0/0'")) >= end);
  await late.end();
  await takeOver(one, standby);
  await assertTold(one);

  await post(b, 'ada', `${name} after`);
  await post(a, 'bob', `${name} after`);
  await assertSound(t, one.place);
  const kept = isLate ? words('kept', 'after') : words('kept', 'lost', 'after');
  for (const server of one.all)
    t.same(
      (await server.blocks.history('ada')).slice(before - 2).flatMap(({ role, content }) => (role === 'user' ? [content] : [])),
      kept,
    );
  await b.blocks.updateConfig('ada', { description: `${name} new` });
  await b.core.modelsFile?.setAlias(`${name}-new`, ['ollama/m']);
  const descriptions = async (): Promise<unknown[]> =>
    Promise.all(one.all.map(async ({ blocks }) => [(await blocks.details('ada')).config.description, (await blocks.list())[0]?.config?.description]));
  await untilSo('both have the description', async () => (await descriptions()).flat().every((text) => text === `${name} new`));
  const aliases = [...aliasesAtFirst, ...(isLate ? ['kept', 'new'] : ['kept', 'lost-one', 'lost-two', 'new']).map((word) => `${name}-${word}`)].sort();
  const known = (): string[] =>
    one.all.map(({ core }) =>
      Object.keys(core.modelsFile?.document().aliases ?? {})
        .sort()
        .join(),
    );
  await until('both have the alias', () => known().every((each) => each.includes(`${name}-new`)));
  t.same(known(), [aliases.join(), aliases.join()]);
  t.same(
    (await a.core.check()).findings.filter(({ severity }) => severity === 'error'),
    [],
  );
}

t.test('databases that fail', { skip: noPostgres }, async (t) => {
  let isHeld = true;
  const answer: Answerer = async (request, res, ...rest) => {
    if (!request.body.includes('slow')) return repeatingDaemon(request, res, ...rest);
    sendPiece(res, 'Half, ');
    while (isHeld) await delay(20);
    sendPiece(res, 'and the rest');
    endAnswer(res);
  };
  const one = await world(t, answer);
  const { all } = one;

  t.test('X8: a database that crashes and comes back after longer than a lease has given up no server, and no reply is lost', async (t) => {
    const nodes = all.map(nodeOf);
    for (const [index, name] of BLOCKS.entries()) await post(all[index] as StartedCore, name, 'slow');
    const calls = (): number => all.flatMap(({ upstream }) => upstream.requests.filter(({ path }) => path === '/api/chat')).length;
    await until('both are being answered', () => calls() === BLOCKS.length);
    await one.place.server.crash();
    await until('the leases have ended', () => all.every(isAway));
    await t.rejects(all[0].blocks.post('ada', { message: 'x' }, 'api'), { code: 'STORE_UNREACHABLE' });
    await one.place.server.start();
    await until('the servers are back', () => !all.some(isAway));
    isHeld = false;
    await assertSound(t, one.place);
    t.same(all.map(nodeOf), nodes, 'nobody was given up');
    t.equal(calls(), BLOCKS.length, 'each reply went on');
    t.equal(await number(one.place, 'select max(attempts) from bh.message'), 1);
    t.same(
      all.flatMap(({ factsOf }) => factsOf('workspace.fault')).filter(({ error }) => /timeline/.test(String(error))),
      [],
      'a crash loses nothing',
    );
  });

  t.test('X8: a database that crashes again and again while messages come', async (t) => {
    const posted: string[] = [];
    const ofUsers = "select count(*) from bh.message where role = 'user'";
    const before = await number(one.place, ofUsers);
    await one.place.end();
    for (let crashes = 0; crashes < sweep(3, 2); crashes += 1) {
      const posts = Array.from({ length: 6 }, (_, n) => post(all[n % 2] as StartedCore, BLOCKS[n % BLOCKS.length] as string, `${crashes}-${n}`));
      await Promise.all([...posts.slice(0, 2)]);
      await one.place.server.crash();
      await one.place.server.start();
      posted.push(...(await Promise.all(posts)));
    }
    await assertSound(t, one.place);
    t.equal(await number(one.place, ofUsers), before + posted.length, 'J1: each is there, once');
  });

  t.test('X9: a standby takes over that has all commits', (t) => takesOver(t, one, 'whole', false));

  t.test('X9: a standby that each commit waits for takes over while messages come: nothing that was acknowledged is lost', async (t) => {
    const standby = await standbyOf(one);
    const { ask } = one.place;
    await ask("alter system set synchronous_standby_names = '*'");
    await ask('select pg_reload_conf()');
    await untilSo('it is waited for', async () => (await number(one.place, "select count(*) from pg_stat_replication where sync_state = 'sync'")) === 1);

    const acknowledged: string[] = [];
    let isOver = false;
    const posting = BLOCKS.map(async (block, index) => {
      for (let n = 0; !isOver; n += 1) {
        await post(all[(index + n) % 2] as StartedCore, block, `sync-${block}-${n}`);
        acknowledged.push(`sync-${block}-${n}`);
      }
    });
    await until('messages come', () => acknowledged.length >= 6);
    const before = acknowledged.length;
    await takeOver(one, standby);
    await until('they go on with the standby', () => acknowledged.length >= before + 6);
    isOver = true;
    await Promise.all(posting);
    await assertSound(t, one.place);
    const there = await one.place.ask("select content from bh.message where role = 'user' and content like 'sync-%'");
    t.same(there.map(({ content }) => String(content)).sort(), acknowledged.toSorted(), 'J1: each is there, once');
    await assertTold(one);
  });

  t.test('X10: a standby takes over that lacks the last commits: what it has goes on, and nothing of what is lost is shown', async (t) => {
    await takesOver(t, one, 'late', true);
    for (const { core } of all) await core.close(); // before their database goes
  });
});
