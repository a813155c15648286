// What does a workspace in PostgreSQL cost: statements, CPU and WAL for a message, a page of a million blocks, the time from a message on one server to its begin on another, replies that
// are watched from another server, calls of a key with a cap, a report of costs, notices?
//
// A PostgreSQL is started for it, or taken from BLOCKHOUSE_TEST_STORE. `--only messages,caps,tools,begin,watch,keys,list,report,spent,notices,cap,code` runs a part, `--blocks`
// says how many the list has, `--lines` how many calls the ledger of `report` and `spent`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Test } from 'tap';
import { createOllama } from '../adapters/ollama/index.ts';
import { createBus } from '../core/bus.ts';
import { connectStore, createCore } from '../core/index.ts';
import type { FactRow } from '../core/store/postgres/list-facts.ts';
import { cursorOf, pageOf } from '../core/store/postgres/list-page.ts';
import { pageRows } from '../core/store/postgres/list-text.ts';
import { LIST_TEXTS } from '../core/store/postgres/migrations/005-list-texts.ts';
import { parseStorePlace } from '../core/store/postgres/place.ts';
import { Database } from '../core/store/postgres/pool.ts';
import { connectPostgres } from '../core/store/postgres/postgres-store.ts';
import type { CappedKey } from '../core/store/port.ts';
import type { ListQuery, ReplyStep as Step, Store } from '../core/store/store.ts';
import type { ToolDefinition, ToolHost } from '../core/tools/port.ts';
import { configOf } from '../spec/support/block-files.ts';
import { RUNNABLE, repeatingDaemon } from '../spec/support/blocks.ts';
import { ask, noPostgres, postgresStore } from '../spec/support/postgres.ts';
import { BANK, TRUSTED } from '../spec/support/tools/payment-host.ts';
import { toolModel } from '../spec/support/tools/tool-model.ts';
import { startUpstream } from '../spec/support/upstream.ts';
import * as bills from './harness/postgres-bills.ts';
import type { Bench } from './harness/postgres-bills.ts';
import * as servers from './harness/postgres-servers.ts';
import { countStatements, databaseCpu, wal } from './harness/postgres.ts';
import { quantile } from './measure.ts';

/** Of each block. Few enough that the memory is not compacted meanwhile: the provider of the bench would repeat all of it in its summary. */
const MESSAGES_EACH = 30;
const BLOCKS = ['ada', 'bob', 'cy', 'dan', 'eve', 'flo', 'gil', 'hal'];
/** So many that the ticks of the CPU and the pages that a checkpoint copies into the WAL are small beside them. */
const MESSAGES = MESSAGES_EACH * BLOCKS.length;
/** Messages of each kind with tools. */
const WITH_TOOLS = 10;
const PAGES = 200;
const BEGINS = 200;
/** Replies that are watched, and how: each makes some 100 tokens a second. */
const STREAMS = 1000;
const PIECES_A_SECOND = 20;
const PIECE = 'twenty characters...';
const WATCHED_S = 20;
/** Calls of clients, with a key that is far from its cap. */
const CALLS_A_SECOND = 1000;
const CALLED_S = 20;
/** The sort keys of the list, as its cursors have them. */
const KEYS = { name: 'name', state: 'state', lastMessageAt: "coalesce(last_message_at, '-infinity')", costUsd: 'coalesce(cost_usd, -1)' } as const;
/** The lists that are asked for a page, and the rows that are in them. */
const LISTS: readonly (readonly [query: ListQuery, rows: string])[] = [
  [{ sort: 'name' }, 'true'],
  [{ sort: 'state' }, 'true'],
  [{ sort: 'lastMessageAt' }, 'true'],
  [{ sort: 'costUsd' }, 'true'],
  [{ tag: 't7' }, 'block_id % 1000 = 7'],
  [{ tag: 't7', sort: 'costUsd' }, 'block_id % 1000 = 7'],
  [{ state: ['failed'], sort: 'state' }, "state = 'failed'"],
  [{ state: ['failed'], sort: 'lastMessageAt' }, "state = 'failed'"],
  [{ status: 'ACTIVE' }, 'true'],
  [{ prefix: 'b77' }, "name like 'b77%'"],
  [{ prefix: 'b77', sort: 'costUsd' }, "name like 'b77%'"],
  [{ text: 'ock 77' }, "description like '%ock 77%'"],
  [{ text: 'nowhere' }, 'false'],
  [{ text: 'ock 777777' }, 'false'],
];
/** Tools that answer at once. */
const HOST: ToolHost = {
  catalogue: async () => ({ tools: [BANK[3] as ToolDefinition], settings: { bank: TRUSTED }, problems: [] }),
  call: async () => ({ kind: 'result', isError: false, parts: [{ type: 'text', text: 'x'.repeat(650) }], ms: 1 }),
  halt: async () => undefined,
  close: async () => undefined,
};
const LOCK = { announce: async () => undefined, release: async () => undefined };

const { values } = parseArgs({
  options: { only: { type: 'string' }, blocks: { type: 'string', default: '1000000' }, lines: { type: 'string', default: '1000000' } },
});
const say = (question: string, figure: string): boolean => process.stdout.write(`${question.padEnd(64)}${figure}\n`);
const ms = (samples: readonly number[]): string => `${quantile(samples, 0.5).toFixed(1)} ms (median), ${quantile(samples, 0.99).toFixed(1)} ms (p99)`;

const ends: (() => unknown)[] = [];
const t = { teardown: (end: () => unknown) => void ends.unshift(end) } as unknown as Test;
const caps = (): Promise<void> => messages({ budget: { dailyTokens: 1e9 } });
const bench: Bench = { t, say, ms };
const report = (): Promise<void> => bills.report(bench, Number(values.lines));
const spent = (): Promise<void> => bills.spent(bench, Number(values.lines));
const notices = (): Promise<void> => servers.notices(bench, serverOf);
const cap = (): Promise<void> => servers.cap(bench, serverOf);
const code = (): Promise<void> => servers.code(bench);
const parts: Readonly<Record<string, () => Promise<void>>> = {
  messages: () => messages(),
  caps,
  tools,
  begin,
  watch,
  keys,
  list,
  report,
  spent,
  notices,
  cap,
  code,
};
if (noPostgres !== false) throw new Error(noPostgres);
try {
  for (const part of values.only?.split(',') ?? Object.keys(parts)) await parts[part]?.();
} finally {
  for (const end of ends) await end();
}

/** A warm block with tools: messages without a call, with one, and with several, each asked for by another answer of the model. */
async function tools(): Promise<void> {
  const store = await postgresStore(t);
  const upstream = await startUpstream(
    t,
    toolModel(({ results, question }) => (results.length < Number(question.split(' ')[0]) ? [{ name: 'bank__list', arguments: {} }] : 'x'.repeat(650))),
  );
  const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
  const core = createCore({ adapters: [createOllama()], env: { OLLAMA_BASE_URL: upstream.url }, store: await connectStore(store), workspace, tools: HOST });
  await core.start();
  try {
    await core.blocks.create({ name: 'ada', config: { ...RUNNABLE, tools: { servers: ['bank'], allow: ['bank/*'], limits: { sameCall: 50 } } } });
    await core.blocks.start('ada');
    const all = async (turns: number, times: number): Promise<void> => {
      for (let n = 0; n < times; n += 1) {
        const { id } = await core.blocks.post('ada', { message: `${turns} calls` }, 'api');
        const { entry } = await core.blocks.answer('ada', id, { waitMs: 20_000 });
        if (entry.status !== 'done') throw new Error(`the message is ${entry.status}`);
      }
    };
    await all(1, 3);
    for (const turns of [0, 1, 4]) {
      const counted = countStatements();
      const bytes = await wal(store);
      await all(turns, WITH_TOOLS);
      counted.stop();
      say(`statements for a message with ${turns} turns of calls`, ([...counted.counts.values()].reduce((a, b) => a + b, 0) / WITH_TOOLS).toFixed(2));
      for (const [name, count] of [...counted.counts].sort((a, b) => b[1] - a[1]))
        if (count > WITH_TOOLS / 2) say(`  ${name.slice(0, 50)}`, (count / WITH_TOOLS).toFixed(2));
      say('  WAL', `${(((await wal(store)) - bytes) / WITH_TOOLS / 1024).toFixed(1)} KiB`);
    }
  } finally {
    await core.close();
    rmSync(workspace, { recursive: true, force: true });
  }
}

/** Warm blocks, one after the other: each message is posted when the one before is answered. */
async function messages(config: object = {}): Promise<void> {
  const store = await postgresStore(t);
  const upstream = await startUpstream(t, repeatingDaemon);
  const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
  const core = createCore({ adapters: [createOllama()], env: { OLLAMA_BASE_URL: upstream.url }, store: await connectStore(store), workspace });
  await core.start();
  try {
    for (const name of BLOCKS) {
      await core.blocks.create({ name, config: { ...RUNNABLE, ...config } });
      await core.blocks.start(name);
    }
    const text = 'x'.repeat(650);
    const all = async (times: number): Promise<void> => {
      for (const name of BLOCKS)
        for (let n = 0; n < times; n += 1) {
          const { id } = await core.blocks.post(name, { message: text }, 'api');
          await core.blocks.answer(name, id, { waitMs: 10_000 });
        }
    };
    await all(10);
    const counted = countStatements();
    const [cpu, bytes, from] = [await databaseCpu(store), await wal(store), performance.now()];
    await all(MESSAGES_EACH);
    counted.stop();
    const [cpuAfter, bytesAfter, until] = [await databaseCpu(store), await wal(store), performance.now()];
    const sum = [...counted.counts.values()].reduce((before, count) => before + count, 0);
    say('statements for a message, warm block', (sum / MESSAGES).toFixed(2));
    for (const [name, count] of [...counted.counts].sort((a, b) => b[1] - a[1]))
      if (count > MESSAGES / 20) say(`  ${name.slice(0, 50)}`, (count / MESSAGES).toFixed(2));
    say('database CPU for a message', `${(((cpuAfter - cpu) / MESSAGES) * 1000).toFixed(2)} ms`);
    say('WAL for a message with 1.3 KB of text', `${((bytesAfter - bytes) / MESSAGES / 1024).toFixed(1)} KiB`);
    say('a message and its answer, one after the other', `${((until - from) / MESSAGES).toFixed(1)} ms`);
  } finally {
    await core.close();
    rmSync(workspace, { recursive: true, force: true });
  }
}

/** A server without blocks, in this process. */
async function serverOf(place: string): Promise<Store> {
  return (await connectPostgres(place)).open({ workspace: '', bus: createBus(), now: Date.now, onLost: async () => undefined, lock: LOCK });
}

/** Each reply of one server is followed at another one, step by step. */
async function watch(): Promise<void> {
  const place = await postgresStore(t);
  const [a, b] = [await serverOf(place), await serverOf(place)];
  try {
    const node = await a.join();
    await ask(place, `insert into bh.block (name, wanted, owner) select 'b' || n, true, $1 from generate_series(1, ${STREAMS}) n`, [node.node]);
    const refs = (await ask(place, 'select id::int as block, name from bh.block order by id')) as unknown as { name: string; block: number }[];
    const late: number[] = [];
    let characters = 0;
    const streams = refs.map((ref) => {
      const readers = new Set<(step: Step) => void>();
      let seq = Date.now() * 1000;
      const sent: (readonly [seq: number, at: number])[] = [];
      a.signals.publish(ref, (onStep) => {
        readers.add(onStep);
        return () => void readers.delete(onStep);
      });
      b.signals.follow(
        ref,
        (step) => {
          if (step.event !== 'content') return;
          characters += step.text.length;
          for (let [first] = sent; first !== undefined && first[0] <= step.seq; [first] = sent) {
            late.push(performance.now() - first[1]);
            sent.shift();
          }
        },
        0,
      );
      const say = (step: Step): void => {
        for (const reader of readers) reader(step);
      };
      return {
        begin: () => say({ id: 'm', seq, event: 'start', provider: 'p', model: 'm', attempt: 1 }),
        isFollowed: () => readers.size > 0,
        write: () => {
          seq += PIECE.length;
          sent.push([seq, performance.now()]);
          say({ id: 'm', seq, event: 'content', text: PIECE });
        },
      };
    });
    while (!streams.every(({ isFollowed }) => isFollowed())) await delay(100);
    for (const { begin } of streams) begin();
    await delay(1000);
    const [cpu, from] = [await databaseCpu(place), performance.now()];
    let written = 0;
    while (performance.now() - from < WATCHED_S * 1000) {
      const due = Math.min(((performance.now() - from) / 1000) * PIECES_A_SECOND, WATCHED_S * PIECES_A_SECOND) * STREAMS;
      for (; written < due; written += 1) streams[written % STREAMS]?.write();
      await delay(2);
    }
    const seconds = (performance.now() - from) / 1000;
    const cores = ((await databaseCpu(place)) - cpu) / seconds;
    await delay(2000);
    say(`database cores for ${STREAMS} replies that are watched from another server`, cores.toFixed(3));
    say('  a piece, until it is there', ms(late));
    say(`  characters lost of ${written * PIECE.length}`, String(written * PIECE.length - characters));
  } finally {
    for (const store of [a, b]) await store.close();
  }
}

/** Calls of clients with a key, far from its cap, at one of two servers. */
async function keys(): Promise<void> {
  const place = await postgresStore(t);
  const [a, b] = [await serverOf(place), await serverOf(place)];
  try {
    await Promise.all([a.join(), b.join()]);
    const usage = { inputTokens: 4, outputTokens: 6, totalTokens: 10 };
    const called = { key: 'app', provider: 'echo', model: 'echo-1', usage, costUsd: 0.0001, firstTextMs: 3, durationMs: 5, error: null };
    const caps = { usdPerDay: 1e6, usdPerWeek: null, usdPerMonth: null, tokensPerDay: null, tokensPerMonth: null };
    const key: CappedKey = { name: 'app', bounds: [{ kind: 'key', name: 'app', ...caps }] };
    const nothing = { usd: 0, tokens: 0 };
    let [made, waited] = [0, 0];
    const call = async (): Promise<void> => {
      const room = a.gateway.room(key, { roughly: () => nothing, exactly: () => nothing });
      if (room !== true) waited += 1;
      if ((await room) !== true) throw new Error('no room');
      made += 1;
      a.gateway.record({ at: new Date().toISOString(), requestId: String(made), ...called });
    };
    await call();
    await delay(500);
    const counted = countStatements();
    const [cpu, bytes, before, from] = [await databaseCpu(place), await wal(place), made, performance.now()];
    waited = 0;
    while (performance.now() - from < CALLED_S * 1000) {
      for (const due = 1 + ((performance.now() - from) / 1000) * CALLS_A_SECOND; made < due; ) await call();
      await delay(2);
    }
    counted.stop();
    const calls = made - before;
    const sum = [...counted.counts].filter(([name]) => /^gateway|^key|^grant|^begin|^commit/.test(name)).reduce((all, [, count]) => all + count, 0);
    say('statements for a call of a key far from its cap', (sum / calls).toFixed(3));
    for (const [name, count] of [...counted.counts].sort((a, b) => b[1] - a[1])) say(`  ${name.slice(0, 50)}`, (count / calls).toFixed(4));
    say('  of them that waited', String(waited));
    say('  database CPU, that of both servers at rest included', `${((((await databaseCpu(place)) - cpu) / calls) * 1000).toFixed(3)} ms`);
    say('  WAL', `${(((await wal(place)) - bytes) / calls).toFixed(0)} B`);
  } finally {
    for (const store of [a, b]) await store.close();
  }
}

async function begin(): Promise<void> {
  const place = await postgresStore(t);
  const [a, b] = [await serverOf(place), await serverOf(place)];
  try {
    const node = await b.join();
    await a.blocks.create(configOf({ enabled: true }));
    const silent = { onChanged: noop, onDamaged: noop, onRebuilt: noop, onOther: noop, onLogged: noop, onLogFault: noop };
    const listener = { ...silent, logLimits: () => ({ maxFileBytes: 1e6, maxFiles: 10 }) };
    const ref = (await a.blocks.list({} as never).find('a')) as { name: string; block: number };
    const [posting, answering] = [a.blocks.block(ref, listener).documents.conversation, b.blocks.block(ref, listener).documents.conversation];
    let begun = (): void => undefined;
    let working: Promise<void> | undefined;
    b.signals.on(({ what }) => {
      if (what === 'work') working = work().catch(() => undefined); // another hint has begun it
    });
    const work = async (): Promise<void> => {
      for (const claim of (await node.look(10)).claimed) {
        const { next } = await answering.recover(claim, { staleAfterMs: Number.POSITIVE_INFINITY, maxAttempts: 3 });
        if (next === undefined) continue;
        await answering.begin(claim, next.id);
        begun();
        await answering.settle(claim, next.id, { status: 'done' }, undefined);
        await node.release(claim, { state: 'idle', dueAt: null });
      }
    };
    const times: number[] = [];
    for (let n = 0; n < BEGINS; n += 1) {
      const done = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const from = performance.now();
      await posting.append({ content: 'hi', channel: 'api', clientId: undefined, cap: 100 });
      await done;
      times.push(performance.now() - from);
      await working; // the block is given back
      await delay(30);
    }
    say('a message on one server to its begin on another, by notice', ms(times));
  } finally {
    for (const store of [a, b]) await store.close();
  }
}

function noop(): void {
  // nobody looks
}

function placeOf({ block, ...row }: Record<string, unknown>): FactRow {
  return { ...row, block: Number(block) } as unknown as FactRow;
}

/** The rows of a store with very many blocks, as its servers would have left them. */
async function list(): Promise<void> {
  const store = await postgresStore(t);
  await (await connectPostgres(store)).close();
  const count = Number(values.blocks);
  const documents = [
    "'config', json_build_object('name', 'b' || n, 'description', 'block ' || n, 'enabled', true)",
    "'memory', '{}'",
    "'costs', '{}'",
    `'pulse', '{"status":"ACTIVE","state":"idle"}'`,
  ];
  const from = performance.now();
  await ask(store, `insert into bh.block (name, wanted, state) select 'b' || n, true, 'idle' from generate_series(1, ${count}) n`);
  await ask(
    store,
    `insert into bh.block_entry (block_id, name, description, state, status, last_message_at, cost_usd)
     select id, name, 'block ' || id, (array['idle', 'stopped', 'failed', 'paused'])[1 + id % 4], 'ACTIVE', now() - id % 1000000 * interval '1 s', id % 997 from bh.block`,
  );
  for (const document of documents)
    await ask(
      store,
      `insert into bh.document (block_id, kind, value) select id, ${document.replaceAll('n)', 'id)').replaceAll('|| n', '|| id')} from bh.block`,
    );
  const indexing = performance.now();
  await ask(store, 'drop table bh.entry_text');
  await ask(store, LIST_TEXTS);
  say(`texts of ${count} blocks written and indexed in`, `${((performance.now() - indexing) / 1000).toFixed(0)} s`);
  await ask(store, `insert into bh.block_tag (tag, name, block_id) select 't' || id % 1000, name, id from bh.block`);
  await ask(
    store,
    `insert into bh.message (block_id, seq, id, role, status, content, bytes, at) select id, 1, 'm' || id, 'user', 'done', 'hi', 100, now() from bh.block`,
  );
  for (const table of ['block', 'block_entry', 'entry_text', 'document', 'block_tag', 'message']) await ask(store, `vacuum analyze bh.${table}`);
  say(`rows of ${count} blocks made in`, `${((performance.now() - from) / 1000).toFixed(0)} s`);
  const database = await Database.open(parseStorePlace(store), { connections: 1, queryTimeoutMs: 60_000 });
  try {
    for (const [query, rows] of LISTS) {
      const key = KEYS[query.sort ?? 'name'];
      const places = await ask(
        store,
        `select block_id as block, name, (${key})::text as key from bh.block_entry where ${rows} order by random() limit ${PAGES}`,
      );
      const times: number[] = [];
      for (const place of places.length > 0 ? places : Array.from({ length: 5 }, () => undefined)) {
        const begin = performance.now();
        await pageRows(database, place === undefined ? query : { ...query, cursor: cursorOf(query, placeOf(place)) });
        times.push(performance.now() - begin);
      }
      say(`a page of ${count}: ${JSON.stringify(query)}`, ms(times));
      if (query.text === undefined || places.length > 0) continue;
      const { statement, values: all } = pageOf(query);
      const begin = performance.now();
      await database.query<FactRow>(statement, all);
      say('  where all entries are read', `${(performance.now() - begin).toFixed(1)} ms`);
    }
  } finally {
    await database.close();
  }
}
