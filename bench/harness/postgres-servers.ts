// The parts of bench/postgres.bench.ts with several servers: what notices cost, calls at a cap, and one code.
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BlockDocuments } from '../../core/store/port.ts';
import type { CappedKey, NoRoom, Used } from '../../core/store/port.ts';
import { parseStorePlace } from '../../core/store/postgres/place.ts';
import { PostgresPasses } from '../../core/store/postgres/passes.ts';
import { Database } from '../../core/store/postgres/pool.ts';
import { PostgresSignals } from '../../core/store/postgres/signals/signals.ts';
import type { Store } from '../../core/store/store.ts';
import { configOf } from '../../spec/support/block-files.ts';
import { migratedStore } from '../../spec/support/migrated.ts';
import { quantile } from '../measure.ts';
import type { Bench } from './postgres-bills.ts';

type ServerOf = (place: string) => Promise<Store>;

const HI = { content: 'hi', channel: 'api', clientId: undefined, cap: 100 } as const;
const WRITERS = 24;
const ROUNDS = 40;
const ROUND_MS = 1000;
const SERVERS = 3;
const AT_ONCE = 64;
const CAP_CALLS = 500;
const CAPPED_ROUNDS = 10;
const CODES = 300;

/** Messages of many blocks, which are begun and settled, with notices and without them in turns. */
export async function notices({ t, say }: Bench, serverOf: ServerOf): Promise<void> {
  const place = await migratedStore(t);
  const a = await serverOf(place);
  const reader = fork(join(import.meta.dirname, '../servers/postgres-reader.ts'), [place]);
  await once(reader, 'message');
  const { tell } = PostgresSignals.prototype;
  try {
    const node = await a.join();
    for (let n = 0; n < WRITERS; n += 1) await a.blocks.create({ ...configOf({ enabled: true }), name: `w${n}` });
    const silent = { onChanged: noop, onDamaged: noop, onRebuilt: noop, onOther: noop, onLogged: noop, onLogFault: noop };
    const listener = { ...silent, logLimits: () => ({ maxFileBytes: 1e6, maxFiles: 10 }) };
    const conversations = new Map<number, BlockDocuments['conversation']>();
    for (let n = 0; n < WRITERS; n += 1) {
      const ref = (await a.blocks.list({} as never).find(`w${n}`)) as { name: string; block: number };
      const { conversation } = a.blocks.block(ref, listener).documents;
      conversations.set(ref.block, conversation);
      await conversation.append(HI);
    }
    const claims = (await node.look(WRITERS)).claimed;
    if (claims.length < WRITERS) throw new Error(`only ${claims.length} blocks are ours`);
    const round = async (): Promise<number> => {
      const until = performance.now() + ROUND_MS;
      let commits = 0;
      await Promise.all(
        claims.map(async (claim) => {
          const conversation = conversations.get(claim.block) as BlockDocuments['conversation'];
          while (performance.now() < until) {
            await conversation.append(HI);
            const { next } = await conversation.recover(claim, { staleAfterMs: Number.POSITIVE_INFINITY, maxAttempts: 3 });
            if (next === undefined) throw new Error('no message');
            await conversation.begin(claim, next.id);
            await conversation.settle(claim, next.id, { status: 'done' }, undefined);
            commits += 3;
          }
        }),
      );
      return (commits / ROUND_MS) * 1000;
    };
    await round();
    const [on, off]: [number[], number[]] = [[], []];
    for (let n = 0; n < ROUNDS; n += 1) {
      for (const isOn of n % 2 === 0 ? [true, false] : [false, true]) {
        PostgresSignals.prototype.tell = isOn ? tell : noop;
        (isOn ? on : off).push(await round());
      }
    }
    const ratios = on.map((with_, n) => with_ / (off[n] ?? 1));
    say('commits a second with notices, and without', `${quantile(on, 0.5).toFixed(0)} and ${quantile(off, 0.5).toFixed(0)}`);
    say(
      '  of one to the other, in the rounds',
      `${quantile(ratios, 0.5).toFixed(2)} (median), ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
    );
  } finally {
    PostgresSignals.prototype.tell = tell;
    reader.disconnect();
    await once(reader, 'exit');
    await a.close();
  }
}

/** Calls of one key at three servers until its cap is reached. `knows`: whether a server knows what its calls under way may use. */
async function untilCap(servers: readonly Store[], name: string, knows: boolean): Promise<number> {
  const usage = { inputTokens: 4, outputTokens: 6, totalTokens: 10 };
  const cost = 0.001;
  const called = { key: name, provider: 'echo', model: 'echo-1', usage, costUsd: cost, firstTextMs: 3, durationMs: 5, error: null };
  const caps = { usdPerDay: CAP_CALLS * cost, usdPerWeek: null, usdPerMonth: null, tokensPerDay: null, tokensPerMonth: null };
  const key: CappedKey = { name, bounds: [{ kind: 'key', name, ...caps }] };
  let made = 0;
  await Promise.all(
    servers.map(async ({ gateway }, place) => {
      let open = 0;
      const used = (calls: number): Used => (knows ? { usd: calls * cost, tokens: calls * 10 } : { usd: 0, tokens: 0 });
      const underWay = { roughly: () => used(open), exactly: () => used(open - 1), own: () => used(1) };
      const callers = Math.floor(AT_ONCE / SERVERS) + (place < AT_ONCE % SERVERS ? 1 : 0);
      const call = async (): Promise<true | NoRoom> => {
        open += 1; // as a server does: a call that asks is one of those under way for the next one
        const room = await gateway.room(key, underWay);
        if (room === true) await delay(2 + Math.random() * 18);
        open -= 1;
        if (room !== true) return room;
        made += 1;
        gateway.record({ at: new Date().toISOString(), requestId: String(made), ...called });
        return true;
      };
      await Promise.all(
        Array.from({ length: callers }, async () => {
          for (let room = await call(); room === true || room.isUnderWay; room = await call()) if (room !== true) await delay(50);
        }),
      );
    }),
  );
  return made - CAP_CALLS;
}

/** 64 calls at once of one key, over three servers, until its cap is reached. */
export async function cap({ t, say }: Bench, serverOf: ServerOf): Promise<void> {
  const place = await migratedStore(t);
  const servers: Store[] = [];
  try {
    for (let n = 0; n < SERVERS; n += 1) servers.push(await serverOf(place));
    for (const server of servers) await server.join();
    for (const knows of [true, false]) {
      const passed: number[] = [];
      for (let n = 0; n < CAPPED_ROUNDS; n += 1) passed.push(await untilCap(servers, `app-${String(knows)}-${n}`, knows));
      const known = knows ? 'known' : 'not known';
      say(`calls past a cap of ${CAP_CALLS}, of ${AT_ONCE} at once, what each may cost is ${known}`, `${Math.min(...passed)} to ${Math.max(...passed)}`);
    }
  } finally {
    for (const store of servers) await store.close();
  }
}

/** One code, which three servers are given at once. */
export async function code({ t, say, ms }: Bench): Promise<void> {
  const place = parseStorePlace(await migratedStore(t));
  const databases: Database[] = [];
  try {
    for (let n = 0; n < SERVERS; n += 1) databases.push(await Database.open(place, { connections: 1 }));
    const passes = databases.map((database) => new PostgresPasses(database));
    const [times, opened]: [number[], number[]] = [[], []];
    for (let n = 0; n < CODES; n += 1) {
      const text = randomUUID();
      await passes[0]?.add('code', text, 60_000, 1000);
      const from = performance.now();
      const all = await Promise.all(
        passes.map(async (each) => {
          const isTaken = await each.take(['code'], text);
          if (isTaken) times.push(performance.now() - from);
          return isTaken;
        }),
      );
      opened.push(all.filter(Boolean).length);
    }
    say(`codes of ${CODES} that opened once, given to three servers at once`, String(opened.filter((count) => count === 1).length));
    say('  until the one has its answer', ms(times));
  } finally {
    for (const database of databases) await database.close();
  }
}

function noop(): void {
  // nobody looks
}
