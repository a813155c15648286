// Servers of one database as processes of their own, which are killed and frozen at named moments. bench/faults/scale-kill.ts does that at any time.
//
// one-fleet: the tests happen to the same three servers one after the other, each to a block of its own.
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { PostgresLedger } from '../../core/store/postgres/ledger.ts';
import { parseStorePlace } from '../../core/store/postgres/place.ts';
import { Database } from '../../core/store/postgres/pool.ts';
import { callOf } from '../conformance/store/ledger-suite.ts';
import { endAnswer, repeatingDaemon, sendPiece } from '../support/blocks.ts';
import { Fleet } from '../support/crash/fleet.ts';
import type { Reply } from '../support/crash/server-client.ts';
import { migratedStore } from '../support/migrated.ts';
import { askAgain, noPostgres } from '../support/postgres.ts';
import { sweep } from '../support/sweep.ts';
import { testFolder } from '../support/test-folder.ts';
import { untilSo } from '../support/until.ts';
import { type Answerer, startUpstream } from '../support/upstream.ts';

/** The shortest that servers may have. */
const LEASE_MS = 2000;
/** Between two messages of one who posts all the time: each of them costs three servers and the database some work. */
const PAUSE_MS = sweep(20, 100);

t.setTimeout(600_000);

interface World {
  /** What the model answers. */
  answer: Answerer;
  readonly fleet: Fleet;
  readonly store: string;
  look(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** At a place; undefined while nobody answers there. */
  call(place: number, method: string, path: string, body?: object): Promise<Reply | undefined>;
  /** Posts at any place until it is acknowledged. */
  post(block: string, message: string): Promise<string>;
  /** The place of the server that has the block. */
  ownerOf(block: string): Promise<number>;
}

async function world(t: Test, servers: number): Promise<World> {
  const store = await migratedStore(t);
  const { url } = await startUpstream(t, (...asked) => made.answer(...asked));
  const fleet = new Fleet({ folder: testFolder(t), store, daemonUrl: url, servers, leaseMs: LEASE_MS });
  t.teardown(() => fleet.stop());
  await fleet.start();
  const database = askAgain(store);
  t.teardown(() => database.end());
  const call: World['call'] = async (place, method, path, body) => fleet.client(place)?.call(method, path, body);
  const made: World = {
    answer: repeatingDaemon,
    fleet,
    store,
    look: database.ask,
    call,
    post: async (block, message) => {
      for (let n = 0; ; n += 1) {
        const reply = await call(fleet.alive[n % servers] ?? 0, 'POST', `/api/blocks/${block}/chat`, { message, clientId: message });
        if (reply !== undefined && reply.status < 300) return String(reply.json['id']);
        await delay(20);
      }
    },
    ownerOf: async (block) => {
      for (;;) {
        const [row] = await database.ask('select n.url from bh.block b join bh.node n on n.id = b.owner where b.name = $1', [block]);
        const place = fleet.alive.find((index) => fleet.client(index)?.url === row?.['url']);
        if (place !== undefined) return place;
        await delay(20);
      }
    },
  };
  return made;
}

/** A block that runs. */
async function begin(t: Test, { call }: World, name: string, config: object = {}): Promise<void> {
  const made = { name, config: { adapter: { provider: 'ollama', model: 'm', maxTokens: 100 }, ...config } };
  t.match(await call(0, 'POST', '/api/blocks', made), { status: 200 });
  t.match(await call(0, 'POST', `/api/blocks/${name}/start`), { status: 200 });
}

/** J2, J4: each message has one answer, in order; counters and sums are those of the rows; nothing is held. */
async function assertSound(t: Test, { look }: World): Promise<void> {
  const open = "select id from bh.message m where role = 'user' and not exists (select from bh.message a where a.block_id = m.block_id and a.reply_to = m.id)";
  await untilSo('all is answered', async () => (await look(open)).length === 0);
  await untilSo('nothing is open', async () => (await look('select name from bh.block where queued + processing + failed <> 0')).length === 0);
  t.same(await look('select reply_to from bh.message where reply_to is not null group by block_id, reply_to having count(*) > 1'), []);
  const order = `select a.id from bh.message a join bh.message q on q.block_id = a.block_id and q.id = a.reply_to
    join bh.message b on b.block_id = a.block_id and b.seq > a.seq join bh.message r on r.block_id = b.block_id and r.id = b.reply_to where r.seq < q.seq`;
  t.same(await look(order), []);
  t.same(await look('select call_id from bh.reservation'), []);
  t.match(await look('select sum(calls)::int - (select count(*) from bh.ledger)::int as off from bh.spend'), [{ off: 0 }]);
}

t.test('a database', { skip: noPostgres }, async (t) => {
  const one = await world(t, 3);

  t.test('X3: a server that is frozen for longer than its lease: its answer is refused, its bill is kept, and it joins again', async (t) => {
    const held: (() => void)[] = [];
    one.answer = (request, res, index) => {
      if (request.path === '/api/tags') return repeatingDaemon(request, res, index);
      const isFirst = held.length === 0;
      sendPiece(res, isFirst ? 'of the frozen one' : 'of the other one');
      held.push(() => endAnswer(res));
      if (!isFirst) endAnswer(res);
    };
    await begin(t, one, 'ada');
    const id = await one.post('ada', 'hi');
    await untilSo('the model is asked', async () => held.length === 1);
    const place = await one.ownerOf('ada');
    const [before] = await one.look('select owner from bh.block');
    const thaw = one.fleet.freezeUntil(place);
    held[0]?.();
    await untilSo('another one has answered', async () => (await one.look('select id from bh.message where reply_to = $1', [id])).length === 1);
    t.match(await one.look('select attempts from bh.message where id = $1', [id]), [{ attempts: 2 }]);
    t.same(await one.look('select id from bh.node where id = $1', [before?.['owner']]), [], 'it was given up');
    t.match(await one.look('select count(*)::int as lines from bh.ledger'), [{ lines: 1 }]);
    thaw();
    await untilSo('its bill is kept', async () => (await one.look('select count(*)::int as lines from bh.ledger'))[0]?.['lines'] === 2);
    const joined = 'select id from bh.node where url = $1 and id <> $2';
    await untilSo('it has joined again', async () => (await one.look(joined, [one.fleet.client(place)?.url, before?.['owner']])).length === 1);
    t.match(await one.look('select content from bh.message where reply_to is not null'), [{ content: 'of the other one' }]);
    await untilSo('it answers as healthy', async () => (await one.call(place, 'GET', '/v1/health'))?.status === 200);
    t.match(await one.call(place, 'POST', '/api/blocks/ada/chat', { message: 'again' }), { status: 200 });
    await assertSound(t, one);
    t.match(await one.look('select count(*)::int as lines from bh.ledger'), [{ lines: 3 }], 'three calls, three lines');
  });

  t.test('X51: a block is renamed at one server, others post to both names, and the first is killed: one name has it, and nothing is lost', async (t) => {
    one.answer = repeatingDaemon;
    const names = ['bob', 'cleo'];
    await begin(t, one, 'bob');
    const [{ id } = {}] = await one.look("select id from bh.block where name = 'bob'");
    const nameNow = async (): Promise<string> => String((await one.look('select name from bh.block where id = $1', [id]))[0]?.['name']);
    const acknowledged: string[] = [];
    const faults: unknown[] = [];
    let isOver = false;
    const posting = names.map(async (name) => {
      for (let n = 0; !isOver; n += 1) {
        const message = `${name}-${n}`;
        for (let isDone = false; !isDone; await delay(PAUSE_MS)) {
          const [place = 0] = one.fleet.alive.slice(n % 2);
          const other = names[(names.indexOf(name) + n) % 2];
          const reply = await one.call(place, 'POST', `/api/blocks/${n % 3 === 0 ? other : name}/chat`, { message, clientId: message });
          if (reply?.status === 404)
            n += 1; // under its other name
          else if (reply !== undefined && reply.status >= 300 && ![503, 408, 429].includes(reply.status)) faults.push(reply);
          isDone = reply !== undefined && reply.status < 300;
          if (isDone) acknowledged.push(message);
        }
      }
    });
    const rounds = sweep(40, 2);
    let [renamed, atOnce] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      await untilSo('two answer', async () => one.fleet.alive.length > 1);
      const from = await nameNow();
      const to = names.find((name) => name !== from);
      const [place = 0] = one.fleet.alive.slice(round % 2);
      const renaming = one.call(place, 'POST', `/api/blocks/${from}/rename`, { name: to });
      const isRenamed = async (): Promise<boolean> => (await nameNow()) === to;
      if (round % 2 === 0) await delay(Math.random() * 150);
      else while (!(await isRenamed()) && (await Promise.race([renaming, undefined])) === undefined) await delay(2); // it has its name, and is not started yet
      const { replaced } = await one.fleet.kill(place);
      const reply = await renaming;
      if (reply?.status === 200) renamed += 1;
      else if (await isRenamed()) atOnce += 1;
      await replaced;
      t.match(await one.look('select count(*)::int as blocks from bh.block where name = any($1)', [names]), [{ blocks: 1 }]);
    }
    isOver = true;
    await Promise.all(posting);
    t.same(faults, []);
    await assertSound(t, one);
    const there = await one.look("select content from bh.message where role = 'user' and block_id = $1", [id]);
    t.same(there.map(({ content }) => String(content)).sort(), acknowledged.toSorted(), 'each that was acknowledged is there, once');
    t.comment(`${rounds} kills, ${renamed} renames answered, ${atOnce} done without an answer, ${acknowledged.length} messages`);
    t.match(
      await one.look("select b.name = d.value->>'name' as same from bh.block b join bh.document d on d.block_id = b.id and d.kind = 'config' where b.id = $1", [
        id,
      ]),
      [{ same: true }],
    );
  });

  t.test('X29: a server that dies between the answer and its bill, near the cap: what it held counts until another one has its block', async (t) => {
    let calls = 0;
    let isHeld = false;
    one.answer = async (request, res, index) => {
      if (request.path === '/api/tags') return repeatingDaemon(request, res, index);
      calls += 1;
      sendPiece(res, `answer ${calls}`);
      while (isHeld) await delay(10);
      endAnswer(res, 10, 100);
    };
    await begin(t, one, 'cap', { budget: { dailyTokens: 10_000 } });
    const first = await one.post('cap', 'first');
    await untilSo('it is answered', async () => (await one.look('select id from bh.message where reply_to = $1', [first])).length === 1);
    const place = await one.ownerOf('cap');
    const lock = askAgain(one.store);
    t.teardown(() => lock.end());
    isHeld = true;
    const id = await one.post('cap', 'second');
    await untilSo('the model is asked', async () => calls === 2);
    await lock.ask('begin');
    await lock.ask("select block from bh.budget where block = 'cap' for update");
    const others = one.fleet.alive.filter((index) => index !== place).map((index) => one.fleet.freezeUntil(index)); // nobody gives up the killed one yet
    isHeld = false;
    const waiting = "application_name = 'blockhouse' and wait_event_type = 'Lock'";
    await untilSo('its bill waits to be stored', async () => (await one.look(`select pid from pg_stat_activity where ${waiting}`)).length > 0);
    await one.fleet.lose(place);
    await one.look(`select pg_terminate_backend(pid) from pg_stat_activity where ${waiting}`);
    await lock.ask('rollback');
    const [held] = await one.look('select r.tokens::int, r.node is not null as is_held from bh.reservation r');
    t.match(held, { tokens: Number, is_held: true }, 'what its call may use');
    const database = await Database.open(parseStorePlace(one.store));
    t.teardown(() => database.close());
    const ledger = new PostgresLedger({ database, node: () => null, now: Date.now });
    const tokens = 10_000 - 110 - Math.ceil(Number(held?.['tokens']) / 2);
    const call = { ...callOf('other', 0, { dailyTokens: 10_000 }, 'cap'), worstCase: { usd: 0, tokens } };
    t.match(await ledger.reserve(call, new AbortController().signal), { kind: 'beside' }, 'another call must fit beside it');
    for (const thaw of others) thaw();
    await untilSo('another one has answered', async () => (await one.look('select id from bh.message where reply_to = $1', [id])).length === 1);
    t.match(await one.look('select call_id from bh.reservation'), [], 'nothing is held any more');
    t.equal(calls, 3);
    t.match(
      await one.look('select count(*)::int as lines from bh.ledger where block = $1', ['cap']),
      [{ lines: 2 }],
      'the killed one has not seen the end of its call',
    );
    await assertSound(t, one);
  });
});
