import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createBus } from '../../../core/bus.ts';
import type { ChatEntry } from '../../../core/schemas/chat-entry.ts';
import { type CopyOptions, compareWorkspaces, copyWorkspace } from '../../../core/store/copy.ts';
import { openStore } from '../../../core/store/open.ts';
import type { LedgerLine } from '../../../core/store/port.ts';
import { AT, answerEntry, configOf, memoryOf, pair, pulseOf, userEntry } from '../../support/block-files.ts';
import { migratedStore } from '../../support/migrated.ts';
import { ask, noPostgres, postgresStore } from '../../support/postgres.ts';
import { runLine } from '../../../core/store/parts/run-lines.ts';
import { modelRecord, runRecord } from '../../support/tools/records.ts';
import { withSmallDisk } from '../../support/small-disk.ts';
import { sweep } from '../../support/sweep.ts';
import { testFolder } from '../../support/test-folder.ts';

const NOW = Date.now();
/** More than the newest, which a block keeps in chat.json. */
const PAIRS = sweep(700, 300);
const at = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
const line = (block: string, minutes: number, fields: Partial<LedgerLine> = {}): LedgerLine => ({
  at: at(minutes),
  block,
  provider: 'p',
  model: 'm',
  purpose: 'chat',
  usage,
  costUsd: 0.1,
  messageId: 'm1',
  id: `call-${block}-${minutes}`,
  ...fields,
});

/** The folder of a block as files. */
function block(name: string, entries: readonly object[], fields: object = {}): Record<string, string | Record<string, string>> {
  return {
    'config.json': `${JSON.stringify(configOf({ description: `d \0 ${name}`, tags: ['x'], ...fields }, name), null, 2)}\n`,
    'memory.json': `${JSON.stringify(memoryOf({ summary: 'half \ud83d' }), null, 2)}\n`,
    'pulse.json': `${JSON.stringify(pulseOf({ restarts: 3 }), null, 2)}\n`,
    'chat.json': JSON.stringify(entries),
    logs: { 'one.log': 'first\nsecond\n' },
  };
}

/** A workspace with something of everything, and with so many messages in an archive of a chat, each with its answer. */
async function workspaceOf(t: Test, pairs = 3): Promise<string> {
  const old = Array.from({ length: pairs }, (_, n) => pair(`old${n}`, { clientId: `c${n}` })).flat();
  const [first, ...rest] = [...pair('m1', { content: 'NUL \0' }), userEntry('w1', { status: 'queued', processed: false }), ...pair('m2')];
  const folder = testFolder(t, {
    blocks: {
      ada: { ...block('ada', [first as ChatEntry, ...rest, { role: 'user', content: 'by hand' }], { enabled: true }), 'notes.txt': 'mine' },
      eve: block('eve', []),
      'no block': {},
    },
    archive: {
      'ada_2026-11-20T14-03-22-123Z': {
        ...block('ada', pair('z1')),
        'archive.json': JSON.stringify({ archiveName: 'x', originalName: 'ada', archivedAt: AT, messages: 2, sizeBytes: 10 }),
      },
    },
    'models.json': '{"aliases": {"fast": "p/m"}}',
    'keys.json': '{"keys": {}}\n',
    'prices.json': '{"models": {}}',
    '.api-token': `bh_${'a'.repeat(43)}\n`,
    'auth.json': '{"secret": 1}',
  });
  const runs = join(folder, 'blocks/ada/runs');
  mkdirSync(runs);
  writeFileSync(join(runs, 'm1.jsonl'), `${[runRecord(), modelRecord(1)].map(runLine).join('')}{"torn`);
  writeFileSync(join(runs, 'm1.1.1.json'), '{"isError":false,"parts":[]}');
  writeFileSync(join(runs, 'm2.jsonl'), '{"t":"run"');
  const archive = join(folder, 'blocks/ada/chat-archive');
  mkdirSync(archive);
  writeFileSync(join(archive, '2026-10.jsonl'), `${[...old, old[3]].map((entry) => JSON.stringify(entry)).join('\n')}\ntorn`);
  writeFileSync(join(archive, '2026-11.jsonl'), `${JSON.stringify(answerEntry('m1a', 'm1'))}\n`);
  const store = await openStore({ workspace: folder, bus: createBus(), now: Date.now, onLost: async () => undefined });
  for (const minutes of [200_000, 50, 40]) await store.ledger.append(line('bob', minutes, { credential: 'second', step: 3 }));
  await store.ledger.append(line('eve', 39));
  await store.ledger.carry('bob', 'ada');
  await store.ledger.append(line('ada', 30, { failed: true, usage: null, costUsd: null }));
  await store.ledger.append(line('bob', 20));
  await store.ledger.carry('ada', 'cleo');
  await store.ledger.append(line('cleo', 10, { costUsd: 0.123456789012 }));
  const call = { requestId: 'r', provider: 'p', model: 'm', firstTextMs: 3, durationMs: 5, error: null, usage } as const;
  store.gateway.record({ ...call, at: at(5), key: 'app', group: 'team', costUsd: 0.3, credential: 'second' });
  store.gateway.record({ ...call, at: at(4), key: 'app', costUsd: null, leastUsd: 0.01 });
  store.gateway.record({ ...call, at: at(3), key: null, costUsd: 0.1, usage: null, error: 'UPSTREAM_TIMEOUT' });
  await store.gateway.close();
  await store.ledger.close();
  await store.close();
  appendFileSync(join(folder, 'ledger.jsonl'), `${JSON.stringify({ ...line('eve', 2), id: undefined })}\n`);
  const open = { id: 'left', at: at(1), requestId: 'r', key: 'app', provider: 'p', model: 'm', usage, costUsd: 0.5, error: 'SHUTTING_DOWN' };
  writeFileSync(join(folder, 'gateway-open.jsonl'), `${JSON.stringify(open)}\n`);
  return folder;
}

const same = async (t: Test, options: CopyOptions): Promise<void> => void t.same((await compareWorkspaces(options)).differences, []);

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a workspace goes into a database and back, and is the same', async (t) => {
    const [from, to] = [await workspaceOf(t, PAIRS), await postgresStore(t)];
    const trial = await copyWorkspace({ from, to, isTrial: true });
    t.match(trial, { blocks: { copied: 3 }, others: ['ledger', 'client calls', 'settings'] });
    t.same(await ask(to, "select to_regclass('bh.block') as found"), [{ found: null }], 'nothing is written');
    const report = await copyWorkspace({ from, to });
    t.match(report, { ...trial, blocks: { copied: 3, same: 0, removed: 0 }, failed: [], left: ['blocks/ada/notes.txt'] });
    await same(t, { from, to });
    t.match(await compareWorkspaces({ from, to }), { compared: { blocks: 3, messages: 2 * PAIRS + 8, ledgerLines: 10, clientCalls: 4 } });
    t.match(await copyWorkspace({ from, to }), { blocks: { copied: 0, same: 3 }, others: [] }, 'a second time nothing is to be done');
    t.same(await ask(to, "select count(*)::int as n from bh.setting where value like '%bh_aaa%' or value like '%secret%'"), [{ n: 0 }]);

    const back = join(testFolder(t), 'back');
    await copyWorkspace({ from: to, to: back });
    await same(t, { from: to, to: back });
    await same(t, { from: back, to });
    for (const file of ['config', 'memory', 'costs', 'pulse'].map((name) => `blocks/eve/${name}.json`).filter((file) => existsSync(join(from, file))))
      t.equal(readFileSync(join(back, file), 'utf8'), readFileSync(join(from, file), 'utf8'), file);
    for (const file of ['blocks/ada/logs/one.log', 'models.json', 'keys.json', 'prices.json'])
      t.equal(readFileSync(join(back, file), 'utf8'), readFileSync(join(from, file), 'utf8'), file);
    t.same([existsSync(join(back, 'auth.json')), existsSync(join(back, '.api-token'))], [false, false]);
    const lines = readdirSync(join(back, 'blocks/ada/chat-archive'));
    t.same(lines.sort(), ['2026-11.jsonl', 'client-ids.jsonl']);
    t.ok((JSON.parse(readFileSync(join(back, 'blocks/ada/chat.json'), 'utf8')) as ChatEntry[]).length <= 551);

    const [one, two] = [await spendOf(from), await spendOf(back)];
    t.match(two, one, 'what was spent counts as before');
  });

  t.test('a later copy takes what has changed, removes what is gone, and doubles nothing', async (t) => {
    const [from, to] = [await workspaceOf(t), await migratedStore(t)];
    await copyWorkspace({ from, to });
    rmSync(join(from, 'blocks/eve'), { recursive: true });
    writeFileSync(join(from, 'blocks/ada/memory.json'), JSON.stringify(memoryOf({ summary: 'new' })));
    appendFileSync(join(from, 'ledger.jsonl'), `${JSON.stringify(line('ada', 1))}\n`);
    writeFileSync(join(from, 'halted.json'), '{"halted":true}');
    rmSync(join(from, 'models.json'));
    const { differences } = await compareWorkspaces({ from, to });
    t.match(
      differences.map(({ place, problem }) => `${place}: ${problem}`),
      [
        /^blocks\/ada: memory: the content differs$/,
        /^blocks\/eve: is only in /,
        /^ledger: 11, and 10 there$/,
        /^ledger: ada has spent /,
        /^ledger: ada /,
        'settings: halt: the content differs',
        'settings: models: the content differs',
      ],
    );
    t.match(await copyWorkspace({ from, to }), { blocks: { copied: 1, same: 1, removed: 1 }, others: ['ledger', 'settings'] });
    await same(t, { from, to });
  });

  t.test('a block that is damaged is named, no server uses what is not whole, and the next copy goes on', async (t) => {
    const [from, to] = [await workspaceOf(t), await migratedStore(t)];
    const config = readFileSync(join(from, 'blocks/eve/config.json'));
    writeFileSync(join(from, 'blocks/eve/config.json'), '{');
    t.match(await copyWorkspace({ from, to }), { blocks: { copied: 2 }, failed: [{ place: 'blocks/eve', problem: /^config\.json can't be used/ }] });
    t.match(await ask(to, "select value from bh.setting where key = 'copy'"), [{ value: /"isWhole":false/ }]);
    writeFileSync(join(from, 'blocks/eve/config.json'), config);
    t.match(await copyWorkspace({ from, to, only: 'e*' }), { blocks: { copied: 1, same: 0 }, failed: [] });
    await same(t, { from, to });
  });

  t.test('the servers of tools, and what of them is approved, come along, there and back', async (t) => {
    const texts = { 'mcp.json': '{"mcpServers":{"files":{"command":"files-server"}}}', 'mcp-pins.json': '{"servers":{}}' };
    const folder = testFolder(t, { from: { blocks: { eve: block('eve', []) }, ...texts }, taken: texts });
    const [from, taken, back] = [join(folder, 'from'), join(folder, 'taken'), join(folder, 'back')];
    const to = await migratedStore(t);
    t.match((await copyWorkspace({ from, to })).others, ['settings']);
    t.match(await ask(to, "select key, value from bh.setting where key like 'mcp%' order by key"), [
      { key: 'mcp', value: texts['mcp.json'] },
      { key: 'mcp-pins', value: texts['mcp-pins.json'] },
    ]);
    await same(t, { from, to });
    await copyWorkspace({ from: to, to: back });
    for (const [name, text] of Object.entries(texts)) {
      t.equal(readFileSync(join(back, name), 'utf8'), text);
      t.equal(statSync(join(back, name)).mode & 0o777, 0o600);
    }
    writeFileSync(join(from, 'mcp.json'), '{"mcpServers":{}}');
    t.match((await compareWorkspaces({ from, to })).differences, [{ place: 'settings', problem: 'mcp: the content differs' }]);
    await t.rejects(copyWorkspace({ from: to, to: taken }), { code: 'NAME_TAKEN' }, 'what is there is not replaced');
  });

  t.test('a trial names only what there is', async (t) => {
    const folder = testFolder(t, { blocks: { eve: block('eve', []) } });
    const { blocks, others } = await copyWorkspace({ from: folder, to: await postgresStore(t), isTrial: true });
    t.same([blocks.copied, others], [1, []]);
  });

  t.test('a disk that is full stops a copy, which goes on when there is room', async (t) => {
    const from = await migratedStore(t);
    const blocks = Object.fromEntries(['ada', 'bob', 'cleo'].map((name) => [name, block(name, pair('m1', { content: 'x'.repeat(20_000) }))]));
    await copyWorkspace({ from: testFolder(t, { blocks }), to: from });
    const disk = testFolder(t);
    const back = join(disk, 'back');
    const reason = await withSmallDisk(disk, async () => {
      writeFileSync(join(disk, 'others'), Buffer.alloc(150 * 1024));
      await t.rejects(copyWorkspace({ from, to: back }), {
        code: 'STORAGE_FULL',
        message: /^The disk is full\. What was copied stays, and the next copy goes on\./,
      });
      rmSync(join(disk, 'others'));
      t.match(await copyWorkspace({ from, to: back }), { failed: [] });
      await same(t, { from, to: back });
    });
    if (reason !== undefined) t.pass(`not tried: ${reason}`);
  });

  t.test('a fault of the database is not called one of a file', async (t) => {
    const [from, to] = [await workspaceOf(t), await migratedStore(t)];
    await copyWorkspace({ from, to });
    await ask(to, 'alter table bh.setting rename column value to other');
    await t.rejects(copyWorkspace({ from, to }), { message: /value/, code: '42703' });
    await t.rejects(compareWorkspaces({ from, to }), { message: /value/, code: '42703' });
  });

  t.test('what a copy might lose is refused, with the cure', async (t) => {
    const [from, to] = [await workspaceOf(t), await postgresStore(t)];
    const other = testFolder(t);
    const refused = (options: CopyOptions, code: string, message: RegExp): Promise<unknown> => t.rejects(copyWorkspace(options), { code, message });
    await refused({ from, to: other }, 'INVALID_REQUEST', /^to must be a database.*cp -a/);
    await refused({ from: join(other, 'none'), to }, 'INVALID_REQUEST', /^from has no workspace/);
    await t.rejects(compareWorkspaces({ from, to }), { code: 'INVALID_REQUEST', message: /^to has no workspace/ });
    const server = await openStore({ workspace: from, bus: createBus(), now: Date.now, onLost: async () => undefined });
    await refused({ from, to }, 'WORKSPACE_BUSY', new RegExp(`is in use by process ${process.pid} .*; end it, and copy again\\.$`));
    await server.close();
    await copyWorkspace({ from, to });
    await refused({ from: other, to }, 'NAME_TAKEN', /holds a copy of .*Copy into a schema that is empty or new/);
    await refused({ from: to, to }, 'INVALID_REQUEST', /^to is the source itself/);
    await refused({ from: to, to: from }, 'NAME_TAKEN', /holds a workspace that is no unused copy of the source.*Copy into an empty folder/);
    await ask(to, "delete from bh.setting where key = 'copy'");
    await refused({ from, to }, 'NAME_TAKEN', /no unused copy of the source/);
  });
});

/** As a server reads it. */
async function spendOf(workspace: string): Promise<unknown> {
  const store = await openStore({ workspace, bus: createBus(), now: Date.now, onLost: async () => undefined });
  try {
    const rounded = (usd: number): number => Math.round(usd * 1e6);
    const blocks = ['ada', 'bob', 'cleo', 'eve'].map(async (name) => {
      const [spend] = await store.ledger.spend(name, [NOW - 86_400_000]);
      const calls: string[] = [];
      for await (const { id } of store.ledger.newestFirst(name, 0)) calls.push(id ?? '');
      return [name, rounded(spend.usd), spend.tokens, calls.filter((id) => id !== '' && !id.startsWith('line-'))];
    });
    const { day, month } = await store.gateway.spent('key', 'app');
    const { calls } = (await store.gateway.spent('group', 'team')).day;
    return [await Promise.all(blocks), [day, month].map((sums) => [rounded(sums.usd), sums.tokens, sums.calls, sums.unpricedCalls]), calls];
  } finally {
    await store.gateway.close();
    await store.close();
  }
}
