import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { Moves } from '../../../core/block/operations-archive.ts';
import { Tenure } from '../../../core/block/tenure.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import type { Claim } from '../../../core/store/claim.ts';
import { isTemporaryName } from '../../../core/store/files/atomic-file.ts';
import { packFolder } from '../../../core/store/files/bundle/bundle.ts';
import { endAnswer, RUNNABLE, type StartedCore, sendPiece, startCore } from '../../support/blocks.ts';
import { withoutRights } from '../../support/nobody.ts';
import { testFolder } from '../../support/test-folder.ts';
import { holdFolderSyncs, refuseToSyncFolders } from '../../support/unconfirmed-folders.ts';
import { until } from '../../support/until.ts';

function archiveJson({ workspace }: StartedCore, archiveName: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(workspace, 'archive', archiveName, 'archive.json'), 'utf8')) as Record<string, unknown>;
}

/** Everything in the files of a block, but what the server itself writes anew. */
function contentsOf({ readJson }: StartedCore, name: string): unknown {
  const { updatedAt: _at, rev: _rev, enabled: _enabled, name: _name, ...config } = readJson(name, 'config');
  return { config, memory: readJson(name, 'memory'), costs: readJson(name, 'costs'), chat: readJson(name, 'chat') };
}

t.test('a block is archived and restored with all its files, and is then stopped', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, description: 'd', mine: 1 });
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  await one.blocks.addFact('ada', { text: 'x' });
  const before = contentsOf(one, 'ada');
  const { archiveName } = await one.blocks.archive('ada');
  t.match(archiveName, /^ada_\d{4}-\d{2}-\d{2}T[\d-]+Z$/);
  t.same(await one.blocks.list(), []);
  await t.rejects(one.blocks.details('ada'), { code: 'BLOCK_NOT_FOUND' });
  const info = { archiveName, originalName: 'ada', description: 'd', wasRunning: true, queuedMessages: 0, totals: { calls: 1, totalInput: 3, totalOutput: 2 } };
  t.match(await one.blocks.archives(), [info]);
  t.match(archiveJson(one, archiveName), { ...info, sizeBytes: Number, files: Number });
  t.same(await one.blocks.restore('ada'), { name: 'ada' });
  t.same(contentsOf(one, 'ada'), before);
  t.match(await one.blocks.list(), [{ name: 'ada', state: 'stopped', config: { enabled: false } }]);
  t.same(await one.blocks.archives(), []);
  t.match(one.factsOf('block.archived'), [{ block: 'ada', archiveName }]);
  t.match(one.factsOf('block.restored'), [{ block: 'ada', archiveName }]);
  t.same(one.factsOf('workspace.fault'), []);
  await one.blocks.start('ada');
  t.match(await one.ask('ada', 'again'), { content: 'You said: again' });
});

t.test('waiting messages are counted, and still wait after the restore', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  for (const message of ['1', '2']) await one.blocks.post('ada', { message }, 'web');
  const { archiveName } = await one.blocks.archive('ada');
  t.match(archiveJson(one, archiveName), { queuedMessages: 2, wasRunning: false });
  await one.blocks.restore(archiveName);
  t.match(await one.blocks.list(), [{ queue: 2 }]);
});

t.test('a block can be restored under another name, and its spending follows it', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  await one.blocks.archive('ada');
  await one.create('ada');
  await t.rejects(one.blocks.restore('ada'), { code: 'NAME_TAKEN', status: 409 });
  t.same(await one.blocks.restore('ada', { name: 'bob' }), { name: 'bob' });
  t.equal(one.readJson('bob', 'config').name, 'bob');
  t.match(await one.blocks.details('bob'), { costs: { calls: 1 } });
  t.ok(readFileSync(join(one.workspace, 'ledger.jsonl'), 'utf8').includes('bob'));
  for (const name of ['../x', 'A', 'con', '']) await t.rejects(one.blocks.restore('ada', { name }), { code: 'INVALID_REQUEST' });
  await t.rejects(one.blocks.restore('ada', { other: 1 } as object), { code: 'INVALID_REQUEST' });
});

t.test('an original name of several archives is ambiguous, and each is found by its archive name', async (t) => {
  const one = await startCore(t);
  const names: string[] = [];
  for (let n = 0; n < 2; n += 1) {
    await one.create('ada');
    names.push((await one.blocks.archive('ada')).archiveName);
  }
  for (const call of [() => one.blocks.restore('ada'), () => one.blocks.purge('ada')] as (() => Promise<unknown>)[]) {
    const error = await call().catch((reason: Error & { code: string }) => reason);
    t.match(error, { code: 'AMBIGUOUS_ARCHIVE', status: 409 });
    for (const name of names) t.ok((error as Error).message.includes(name));
  }
  t.same(await one.blocks.purge(names[0] as string), { archiveName: names[0] });
  t.same(await one.blocks.purge('ada'), { archiveName: names[1] });
  t.same(await one.blocks.archives(), []);
  t.same(readdirSync(join(one.workspace, 'archive')), []);
  t.equal(one.factsOf('archive.removed').length, 2);
  await t.rejects(one.blocks.purge('ada'), { code: 'ARCHIVE_NOT_FOUND', status: 404 });
});

t.test('names that are no archive find nothing and touch nothing', async (t) => {
  const one = await startCore(t, { files: { 'auth.json': '{"kept":{}}' } });
  await one.create('ada');
  for (const name of [
    '../../auth.json',
    '../auth.json',
    '..',
    '.',
    '',
    '/etc',
    join(one.workspace, 'auth.json'),
    '../blocks/ada',
    'ada_1999-01-01T00-00-00-000Z',
  ]) {
    await t.rejects(one.blocks.restore(name), { code: 'ARCHIVE_NOT_FOUND' }, name);
    await t.rejects(one.blocks.purge(name), { code: 'ARCHIVE_NOT_FOUND' }, name);
  }
  t.ok(existsSync(join(one.workspace, 'auth.json')));
  t.match(await one.blocks.list(), [{ name: 'ada' }]);
});

t.test('a link in place of a block is no block', async (t) => {
  const outside = testFolder(t, { target: { 'config.json': '{"name":"evil"}', 'chat.json': '[]' }, workspace: {} });
  const one = await startCore(t, { workspace: join(outside, 'workspace') });
  symlinkSync(join(outside, 'target'), one.folder('evil'));
  t.same(await one.blocks.list(), []);
  for (const call of [
    () => one.blocks.archive('evil'),
    () => one.blocks.details('evil'),
    () => one.blocks.post('evil', { message: 'x' }, 'web'),
  ] as (() => Promise<unknown>)[])
    await t.rejects(call(), { code: 'BLOCK_NOT_FOUND' });
  await t.rejects(one.blocks.create({ name: 'evil' }), { code: 'NAME_TAKEN' });
  t.same(readdirSync(join(outside, 'target')).sort(), ['chat.json', 'config.json']);
});

t.test('a running monitor is stopped before the move, and its reply is kept', async (t) => {
  let end = (): void => undefined;
  const one = await startCore(t, {
    answer: (_request, res) => {
      sendPiece(res, 'so far');
      end = () => endAnswer(res);
    },
  });
  await one.create('ada');
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  await one.upstream.arrived(0);
  const gone: string[] = [];
  one.blocks.follow('ada', { onGone: () => void gone.push('ada') });
  const archived = one.blocks.archive('ada');
  await one.told('block.transitioned', { to: 'stopping' });
  t.ok(existsSync(one.folder('ada')), 'nothing moves while a monitor runs');
  end();
  const { archiveName } = await archived;
  t.match(archiveJson(one, archiveName), { wasRunning: true, queuedMessages: 0 });
  const chat = JSON.parse(readFileSync(join(one.workspace, 'archive', archiveName, 'chat.json'), 'utf8'));
  t.match(chat, [{ status: 'done' }, { status: 'done', content: 'so far' }]);
  t.same(gone, ['ada']);
  await one.core.close();
  t.notOk(existsSync(one.folder('ada')), 'and no folder is born again');
});

t.test('messages that arrive during a move are kept or refused, never lost', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const posts = Array.from({ length: 50 }, (_, n) => one.blocks.post('ada', { message: `${n}` }, 'web'));
  const archived = one.blocks.archive('ada');
  const more: typeof posts = [];
  while (existsSync(one.folder('ada'))) {
    more.push(one.blocks.post('ada', { message: 'late' }, 'web'));
    await new Promise(setImmediate);
  }
  const results = await Promise.allSettled([...posts, ...more]);
  const { archiveName } = await archived;
  const kept = (JSON.parse(readFileSync(join(one.workspace, 'archive', archiveName, 'chat.json'), 'utf8')) as { id: string }[]).map(({ id }) => id);
  const refusals = new Set(results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code as string] : [])));
  for (const code of refusals) t.match(code, /^(WRONG_STATE|BLOCK_NOT_FOUND|QUEUE_FULL)$/);
  for (const result of results) {
    if (result.status === 'fulfilled' && !kept.includes(result.value.id)) t.fail(`${result.value.id} was acknowledged and is lost`);
  }
  t.ok(kept.length >= 50);
  t.notOk(existsSync(one.folder('ada')));
});

t.test('callers that archive a block at the same time get the same answer', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => one.blocks.archive('ada')));
  const names = new Set(results.map((result) => (result.status === 'fulfilled' ? result.value.archiveName : result.reason.code)));
  names.delete('BLOCK_NOT_FOUND');
  t.equal(names.size, 1);
  t.equal((await one.blocks.archives()).length, 1);
  t.equal(one.factsOf('block.archived').length, 1);
});

t.test('a new block may take the name at once', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, description: 'old' });
  await one.blocks.post('ada', { message: 'old' }, 'web');
  const archived = one.blocks.archive('ada');
  await until('the name is free', () => !existsSync(one.folder('ada')));
  await Promise.all([archived, one.create('ada', { ...RUNNABLE, description: 'new' })]);
  t.same(await one.blocks.history('ada'), []);
  t.match(await one.blocks.config('ada'), { description: 'new' });
  await one.blocks.start('ada');
  t.match(await one.ask('ada', 'hi'), { content: 'You said: hi' });
});

t.test('a damaged block can be archived, and restored once it is repaired', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const config = one.readText('ada', 'config');
  one.write('ada', 'config', '{"half":');
  const { archiveName } = await one.blocks.archive('ada');
  t.match(await one.blocks.archives(), [{ archiveName, originalName: 'ada', wasRunning: false }]);
  await t.rejects(one.blocks.restore('ada'), {
    code: 'BLOCK_DAMAGED',
    message: new RegExp(`archive/${archiveName}/config\\.json can't be used: it is not valid JSON`),
  });
  t.equal((await one.blocks.archives()).length, 1);
  writeFileSync(join(one.workspace, 'archive', archiveName, 'config.json'), '[]');
  await t.rejects(one.blocks.restore('ada'), { code: 'BLOCK_DAMAGED', message: /it has no name/ });
  writeFileSync(join(one.workspace, 'archive', archiveName, 'config.json'), config);
  await one.blocks.restore('ada');
  t.match(await one.blocks.list(), [{ name: 'ada', status: 'SLEEPING' }]);
});

t.test('a block that was archived has left this server, and one whose move fails has not', async (t) => {
  const claim: Claim = { name: 'ada', block: 1, owner: 'me', fence: 1 };
  const told: unknown[] = [];
  let fails = true;
  const store = {
    archive: { store: async () => (fails ? Promise.reject(new Error('no')) : { archiveName: 'ada_1', unconfirmed: undefined }) },
    signals: { publish: () => () => void told.push('other servers get no more steps from here') },
  };
  const world = {
    store,
    now: Date.now,
    member: () => ({ isShared: true }),
    steps: { follow: () => undefined },
    bus: { emit: (type: string) => void told.push(type) },
  };
  const tenure = new Tenure({ ref: claim, world } as never);
  tenure.begin(claim);
  const block = {
    name: 'ada',
    claim,
    tenure,
    copies: { emptied: async () => undefined },
    stored: { measure: async () => ({}) },
    contents: async () => Promise.reject(new BlockhouseError('BLOCK_DAMAGED', 'no')),
    close: async () => undefined,
    reopen: () => void told.push('reopened'),
  };
  const moves = new Moves({ world, blocks: { forget: () => undefined } } as never);
  await t.rejects(moves.archive(block as never, false));
  t.equal(tenure.claim, claim);
  fails = false;
  await moves.archive(block as never, false);
  t.equal(tenure.claim, undefined);
  t.same(told, ['reopened', 'other servers get no more steps from here', 'block.archived']);
});

t.test('a failed move leaves an archive or a block usable where it was', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const archive = join(one.workspace, 'archive');
  renameSync(archive, `${archive}.away`);
  await t.rejects(one.blocks.archive('ada'), { code: 'STORAGE_FAILED' });
  await one.blocks.post('ada', { message: 'x' }, 'web');
  t.same(one.factsOf('block.archived'), []);
  renameSync(`${archive}.away`, archive);
  await one.blocks.archive('ada');
  const blocks = join(one.workspace, 'blocks');
  renameSync(blocks, `${blocks}.away`);
  await t.rejects(one.blocks.restore('ada'), { code: 'STORAGE_FAILED' });
  renameSync(`${blocks}.away`, blocks);
  await one.blocks.restore('ada');
  t.match(await one.blocks.history('ada'), [{ content: 'x' }]);
});

t.test('of several deletions or restores of one archive one succeeds, and the others get ARCHIVE_NOT_FOUND', async (t) => {
  const one = await startCore(t);
  for (let round = 0; round < 5; round += 1) {
    await one.create('ada', RUNNABLE);
    await one.blocks.archive('ada');
    const outcomes = await Promise.allSettled([
      one.blocks.purge('ada'),
      one.blocks.restore('ada'),
      one.blocks.purge('ada'),
      one.blocks.restore('ada', { name: 'bob' }),
    ]);
    t.equal(outcomes[0]?.status, 'fulfilled');
    for (const outcome of outcomes.slice(1)) t.match(outcome, { status: 'rejected', reason: { code: 'ARCHIVE_NOT_FOUND' } });
    t.same(await one.blocks.list(), []);
  }
});

t.test('the next start removes folders that a crash left unfinished', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.core.close();
  mkdirSync(one.folder('.new.0123456789abcdef.tmp', 'logs'), { recursive: true });
  mkdirSync(join(one.workspace, 'archive', '.ada_2026-11-20T14-03-22-123Z.0123456789abcdef.tmp'));
  writeFileSync(one.folder('ada', '.chat.json.0123456789abcdef.tmp'), 'half');
  const next = await startCore(t, { workspace: one.workspace });
  await next.blocks.list();
  t.same(readdirSync(join(one.workspace, 'blocks')), ['ada']);
  t.same(readdirSync(join(one.workspace, 'archive')), []);
  t.notOk(readdirSync(one.folder('ada')).some((name) => name.endsWith('.tmp')));
});

t.test('an import says which tools the block may call before anybody is asked', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, tools: { servers: ['block'], allow: ['block/*'] } });
  const { name, warnings } = await one.blocks.import(await one.blocks.export('ada'), 'bob');
  t.equal(name, 'bob');
  t.match(warnings, [{ field: 'config.tools.allow', message: /without asking you, by its rules block\/\*\..*config get bob tools/ }]);
});

t.test('a message of a bundle that names a key is answered at no cost of a key of that name here', async (t) => {
  const one = await startCore(t);
  await one.core.keys?.create('app', { tokensPerDay: 1000 });
  await one.create('ada');
  await one.blocks.postFromAgent('ada', { body: { message: 'hi' }, key: { name: 'app', hash: 'of elsewhere' } });
  await one.blocks.import(await one.blocks.export('ada'), 'bob');
  await one.blocks.start('bob');
  await one.told('block.transitioned', { block: 'bob', from: 'working', to: 'idle' });
  t.match(await one.blocks.history('bob'), [{ status: 'done', chain: [{ via: 'mcp' }] }, { content: 'You said: hi' }]);
  t.match(await one.core.accounts?.spentToday('app'), { tokens: 0 });
});

t.test('a block is exported and imported, under its own or another name, stopped', async (t) => {
  const folders = testFolder(t, { one: {}, other: {} });
  const one = await startCore(t, { workspace: join(folders, 'one') });
  await one.create('ada', { ...RUNNABLE, mine: 1 });
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  await one.told('block.transitioned', { from: 'working', to: 'idle' });
  const bundle = await one.blocks.export('ada');
  await one.blocks.stop('ada');
  await t.rejects(one.blocks.import(bundle), { code: 'NAME_TAKEN' });
  t.same(await one.blocks.import(bundle, 'bob'), { name: 'bob', warnings: [] });
  t.same(contentsOf(one, 'bob'), contentsOf(one, 'ada'));
  t.match(await one.blocks.config('bob'), { name: 'bob', enabled: false });
  const other = await startCore(t, { workspace: join(folders, 'other') });
  t.same(await other.blocks.import(bundle), { name: 'ada', warnings: [] });
  t.match(await other.blocks.history('ada'), [{ content: 'hi' }, { content: 'You said: hi' }]);
  t.match(other.factsOf('block.created'), [{ block: 'ada' }]);
  await t.rejects(one.blocks.export('nobody'), { code: 'BLOCK_NOT_FOUND' });
});

t.test('two imports are unpacked at a time, and imports that still wait when the server ends are refused', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const bundle = await one.blocks.export('ada');
  const names = Array.from({ length: 12 }, (_, n) => `copy-${n}`);
  const imports = Promise.all(names.map((name) => one.blocks.import(bundle, name)));
  let most = 0;
  const looking = setInterval(() => {
    most = Math.max(most, readdirSync(join(one.workspace, 'blocks')).filter((name) => isTemporaryName(name)).length);
  }, 0);
  await imports;
  clearInterval(looking);
  t.ok(most <= 2, `${most} at a time`);
  t.equal((await one.blocks.list()).length, 13);
  const late = names.map((name) => one.blocks.import(bundle, `${name}-late`));
  const results = Promise.allSettled(late);
  await one.core.close();
  const refused = (await results).filter((result) => result.status === 'rejected');
  t.ok(refused.length > 0);
  for (const { reason } of refused) t.match(reason, { code: 'SHUTTING_DOWN' });
});

t.test('a bundle that holds no block is not imported and leaves nothing behind', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const good = await one.blocks.export('ada');
  await one.blocks.archive('ada');
  const tar = gunzipSync(good).toString('latin1');
  const changed = (from: string, to: string) => new Uint8Array(gzipSync(Buffer.from(tar.replace(from, to), 'latin1')));
  t.ok(tar.includes('"name": "ada"'));
  const bad: [Uint8Array, string | undefined][] = [
    [new Uint8Array(0), undefined],
    [new Uint8Array([1, 2, 3]), undefined],
    [good.subarray(0, good.length / 2), undefined],
    [changed('"name": "ada"', '"name": "ADA"'), undefined],
    [changed('"name": "ada"', '"name": "con"'), undefined],
    [changed('"name": "ada"', '"nome": "ada"'), undefined],
    [changed('"tags": []', '"tags": {}'), undefined],
    [changed('"tags": []', '"tags": [['), undefined],
    [good, '../x'],
    [good, 'con'],
  ];
  for (const [bundle, name] of bad) await t.rejects(one.blocks.import(bundle, name), { code: 'INVALID_REQUEST', status: 400 });
  t.same(readdirSync(join(one.workspace, 'blocks')), []);
  t.same(await one.blocks.import(changed('"tags": []', '"tags": []')), { name: 'ada', warnings: [] });
});

t.test('the error about a bundle with an unusable file names the file', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  for (const name of ['logs', 'chat-archive']) rmSync(one.folder('ada', name), { recursive: true });
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const sound = Object.fromEntries(['config', 'memory', 'costs', 'pulse', 'chat'].map((file) => [`${file}.json`, one.readText('ada', file)]));
  const bad: [string, string, RegExp][] = [
    ['memory.json', 'null', /it must be an object/],
    ['chat.json', '[{"role":"user"}]', /\[0\]/],
    ['chat.json', `[${'0,'.repeat(300_000)}0]`, /more than 200000 fields and elements/],
    ['pulse.json', '{', /not valid JSON/],
    ...Object.keys(sound).map((file): [string, string, RegExp] => [file, `{"name":"bob","mine":${deep}}`, /nests deeper than 100 levels/]),
  ];
  for (const [file, text, problem] of bad) {
    const bundle = await packFolder(one.folder('ada'), 'ada', { ...sound, [file]: text });
    const message = new RegExp(`^The ${file} in the archive can't be used: .*${problem.source}`);
    await t.rejects(one.blocks.import(bundle, 'bob'), { code: 'INVALID_REQUEST', message }, `${file} ${problem}`);
  }
  t.same(readdirSync(join(one.workspace, 'blocks')), ['ada']);
  t.same(await one.blocks.import(await packFolder(one.folder('ada'), 'ada', { 'config.json': sound['config.json'] ?? '' }), 'bob'), {
    name: 'bob',
    warnings: [],
  });
});

const MOVES: readonly [string, (one: StartedCore, archiveName: string, bundle: Uint8Array) => Promise<unknown>][] = [
  ['a restore', ({ blocks }, archiveName) => blocks.restore(archiveName)],
  ['a deletion', ({ blocks }, archiveName) => blocks.purge(archiveName)],
  ['an archive', ({ blocks }) => blocks.archive('bob')],
  ['an import', ({ blocks }, _archiveName, bundle) => blocks.import(bundle, 'cyn')],
  ['a new block', ({ blocks }) => blocks.create({ name: 'dan' })],
];

for (const [what, move] of MOVES) {
  t.test(`the end of the server waits for ${what} that is under way`, async (t) => {
    const one = await startCore(t);
    for (const name of ['ada', 'bob']) await one.create(name);
    const bundle = await one.blocks.export('bob');
    const { archiveName } = await one.blocks.archive('ada');
    const disk = await holdFolderSyncs(t);
    const order: string[] = [];
    const moved = move(one, archiveName, bundle).then(() => order.push('moved'));
    await disk.reached();
    const closed = one.core.close().then(() => order.push('closed'));
    await Promise.race([closed, delay(100)]); // time to be wrong in
    disk.release();
    await Promise.all([moved, closed]);
    t.same(order, ['moved', 'closed']);
  });
}

t.test('while the server ends, a restored block does not start, and a waiting restore is refused', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob']) {
    await one.create(name, { ...RUNNABLE, autoStart: true });
    await one.blocks.archive(name);
  }
  const { blocks } = one;
  const disk = await holdFolderSyncs(t);
  const restored = blocks.restore('ada');
  const next = t.rejects(blocks.restore('bob'), { code: 'SHUTTING_DOWN' });
  await disk.reached();
  const started = t.rejects(blocks.start('ada'), { code: 'SHUTTING_DOWN', status: 503 });
  const posted = blocks.post('ada', { message: 'waits' }, 'web');
  const closed = one.core.close();
  await t.rejects(blocks.import(new Uint8Array()), { code: 'SHUTTING_DOWN' });
  disk.release();
  t.same(await restored, { name: 'ada' });
  t.match(await posted, { queued: true, running: false });
  await Promise.all([started, next, closed]);
  t.same(one.factsOf('block.transitioned'), []);
  t.match(one.readJson('ada', 'config'), { enabled: false });
  t.match(one.readJson('ada', 'chat'), [{ content: 'waits', status: 'queued' }], 'what was acknowledged is there');
  t.same(readdirSync(join(one.workspace, 'blocks')), ['ada']);
});

t.test('after a failed move the monitor and its log go on as before', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob']) await one.create(name);
  await one.blocks.start('ada');
  await one.ask('ada', 'one');
  const archive = join(one.workspace, 'archive');
  renameSync(archive, `${archive}.away`);
  writeFileSync(archive, '');
  for (const name of ['ada', 'bob']) await t.rejects(one.blocks.archive(name), { code: 'STORAGE_FAILED', message: /ENOTDIR.*Nothing was changed/ });
  renameSync(`${archive}.away`, `${archive}.again`);
  t.match(await one.ask('ada', 'two'), { content: 'You said: two' });
  t.match(await one.blocks.details('ada'), { config: { enabled: true }, pulse: { desired: 'running' } });
  t.equal((await one.blocks.counts()).monitorsRunning, 1, 'and the one that was stopped stays stopped');
  const begun = (await one.blocks.logs('ada')).flatMap(({ content }) => content.match(/monitor\.started/g) ?? []);
  t.equal(begun.length, 2);
});

t.test('a failed move does not start a monitor that a person has stopped meanwhile', async (t) => {
  let end = (): void => undefined;
  const one = await startCore(t, {
    answer: (_request, res) => {
      sendPiece(res, 'so far');
      end = () => endAnswer(res);
    },
  });
  await one.create('ada');
  await one.blocks.start('ada');
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  await one.upstream.arrived(0);
  renameSync(join(one.workspace, 'archive'), join(one.workspace, 'archive.away'));
  const stopped = one.blocks.stop('ada');
  await one.told('block.transitioned', { to: 'stopping' });
  const archived = t.rejects(one.blocks.archive('ada'), { code: 'STORAGE_FAILED' });
  end();
  await Promise.all([stopped, archived]);
  t.equal((await one.blocks.counts()).monitorsRunning, 0);
  t.match(one.readJson('ada', 'config'), { enabled: false });
});

t.test('a block moves only after its export, so that a bundle is complete', async (t) => {
  const one = await startCore(t);
  for (let round = 0; round < 10; round += 1) {
    const name = `b${round}`;
    await one.create(name);
    await one.blocks.post(name, { message: 'x'.repeat(1000) }, 'web');
    const exported = one.blocks.export(name);
    for (let turn = 0; turn < round; turn += 1) await new Promise(setImmediate);
    const archived = one.blocks.archive(name);
    const bundle = await exported;
    await archived;
    await one.blocks.import(bundle, `copy-${round}`);
    t.match(await one.blocks.history(`copy-${round}`), [{ content: /^x{1000}$/ }]);
  }
});

t.test('a move that the disk does not confirm is reported like any other, and the error says so', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  const gone: string[] = [];
  one.blocks.follow('ada', { onGone: () => void gone.push('ada') });
  await refuseToSyncFolders(t, join(one.workspace, 'blocks'));
  await t.rejects(one.blocks.archive('ada'), { code: 'STORAGE_FAILED', message: /^The change was made, but the disk did not confirm it \(EIO\)/ });
  t.same(gone, ['ada']);
  t.match(await one.blocks.archives(), [{ originalName: 'ada', wasRunning: true }]);
  t.match(one.factsOf('block.archived'), [{ block: 'ada', archiveName: String }]);
  t.equal((await one.blocks.counts()).monitorsRunning, 0);
  await t.rejects(one.blocks.restore('ada'), { code: 'STORAGE_FAILED', message: /^The change was made/ });
  t.match(one.factsOf('block.restored'), [{ block: 'ada' }]);
  t.match(await one.blocks.list(), [{ name: 'ada', state: 'stopped' }]);
});

t.test(
  'an archive that is deleted, but not whole, is gone, and the text says what is left',
  { skip: process.platform === 'win32' && 'needs POSIX' },
  async (t) => {
    const one = await startCore(t);
    await one.create('ada');
    const { archiveName } = await one.blocks.archive('ada');
    const archive = join(one.workspace, 'archive');
    await withoutRights(archive, join(archive, archiveName), () =>
      t.rejects(one.blocks.purge('ada'), { code: 'STORAGE_FAILED', message: new RegExp(`^${archiveName} was deleted, but some of its files.*EACCES`) }),
    );
    t.same(await one.blocks.archives(), []);
    t.match(one.factsOf('archive.removed'), [{ archiveName }]);
    await t.rejects(one.blocks.purge('ada'), { code: 'ARCHIVE_NOT_FOUND' });
  },
);

t.test('a new block that the disk does not confirm is reported like any other, and the error says so', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const bundle = await one.blocks.export('ada');
  await refuseToSyncFolders(t, join(one.workspace, 'blocks'));
  const told = { code: 'STORAGE_FAILED', message: /^The change was made, but the disk did not confirm it/ };
  await t.rejects(one.blocks.import(bundle, 'bob'), told);
  await t.rejects(one.blocks.create({ name: 'cyn' }), told);
  t.match(await one.blocks.list(), [{ name: 'ada' }, { name: 'bob' }, { name: 'cyn' }]);
  t.match(one.factsOf('block.created'), [{ block: 'ada' }, { block: 'bob' }, { block: 'cyn' }]);
});
