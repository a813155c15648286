// Servers whose database is away for long: what is under way ends and is paid for once, nothing begins, and all goes on when it is back.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { connectStore } from '../../core/index.ts';
import { askedOf, endAnswer, RUNNABLE, repeatingDaemon, type StartedCore, sendPiece, startCore } from '../support/blocks.ts';
import { migratedStore } from '../support/migrated.ts';
import { ask, noPostgres } from '../support/postgres.ts';
import { storeProxy } from '../support/store-proxy.ts';
import { until, untilSo } from '../support/until.ts';
import type { Answerer } from '../support/upstream.ts';

/** The shortest that servers may have. */
const LEASE_MS = 2000;
/** `BLOCKHOUSE_AWAY_MS=3600000` tries an hour. */
const AWAY_MS = Number(process.env['BLOCKHOUSE_AWAY_MS'] ?? 4 * LEASE_MS);
const BLOCKS = ['ada', 'bob'];

t.setTimeout(AWAY_MS + 240_000);

t.test('a database', { skip: noPostgres }, async (t) => {
  t.test('X11: while it is away for long, calls under way end, nothing begins, and each call is paid for once when it is back', async (t) => {
    const store = await migratedStore(t);
    const proxies = [await storeProxy(t, store), await storeProxy(t, store)];
    let isHeld = true;
    const calls: string[] = [];
    const answer: Answerer = async (request, res, ...rest) => {
      if (request.path === '/api/tags') return repeatingDaemon(request, res, ...rest);
      calls.push(askedOf(request).messages.at(-1)?.content ?? '');
      sendPiece(res, 'Half, ');
      while (isHeld) await delay(20);
      sendPiece(res, 'and the rest');
      endAnswer(res);
    };
    const all: StartedCore[] = [];
    for (const { store: way } of proxies) all.push(await startCore(t, { answer, store: await connectStore(way, { leaseMs: LEASE_MS }) }));
    const [a, b] = all as [StartedCore, StartedCore];
    for (const name of BLOCKS) {
      await a.create(name);
      await a.blocks.start(name);
    }
    for (const [index, name] of BLOCKS.entries()) {
      const { blocks } = all[index] as StartedCore;
      for (const message of ['under way', 'behind it']) await blocks.post(name, { message, clientId: message }, 'api');
    }
    await until('both are being answered', () => calls.length === BLOCKS.length);
    for (const proxy of proxies) proxy.refuse();
    await until('both know that it is away', () => all.every(({ core }) => core.storeHealth?.isAway === true));
    isHeld = false;
    const from = performance.now();
    let refused = 0;
    while (performance.now() - from < AWAY_MS) {
      for (const { blocks } of all)
        await blocks.post('ada', { message: 'lost' }, 'api').then(
          () => t.fail('a message was acknowledged'),
          ({ code }: { code: string }) => {
            refused += 1;
            if (code !== 'STORE_UNREACHABLE') t.fail(`refused with ${code}`);
          },
        );
      await delay(1000);
    }
    t.ok(refused > 0);
    t.same(calls, ['under way', 'under way'], 'nothing was begun');
    for (const proxy of proxies) proxy.heal();
    await until('the servers are back', () => !all.some(({ core }) => core.storeHealth?.isAway));

    await b.blocks.post('ada', { message: 'after it', clientId: 'after it' }, 'api');
    const open = "select count(*)::int as count from bh.message where role = 'user' and status <> 'done'";
    const deadline = performance.now() + 60_000;
    const isOpen = async (): Promise<boolean> => (await ask(store, open))[0]?.['count'] !== 0;
    while ((await isOpen()) && performance.now() < deadline) await delay(50);
    for (const name of BLOCKS) {
      const said = (await a.blocks.history(name)).map(({ role, content }) => (role === 'user' ? content : 'answer'));
      const asked = name === 'ada' ? ['under way', 'behind it', 'after it'] : ['under way', 'behind it'];
      t.same(
        said.filter((one) => one !== 'answer'),
        asked,
      );
      t.equal(said.length, 2 * asked.length, 'each has one answer');
    }
    const billed = async (): Promise<unknown> =>
      (await ask(store, 'select (select count(*) from bh.ledger)::int as lines, sum(calls)::int as calls from bh.spend'))[0];
    const expected = { lines: calls.length, calls: calls.length };
    while (JSON.stringify(await billed()) !== JSON.stringify(expected) && performance.now() < deadline) await delay(50);
    t.same(await billed(), expected, 'each call is paid for once');
    t.same(await ask(store, 'select call_id from bh.reservation'), []);
    t.same(await ask(store, 'select name from bh.block where queued + processing + failed <> 0'), []);
    t.comment(`${AWAY_MS} ms away: ${calls.length} calls for 5 messages, ${refused} posts refused`);
  });

  t.test('an answer that ends while it is away is kept and written when it is back; the model is not asked again', async (t) => {
    const store = await migratedStore(t);
    const proxy = await storeProxy(t, store);
    let isHeld = true;
    const calls: string[] = [];
    const answer: Answerer = async (request, res, ...rest) => {
      if (request.path === '/api/tags') return repeatingDaemon(request, res, ...rest);
      calls.push(askedOf(request).messages.at(-1)?.content ?? '');
      while (isHeld) await delay(20);
      return repeatingDaemon(request, res, ...rest);
    };
    const one = await startCore(t, { answer, store: await connectStore(proxy.store, { leaseMs: LEASE_MS }) });
    await one.create('ada', { ...RUNNABLE, retry: { maxAttempts: 1 } });
    await one.blocks.start('ada');
    const { id } = await one.blocks.post('ada', { message: 'under way' }, 'api');
    await one.blocks.post('ada', { message: 'behind it' }, 'api');
    await until('it is being answered', () => calls.length === 1);
    proxy.refuse();
    isHeld = false;
    await until('its answer has ended', () => one.factsOf('call.billed').length === 1);
    await until('it is known to be away', () => one.core.storeHealth?.isAway === true);
    proxy.heal();
    await until('it is back', () => one.core.storeHealth?.isAway === false);
    const open = "select count(*)::int as count from bh.message where role = 'user' and status in ('queued', 'processing')";
    await untilSo('both have their outcome', async () => (await ask(store, open))[0]?.['count'] === 0);
    t.match((await one.blocks.message('ada', id)).answer, { content: 'You said: under way' });
    t.same(calls, ['under way', 'behind it'], 'each is paid for once');
    t.strictSame(await ask(store, "select status, error from bh.message where role = 'user' order by seq"), Array(2).fill({ status: 'done', error: null }));
    await untilSo('both bills are there', async () => (await ask(store, 'select count(*)::int as count from bh.ledger'))[0]?.['count'] === 2);
  });
});
