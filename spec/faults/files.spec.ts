// Names, paths, damaged and hostile files (group C).
//
// Held elsewhere, because a process can't be brought there from outside:
// C46 The temporary name has 64 random bits and is opened exclusively: spec/core/store/files/atomic-file.spec.ts.
// C49 A path too long for the system: spec/core/store/files/block/block-folders.spec.ts.
// C55 The clock is injected: spec/core/block/conversation/chat-file.spec.ts, spec/core/block/operations-chat.spec.ts.
// C48 on a file system that is blind to case: upper case is refused, so that no two names can share a folder (C41).
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { callsOf, makeBlock, untilHistory } from '../support/fault-calls.ts';
import { sharedFaultWorld } from '../support/fault-world.ts';
import { sweep } from '../support/sweep.ts';
import { until } from '../support/until.ts';

const world = await sharedFaultWorld();
const ask = callsOf(world);
const blocksFolder = join(world.workspace, 'blocks');
const foldersOf = (): string[] => readdirSync(blocksFolder).sort();

t.test('C41 C48 a name that leads elsewhere, or looks like another, makes nothing', async (t) => {
  await makeBlock(t, ask, 'honest');
  const names = ['..', '.', '', 'a/b', 'a\\b', '%2e%2e%2f', 'a\0b', 'x'.repeat(33), 'x'.repeat(256), 'Ada', 'con', 'nul', 'com1', 'a.', ' a', '-a'];
  const odd = ['_archive', '__proto__', 'constructor ', 'caf\u00e9', 'cafe\u0301', '🙂', 'a\u202eb', 'a\nb', '<img onerror=1>'];
  for (const name of [...names, ...odd]) {
    t.equal((await ask('POST', '/api/blocks', { name })).status, 400, JSON.stringify(name));
    // A page of the API is another thing than its block.
    if (name === '' || name === '.' || name === '..') continue;
    const status = (await ask('GET', `/api/blocks/${encodeURIComponent(name)}`)).status;
    t.ok(status === 400 || status === 404, `${JSON.stringify(name)} in a path: ${status}`);
  }
  t.strictSame(foldersOf(), ['honest']);
  await world.check(t, 'C41');
});

t.test('C42 names of archives that lead elsewhere find nothing and touch nothing', async (t) => {
  const before = readFileSync(join(world.workspace, 'auth.json'), 'utf8');
  for (const name of ['../../auth.json', '..', '.', '/etc/passwd', 'honest-20991231T000000Z', '__proto__', '%00', '..%2fauth.json']) {
    for (const [method, path] of [
      ['POST', `/api/archive/${encodeURIComponent(name)}/restore`],
      ['DELETE', `/api/archive/${encodeURIComponent(name)}`],
    ] as const) {
      const { status } = await ask(method, path, method === 'POST' ? {} : undefined);
      t.ok([400, 404, 405].includes(status), `${method} ${name}: ${status}`);
    }
  }
  t.equal(readFileSync(join(world.workspace, 'auth.json'), 'utf8'), before);
  t.strictSame(foldersOf(), ['honest']);
  await world.check(t, 'C42');
});

t.test('C44 a link in the place of a block is no block, and what it leads to is left alone', async (t) => {
  const outside = t.testdir({ 'config.json': '{"name":"evil"}', precious: 'yes' });
  symlinkSync(outside, join(blocksFolder, 'evil'));
  t.notMatch((await ask('GET', '/api/blocks')).text, 'evil');
  for (const method of ['GET', 'DELETE']) t.equal((await ask(method, '/api/blocks/evil')).status, 404, method);
  t.equal(readFileSync(join(outside, 'precious'), 'utf8'), 'yes');
  rmSync(join(blocksFolder, 'evil'));
  await world.check(t, 'C44');
});

t.test('C47 a config.json that is no file, or a huge one, flags its block and holds up nobody', async (t) => {
  await makeBlock(t, ask, 'odd');
  const config = join(blocksFolder, 'odd', 'config.json');
  const good = readFileSync(config);
  const places: [what: string, put: () => void][] = [
    ['a folder', () => mkdirSync(config)],
    ['a pipe', () => void execFileSync('mkfifo', [config])],
    ['a device', () => symlinkSync('/dev/zero', config)],
    [
      'five gigabytes of nothing',
      () => {
        writeFileSync(config, '');
        truncateSync(config, 5 * 1024 ** 3);
      },
    ],
  ];
  for (const [what, put] of places) {
    rmSync(config, { recursive: true, force: true });
    put();
    t.match(await ask('GET', '/api/blocks/odd'), { status: 409, json: { code: 'BLOCK_DAMAGED', error: /config\.json/ } }, what);
    t.equal((await ask('GET', '/api/blocks/honest')).status, 200, `${what}: the other one is served`);
    t.match((await ask('GET', '/api/blocks')).json.blocks, [{ name: 'honest' }, { name: 'odd', status: 'ERROR' }], what);
  }
  rmSync(config, { recursive: true, force: true });
  writeFileSync(config, good);
  t.equal((await ask('GET', '/api/blocks/odd')).status, 200, 'after the repair it is served, without a restart');
  await world.check(t, 'C47');
});

t.test('C50 a folder that is taken away while its monitor runs, and brought back, is served again', async (t) => {
  await makeBlock(t, ask, 'moved');
  t.equal((await ask('POST', '/api/blocks/moved/start')).status, 200);
  renameSync(join(blocksFolder, 'moved'), join(world.workspace, 'elsewhere'));
  const gone = await ask('POST', '/api/blocks/moved/chat', { message: 'are you there?' });
  t.ok([404, 409].includes(gone.status), `${gone.status}: ${gone.text}`);
  t.notOk(foldersOf().includes('moved'), 'and is not made anew');
  t.equal((await ask('GET', '/api/blocks/honest')).status, 200);
  renameSync(join(world.workspace, 'elsewhere'), join(blocksFolder, 'moved'));
  await ask('POST', '/api/blocks/moved/start');
  t.equal((await ask('POST', '/api/blocks/moved/chat', { message: 'and now?' })).status, 200);
  await untilHistory(ask, 'moved', 'it answers', (entries) => entries.some(({ role }) => role === 'assistant'));
  await world.check(t, 'C50');
});

t.test('C51 C52 of very many logs with hostile names the twenty newest are given, each cut', async (t) => {
  await makeBlock(t, ask, 'logged');
  const logs = join(blocksFolder, 'logged', 'logs');
  mkdirSync(logs, { recursive: true });
  for (let i = 0; i < sweep(5000, 500); i += 1) writeFileSync(join(logs, `20261120-${String(i).padStart(6, '0')}-monitor.log`), 'INFO a line\n');
  const huge = join(logs, '20261121-000000-monitor.log');
  writeFileSync(huge, 'INFO the beginning\n');
  truncateSync(huge, 2 * 1024 ** 3);
  for (const name of ['a\nb.log', '<script>.log', '..log', '\u202e.log', '-rf.log']) writeFileSync(join(logs, name), 'INFO x\n');
  writeFileSync(Buffer.concat([Buffer.from(`${logs}/`), Buffer.from([0xff, 0xfe]), Buffer.from('.log')]), 'INFO y\n');
  const { status, text, json } = await ask('GET', '/api/blocks/logged/logs');
  t.equal(status, 200);
  t.ok(json.logs.length <= 20, `${json.logs.length} logs`);
  t.ok(text.length < 4 * 1024 * 1024, `${text.length} characters`);
  t.ok((json.logs as { file: string }[]).every(({ file }) => !/\p{Cc}/u.test(file)));
  rmSync(logs, { recursive: true });
  await world.check(t, 'C51');
});

t.test(
  'C53 each file of a block, damaged in each way, flags it, is kept as it is and never replaced; a repair is seen; what is derived begins anew',
  async (t) => {
    await makeBlock(t, ask, 'hurt');
    await ask('POST', '/api/blocks/hurt/chat', { message: 'remember this' });
    await ask('POST', '/api/blocks/hurt/memory/facts', { text: 'a fact' });
    const folder = join(blocksFolder, 'hurt');
    for (const file of ['config', 'memory', 'costs', 'pulse', 'chat']) {
      const path = join(folder, `${file}.json`);
      const good = readFileSync(path);
      for (const [what, bytes] of [
        ['empty', ''],
        ['half', good.subarray(0, good.length / 2)],
        ['null', 'null'],
        ['an array', '[]'],
        ['with a tail', Buffer.concat([good, Buffer.from('}')])],
      ] as const) {
        if (file === 'chat' && what === 'an array') continue; // a conversation without messages
        writeFileSync(path, bytes);
        const found = await ask('GET', '/api/blocks/hurt');
        if (file === 'pulse' || file === 'costs') t.equal(found.status, 200, `${file}, ${what}: it begins anew`);
        else {
          t.match(found, { status: 409, json: { code: 'BLOCK_DAMAGED', error: new RegExp(`${file}\\.json`) } }, `${file}, ${what}`);
          t.ok(readFileSync(path).equals(Buffer.from(bytes)), `${file}, ${what}: not replaced`);
        }
        t.equal((await ask('GET', '/api/blocks/honest')).status, 200, `${file}, ${what}: the other one is served`);
      }
      writeFileSync(path, good);
      t.equal((await ask('GET', '/api/blocks/hurt')).status, 200, `${file}: repaired`);
    }
    t.match((await ask('GET', '/api/blocks/hurt/chat')).json.messages, [{ content: 'remember this' }]);
    await until('nothing is under way any more', () => readdirSync(folder).every((name) => !name.endsWith('.tmp')));
    await world.check(t, 'C53');
  },
);
