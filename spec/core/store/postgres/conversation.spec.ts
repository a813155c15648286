// What several servers on one conversation see. The laws of all stores are in spec/conformance/store/.
import t, { type Test } from 'tap';
import { countQueue } from '../../../../core/block/conversation/counts.ts';
import type { Claim, MessageToAppend } from '../../../../core/store/port.ts';
import { ContentRoom } from '../../../../core/store/parts/content-room.ts';
import { PostgresConversation } from '../../../../core/store/postgres/conversation.ts';
import { PostgresLedger } from '../../../../core/store/postgres/ledger.ts';
import { PostgresMembership as Membership } from '../../../../core/store/postgres/membership.ts';
import type { Database } from '../../../../core/store/postgres/pool.ts';
import { ENTRIES } from '../../../../core/store/postgres/sql/conversation.ts';
import { fullAnswer } from '../../../conformance/store/conversation-suite.ts';
import { lineOf } from '../../../conformance/store/ledger-suite.ts';
import { blockIn, type Migrated, migrated } from '../../../support/migrated.ts';
import { type Owned, owned } from '../../../support/owned.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { sweep } from '../../../support/sweep.ts';

/** Of each that posts. */
const POSTS = sweep(40, 17);
const RULES = { staleAfterMs: Number.POSITIVE_INFINITY, maxAttempts: 3 };
const message = (content: string, fields: Partial<MessageToAppend> = {}): MessageToAppend => ({
  content,
  channel: 'web',
  clientId: undefined,
  cap: 1000,
  ...fields,
});

class Server {
  readonly node: Membership;
  readonly database: Database;

  private constructor(node: Membership, database: Database) {
    this.node = node;
    this.database = database;
  }

  static async join(database: Database): Promise<Server> {
    return new Server(await Membership.join(database, { version: '1.0.0', url: null }), database);
  }

  async take(block: number): Promise<Claim> {
    const claim = await this.node.take({ name: '', block });
    if ('heldBy' in claim) throw new Error('somebody has it');
    return claim;
  }

  conversation(block: number, claim?: Claim, clockIsOff = 0): Owned {
    const at = () => new Date(Date.now() + clockIsOff).toISOString();
    return owned(new PostgresConversation({ database: this.database, block, at }), claim);
  }
}

type Servers = () => Promise<Migrated & { block: number; a: Server; b: Server }>;

/** Makes two servers and a block for a test. All tests share a database, and the connections of each server. */
async function serversOf(t: Test): Promise<Servers> {
  const world = await migrated(t);
  const other = await world.open();
  let blocks = 0;
  return async () => {
    blocks += 1;
    const block = await blockIn(world, `ada${blocks}`);
    return { ...world, block, a: await Server.join(world.database), b: await Server.join(other) };
  };
}

/** A database whose answer to a read of entries comes when the test says so. */
class SlowReads {
  readonly #database: Database;
  #gate: { readonly open: Promise<void>; readonly answered: () => void } | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  readonly query: Database['query'] = async (statement, values) => {
    const gate = statement === ENTRIES ? this.#gate : undefined;
    if (gate !== undefined) this.#gate = undefined;
    const rows = await this.#database.query<never>(statement, values);
    gate?.answered();
    await gate?.open;
    return rows;
  };

  /** The read that `begin` begins, which the database has answered, and what hands the answer over. */
  async hold<R>(begin: () => Promise<R>): Promise<readonly [Promise<R>, () => void]> {
    let letGo = (): void => undefined;
    const open = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let read: Promise<R> | undefined;
    await new Promise<void>((answered) => {
      this.#gate = { open, answered };
      read = begin();
    });
    return [read as Promise<R>, letGo];
  }
}

/** J4: the counters of the block are those of its rows. */
async function countersAgree(t: Test, { ask }: Pick<Migrated, 'ask'>): Promise<void> {
  const counted = `
    select b.queued - count(*) filter (where m.status = 'queued') as queued, b.processing - count(*) filter (where m.status = 'processing') as processing,
      b.failed - count(*) filter (where m.status = 'failed') as failed,
      b.waiting_bytes - coalesce(sum(m.bytes) filter (where m.status in ('queued', 'processing')), 0) as bytes
    from bh.block b left join bh.message m on m.block_id = b.id group by b.id`;
  for (const row of await ask(counted)) t.strictSame(row, { queued: '0', processing: '0', failed: '0', bytes: '0' });
}

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  const servers = await serversOf(t);

  t.test('X10: a version from before the database has restarted is compared with nothing', async (t) => {
    const { ask, block, a } = await servers();
    let [past, ms] = [0, 0];
    const conversation = new PostgresConversation({ database: a.database, block, at: () => new Date().toISOString(), past: () => past, clock: () => ms });
    const shown = async (): Promise<string[]> => (await conversation.entries()).map(({ content }) => content);
    await conversation.append(message('lost'));
    t.same(await shown(), ['lost']);
    await ask("update bh.message set content = 'another with its number'");
    ms += 5000;
    t.same(await shown(), ['lost'], 'nothing has changed since that version');
    past += 1;
    t.same(await shown(), ['another with its number']);
  });

  t.test('the work of an owner is refused without a claim, and with an old one', async (t) => {
    const { a, b, block, ask } = await servers();
    const old = a.conversation(block, await a.take(block));
    const { entry } = (await b.conversation(block).append(message('hi'))) as { entry: { id: string } };
    await old.begin(entry.id);
    await ask('update bh.block set owner = null');
    const now = b.conversation(block, await b.take(block));
    const answer = fullAnswer(old, entry.id);
    for (const conversation of [a.conversation(block), old]) {
      await t.rejects(conversation.begin(entry.id), { code: 'LEASE_LOST' });
      await t.rejects(conversation.settle(entry.id, { status: 'done' }, answer), { code: 'LEASE_LOST' });
      await t.rejects(conversation.requeue(entry.id, { countsAsAttempt: true }), { code: 'LEASE_LOST' });
      await t.rejects(conversation.requeueAll(), { code: 'LEASE_LOST' });
      await t.rejects(conversation.recover(RULES), { code: 'LEASE_LOST' });
    }
    t.match(await now.recover(RULES), { queued: 1, next: { id: entry.id, attempts: 1 } });
    await now.begin(entry.id);
    t.equal(await now.settle(entry.id, { status: 'done' }, fullAnswer(now, entry.id)), true);
    t.equal((await old.entries()).length, 2, 'anybody may read');
  });

  t.test('C4: nothing is begun while another message is in process', async (t) => {
    const { a, block } = await servers();
    const owner = a.conversation(block, await a.take(block));
    const [first, second] = [await owner.append(message('1')), await owner.append(message('2'))] as { entry: { id: string } }[];
    t.ok(await owner.begin(first?.entry.id ?? ''));
    t.equal(await owner.begin(second?.entry.id ?? ''), undefined);
    await owner.cancel(first?.entry.id ?? '');
    t.ok(await owner.begin(second?.entry.id ?? ''));
  });

  t.test('a message that is queued again after it was cancelled is no longer asked to be cancelled', async (t) => {
    const { a, b, block, ask } = await servers();
    const claim = await a.take(block);
    const owner = a.conversation(block, claim);
    const other = b.conversation(block);
    const { entry } = (await owner.append(message('hi'))) as { entry: { id: string } };
    await owner.begin(entry.id);
    t.equal(await other.cancel(entry.id), 'asked');
    await owner.settle(entry.id, { status: 'cancelled' }, undefined);
    await other.retry(entry.id, 1000);
    await owner.begin(entry.id);
    await b.node.askFor({ name: '', block });
    t.match((await a.node.look(0)).wishes, [{ cancel: null }], 'whoever asks for the block does not end its reply');
    await ask('update bh.block set owner = null where id = $1', [block]);
    const next = b.conversation(block, await b.take(block));
    t.match(await next.recover(RULES), { queued: 1, next: { id: entry.id }, over: [] }, 'and it is answered after its server has died');
  });

  t.test('entries are whole whatever the order in which the answers of the database come', async (t) => {
    const { b, block, database } = await servers();
    const slow = new SlowReads(database);
    const seen = new PostgresConversation({ database: slow as unknown as Database, block, at: () => new Date().toISOString() });
    const other = b.conversation(block);
    const read = (): Promise<unknown> => {
      seen.hint();
      return seen.entries();
    };
    await other.append(message('1'));
    const [first, letFirstGo] = await slow.hold(read);
    await other.append(message('2'));
    t.equal(((await read()) as unknown[]).length, 2);
    const [second, letSecondGo] = await slow.hold(read);
    letFirstGo();
    await first;
    letSecondGo();
    await second;
    await seen.append(message('3'));
    t.strictSame(
      (await seen.entries()).map(({ content }) => content),
      ['1', '2', '3'],
    );
  });

  t.test('C5: ids grow although the clocks of two servers are an hour apart, answers included', async (t) => {
    const { a, b, block } = await servers();
    const ahead = a.conversation(block, undefined, 3_600_000);
    const owner = b.conversation(block, await b.take(block));
    for (let turn = 0; turn < 4; turn += 1) {
      await ahead.append(message(`ahead ${turn}`));
      await owner.append(message(`behind ${turn}`));
      const { next } = await owner.recover(RULES);
      await owner.begin(next?.id ?? '');
      const answer = fullAnswer(owner, next?.id ?? '');
      await ahead.append(message(`during the answer ${turn}`));
      t.equal(await owner.settle(next?.id ?? '', { status: 'done' }, answer), true);
    }
    const border = await owner.border();
    const ids = (await ahead.entries()).map(({ id }) => id);
    t.strictSame([...ids].sort(), ids);
    t.ok(ids.every((id) => id < border));
    const later = await ahead.append(message('later'));
    t.ok((later as { entry: { id: string } }).entry.id > border);
  });

  t.test('two servers that append and cancel at once, and one that answers, lose nothing, and the counters agree', async (t) => {
    const world = await servers();
    const { a, b, block } = world;
    const owner = a.conversation(block, await a.take(block));
    const posters = [a.conversation(block), b.conversation(block)];
    const posted = new Set<string>();
    const post = async (from: Owned, name: string): Promise<void> => {
      for (let n = 0; n < POSTS; n += 1) {
        const { entry } = (await from.append(message(`${name}${n}`, { clientId: `${name}${n}` }))) as { entry: { id: string } };
        posted.add(entry.id);
        if (n % 8 === 0) await from.cancel(entry.id).catch((error: { code: string }) => t.equal(error.code, 'WRONG_STATE'));
        if (n % 16 === 0) await from.retry(entry.id, 1000).catch((error: { code: string }) => t.equal(error.code, 'WRONG_STATE'));
      }
    };
    let isPosting = true;
    const answer = async (): Promise<void> => {
      for (;;) {
        const wasPosting = isPosting;
        const { next } = await owner.recover(RULES);
        if (next === undefined && !wasPosting) return;
        if (next === undefined || (await owner.begin(next.id)) === undefined) continue;
        if (Math.random() < 0.1) await owner.requeue(next.id, { countsAsAttempt: false });
        else await owner.settle(next.id, { status: 'done' }, fullAnswer(owner, next.id));
      }
    };
    const posting = Promise.all(posters.flatMap((from, index) => [post(from, `p${index}-`), post(from, `q${index}-`)])).finally(() => {
      isPosting = false;
    });
    await Promise.all([posting, answer()]);
    const rows = await world.ask('select role, status, count(*)::int as n from bh.message where block_id = $1 group by 1, 2 order by 1, 2', [block]);
    const of = (role: string, status: string): number => Number(rows.find((row) => row['role'] === role && row['status'] === status)?.['n'] ?? 0);
    t.equal(posted.size, 4 * POSTS);
    t.equal(of('user', 'done') + of('user', 'cancelled'), 4 * POSTS);
    t.equal(of('assistant', 'done'), of('user', 'done'));
    await countersAgree(t, world);
    t.strictSame(await world.ask('select due_at from bh.block where id = $1', [block]), [{ due_at: null }], 'nothing is left to do');
  });

  t.test('one clientId at two servers at once is one message, and both get its id', async (t) => {
    const { a, b, block } = await servers();
    for (let n = 0; n < 10; n += 1) {
      const both = (await Promise.all([a, b].map((server) => server.conversation(block).append(message('hi', { clientId: String(n) }))))) as {
        entry: { id: string };
      }[];
      t.equal(both[0]?.entry.id, both[1]?.entry.id);
    }
    t.equal((await a.conversation(block).entries()).length, 10);
  });

  t.test('a message whose acceptance was not heard is sent again, and is there once', async (t) => {
    const world = await servers();
    const { database, proxy } = await world.openByProxy();
    const poster = new PostgresConversation({ database, block: world.block, at: () => new Date().toISOString() });
    await poster.entries();
    proxy.loseAnswerTo('insert into');
    await t.rejects(poster.append(message('hi', { clientId: 'mine' })), { code: 'STORE_UNREACHABLE' });
    await poster.append(message('hi', { clientId: 'mine' }));
    t.equal((await poster.entries()).length, 1);
    await countersAgree(t, world);
  });

  t.test('a message is found at each server with its answer; one that nobody has sent is not, and one that waits is not repeated', async (t) => {
    const { block, a, b } = await servers();
    const here = a.conversation(block);
    const there = b.conversation(block);
    const added = await here.append(message('hi'));
    const id = 'entry' in added ? added.entry.id : '';
    t.match(await there.message(id), { entry: { id, content: 'hi' }, answer: null });
    await t.rejects(there.message('20000101T000000000Z-000'), { code: 'MESSAGE_NOT_FOUND' });
    await t.rejects(there.retry(id, 1000), { code: 'WRONG_STATE' });
  });

  t.test('the entries are the newest, and all that wait', async (t) => {
    const { a, block, ask } = await servers();
    const conversation = a.conversation(block);
    await conversation.append(message('waits'));
    await ask(
      `insert into bh.message (block_id, seq, id, role, status, content, bytes, at)
      select $1, n, 'old' || n, 'user', 'done', 'x', 1, clock_timestamp() from generate_series(2, 700) n`,
      [block],
    );
    const entries = await conversation.entries();
    t.equal(entries.length, 501);
    t.match(entries[0], { content: 'waits' });
    t.equal((await conversation.page({ limit: 1000 })).length, 700);
  });

  t.test('of long entries, as many are read as a file keeps; of a page, no more than fits', async (t) => {
    const { a, block, ask } = await servers();
    const conversation = a.conversation(block);
    await conversation.append(message('waits'));
    // `bytes` says how long they are; number 40 could not be in a file.
    await ask(
      `insert into bh.message (block_id, seq, id, role, status, content, bytes, at)
      select $1, n, 'old' || n, 'user', 'done', n, case when n = 40 then 25 * 1024 * 1024 else 300 * 1024 end, clock_timestamp() from generate_series(2, 60) n`,
      [block],
    );
    const texts = (await conversation.entries()).map(({ content }) => content);
    t.same(texts, ['waits', ...Array.from({ length: 20 }, (_, n) => String(41 + n))], 'the newest twenty have room that others do not have');
    t.equal((await conversation.page({ limit: 1000 })).length, 21, 'no more than one is read beyond a page');
  });

  t.test('what counts of the entries is read without their texts, and again only where they have changed', async (t) => {
    const { a, b, block } = await servers();
    const claim = await a.take(block);
    const [own, other] = [a.conversation(block, claim), b.conversation(block)];
    const seen = new PostgresConversation({ database: b.database, block, at: () => new Date().toISOString(), clock: () => 0 });
    const shown = async (): Promise<string[]> => (await seen.outline()).map(({ content, status }) => `${status} ${content}`);
    for (const content of ['fails', 'is answered', 'waits']) await other.append(message(content));
    for (const status of ['failed', 'done'] as const) {
      const { next } = await own.recover(RULES);
      await own.begin(next?.id ?? '');
      await own.settle(next?.id ?? '', { status }, undefined);
    }
    t.same(await shown(), ['failed ', 'queued ']);
    t.same(await seen.counts(), countQueue(await other.entries()));
    await seen.entries();
    seen.hint();
    t.same(await shown(), ['failed fails', 'done is answered', 'queued waits'], 'what is known has no older version');
    await other.append(message('is new'));
    seen.hint();
    t.same(await shown(), ['failed ', 'queued ', 'queued ']);
    t.same((await seen.entries()).length, 4);
  });

  t.test('without room in memory, messages are added and answered once each, in their order', async (t) => {
    const world = await servers();
    const { a, b, block } = world;
    const room = new ContentRoom(1, 1); // drops at each use
    const conversation = new PostgresConversation({ database: a.database, block, at: () => new Date().toISOString(), room });
    const own = owned(conversation, await a.take(block));
    const order: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      await (n % 2 === 0 ? own : b.conversation(block)).append(message(`${n}`, { clientId: `${n}` }));
      await own.entries();
      if (n < 3) continue;
      const { next } = await own.recover(RULES);
      order.push((await own.begin(next?.id ?? ''))?.content ?? '');
      t.equal(await own.settle(next?.id ?? '', { status: 'done' }, fullAnswer(own, next?.id ?? '')), true);
      t.equal(await own.begin(next?.id ?? ''), undefined);
    }
    t.same(order, ['0', '1', '2']);
    t.same(await own.entries(), await b.conversation(block).entries());
    t.equal(room.bytes, 0);
    await countersAgree(t, world);
  });

  t.test('what the owner changes is known without another reading, as anybody reads it', async (t) => {
    const { a, b, block, ask } = await servers();
    await ask(
      `with m as (
        insert into bh.message (block_id, seq, id, role, status, content, bytes, at)
        select $1, n, 'a' || n, 'user', 'done', 'x', 1, clock_timestamp() from generate_series(1, 499) n)
      update bh.block set next_seq = 499 where id = $1`,
      [block],
    );
    let readings = 0;
    const counting = new Proxy(a.database, {
      get: (database, name) => {
        if (name !== 'query') return Reflect.get(database, name, database);
        return (statement: { name: string }, values: unknown[]) => {
          if (statement.name === 'messages-active') readings += 1;
          return database.query(statement as never, values);
        };
      },
    });
    // Its clock stands still, so what was read stays good until it is told of a change.
    const own = owned(new PostgresConversation({ database: counting, block, at: () => new Date().toISOString(), clock: () => 0 }), await a.take(block));
    const asRead = (): Promise<unknown> => b.conversation(block).entries();
    for (const content of ['one', 'two \0 \ud800', 'three']) {
      const { entry } = (await own.append(message(content, { clientId: content.slice(0, 3) }))) as { entry: { id: string } };
      await own.entries();
      const before = readings;
      await own.begin(entry.id);
      t.same(await own.entries(), await asRead());
      const outcome =
        content === 'three' ? ({ status: 'failed', error: { code: 'X', message: 'no', retryable: false } } as const) : ({ status: 'done' } as const);
      const answer = content === 'three' ? undefined : fullAnswer(own, entry.id, { content, clientId: `to ${content.slice(0, 3)}` });
      await own.settle(entry.id, { ...outcome, finishedAt: new Date().toISOString(), model: 'm' }, answer);
      t.same(await own.entries(), await asRead());
      t.equal(readings, before, 'it was not read again');
    }
    const { entry } = (await own.append(message('four'))) as { entry: { id: string } };
    await own.entries();
    await b.conversation(block).append(message('five'));
    await own.begin(entry.id);
    t.same(await own.entries(), await asRead(), 'also where another server has changed something before it');
  });

  t.test('the line of a call is written with its answer, in one statement, and also where the block is another’s or the message has its outcome', async (t) => {
    const { a, b, block, ask } = await servers();
    const ran: string[] = [];
    const query: Database['query'] = (statement, values) => {
      ran.push(statement.name);
      return a.database.query(statement, values);
    };
    const database = { query } as Database;
    const bills = new PostgresLedger({ database, node: () => a.node.node, now: () => Date.parse('2026-11-20T12:00:00.000Z') });
    const conversation = new PostgresConversation({ database, block, at: () => new Date().toISOString(), bills });
    const claim = await a.take(block);
    const kept: unknown[] = [];
    const answered = async (id: string, n: string): Promise<readonly [boolean, readonly string[]]> => {
      const line = lineOf(n);
      bills.hand(line);
      ran.length = 0;
      const settled = await conversation.settle(claim, id, { status: 'done' }, fullAnswer(owned(conversation, claim), id), {
        line,
        kept: async () => void kept.push(await bills.spend('ada', [0])),
      });
      return [settled !== undefined, [...ran]];
    };
    const add = async (content: string): Promise<string> => ((await conversation.append(message(content))) as { entry: { id: string } }).entry.id;
    const first = await add('1');
    await conversation.begin(claim, first);
    await bills.spend('ada', [0]);
    t.strictSame(await answered(first, '1'), [true, ['message-settle-paid']]);
    t.strictSame(kept, [[{ usd: 0.25, tokens: 10 }]], 'what the block has spent comes with it');

    t.strictSame(await answered(first, '2'), [false, ['message-settle-paid']], 'it has its outcome already');

    const second = await add('2');
    await conversation.begin(claim, second);
    await b.conversation(block).append(message('grows past it', { clientId: 'far ahead' }));
    await ask(`update bh.block set last_id = 'msg_~' where id = $1`, [block]);
    await conversation.cancel(second, claim);
    await ask('update bh.block set fence = fence + 1 where id = $1', [block]);
    await t.rejects(answered(second, '3'), { code: 'LEASE_LOST' });
    t.strictSame(
      (await ask('select call_id from bh.ledger order by call_id')).map(({ call_id }) => call_id),
      ['1', '2', '3'],
    );
    t.equal(kept.length, 3);
  });

  t.test('a line whose answer is lost with that of its statement is written again, and counts once', async (t) => {
    const world = await migrated(t);
    const block = await blockIn(world, 'ada');
    const { database, proxy } = await world.openByProxy();
    const { node } = await Server.join(world.database);
    const bills = new PostgresLedger({ database, node: () => node.node, now: Date.now });
    const conversation = new PostgresConversation({ database, block, at: () => new Date().toISOString(), bills });
    const claim = await node.take({ name: '', block });
    if ('heldBy' in claim) throw new Error('somebody has it');
    const { entry } = (await conversation.append(message('1'))) as { entry: { id: string } };
    await conversation.begin(claim, entry.id);
    const line = lineOf('1');
    bills.hand(line);
    proxy.loseAnswerTo('insert into');
    const kept = async (): Promise<void> => void t.fail('nothing is known of it');
    await t.rejects(conversation.settle(claim, entry.id, { status: 'done' }, fullAnswer(owned(conversation, claim), entry.id), { line, kept }), {
      code: 'STORE_UNREACHABLE',
    });
    await bills.ready();
    t.strictSame(await world.ask('select calls, tokens from bh.spend'), [{ calls: '1', tokens: '10' }]);
  });

  t.test('whose turn it is is known without a look where a message was added to an empty block, and nobody else has touched it', async (t) => {
    const { a, b, block, ask } = await servers();
    let looks = 0;
    let clock = 0;
    const query: Database['query'] = (statement, values) => {
      if (statement.name === 'block-look') looks += 1;
      return a.database.query(statement, values);
    };
    const conversation = new PostgresConversation({ database: { query } as Database, block, at: () => new Date().toISOString(), clock: () => clock });
    const claim = await a.take(block);
    const own = owned(conversation, claim);
    const other = b.conversation(block);
    const add = async (to: Owned, content: string): Promise<string> => ((await to.append(message(content))) as { entry: { id: string } }).entry.id;
    const asked = async (): Promise<readonly [next: string | undefined, looks: number]> => {
      looks = 0;
      const { next } = await own.recover(RULES);
      return [next?.id, looks];
    };
    const first = await add(own, '1');
    t.strictSame(await asked(), [first, 0]);
    t.ok(await own.begin(first));
    const second = await add(own, '2');
    await own.settle(first, { status: 'done' }, fullAnswer(own, first));
    t.strictSame(await asked(), [second, 1], 'not while another one was answered');
    await own.cancel(second);

    const third = await add(own, '3');
    await other.cancel(third);
    t.equal(await own.begin((await asked())[0] ?? ''), undefined, 'what others have done to it is seen when it begins');
    t.strictSame(await asked(), [undefined, 1], 'and then it is looked for');

    const fourth = await add(other, '4');
    await add(own, '5');
    t.strictSame(await asked(), [fourth, 1], 'a message of another server waits before it');
    for (const { id } of await other.entries()) await other.cancel(id).catch(() => undefined);

    const last = await add(own, 'the last one');
    t.ok(await own.begin(last));
    await own.settle(last, { status: 'done' }, fullAnswer(own, last));
    t.strictSame(await asked(), [undefined, 0], 'after the last one there is none');
    const told = await add(other, 'from another server');
    conversation.hint();
    t.strictSame(await asked(), [told, 1], 'until another server tells of one');
    t.ok(await own.begin(told));
    await own.settle(told, { status: 'done' }, fullAnswer(own, told));
    const untold = await add(other, 'without a notice');
    clock += 100;
    t.strictSame(await asked(), [untold, 1], 'or, without a notice, a tenth of a second later');
    await own.cancel(untold);

    const sixth = await add(own, '6');
    clock += 100;
    t.strictSame(await asked(), [sixth, 1], 'not for long');
    await own.cancel(sixth);
    const seventh = await add(own, '7');
    await conversation.recover({ block, name: '', owner: a.node.node, fence: 1 }, { ...RULES, staleAfterMs: 1000 });
    t.equal(looks, 2, 'nor at a start, where messages expire');
    conversation.hint();
    t.strictSame(await asked(), [seventh, 1], 'nor after a hint');
    await own.cancel(seventh);

    const ended = await add(own, 'the last one of this claim');
    t.ok(await own.begin(ended));
    await own.settle(ended, { status: 'done' }, fullAnswer(own, ended));
    await a.node.release(claim, { state: 'idle', dueAt: null });
    const unseen = await add(other, 'while nobody had the block');
    t.equal((await conversation.recover(await a.take(block), RULES)).next?.id, unseen, 'who has the block again looks');
    await other.cancel(unseen);

    const eighth = await add(own, '8');
    await ask('update bh.block set owner = null');
    await b.take(block);
    await own.recover(RULES);
    await t.rejects(own.begin(eighth), { code: 'LEASE_LOST' });
  });

  t.test('a page has so many bytes at most, and one entry at least', async (t) => {
    const { a, block } = await servers();
    const conversation = a.conversation(block);
    for (const letter of ['a', 'b', 'c']) {
      const { entry } = (await conversation.append(message(letter.repeat(5_000_000)))) as { entry: { id: string } };
      await conversation.cancel(entry.id);
    }
    const page = await conversation.page({ limit: 9 });
    t.strictSame(
      page.map(({ content }) => content[0]),
      ['c'],
    );
    t.strictSame(
      (await conversation.page({ limit: 9, before: page[0]?.id })).map(({ content }) => content[0]),
      ['b'],
    );
  });

  t.test('a block that is gone or archived takes nothing', async (t) => {
    const { a, block, ask } = await servers();
    await t.rejects(a.conversation(999).append(message('hi')), { code: 'BLOCK_NOT_FOUND' });
    await t.rejects(a.conversation(999).border(), { code: 'BLOCK_NOT_FOUND' });
    await ask("update bh.block set archive_name = 'ada-1' where id = $1", [block]);
    await t.rejects(a.conversation(block).append(message('hi')), { code: 'BLOCK_NOT_FOUND' });
  });
});
