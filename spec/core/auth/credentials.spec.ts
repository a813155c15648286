import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CredentialStore } from '../../../core/auth/credentials.ts';
import { createBus } from '../../../core/bus.ts';

const CANARY = 'sk-canary-0123456789';
const STORED = { openai: { apiKey: CANARY }, ollama: { baseURL: 'http://127.0.0.1:1' } };

/** A store over a folder, under a clock that the test moves, with what it told the bus. */
function storeIn(workspace: string) {
  const bus = createBus();
  const told: string[] = [];
  bus.on('credentials.changed', () => told.push('changed'));
  bus.on('credentials.damaged', ({ file, reason }) => told.push(`damaged ${file} ${reason}`));
  const clock = { ms: 0 };
  const store = new CredentialStore(workspace, bus, () => clock.ms);
  return { store, told, path: join(workspace, 'auth.json'), later: () => (clock.ms += 1000) };
}

const withFile = (t: Test, content: unknown) => storeIn(t.testdir({ 'auth.json': typeof content === 'string' ? content : JSON.stringify(content) }));

const DAMAGED: [string, string][] = [
  ['empty', ''],
  ['torn', `{"openai":{"apiKey":"${CANARY}`],
  ['garbage at the end', `{"openai":{"apiKey":"${CANARY}"}} x`],
  ['a byte-order mark', `\ufeff{"openai":{"apiKey":"${CANARY}"}}`],
  ['null', 'null'],
  ['an array', `["${CANARY}"]`],
  ['a string', `"${CANARY}"`],
  ['10 MB', JSON.stringify({ openai: { apiKey: 'x'.repeat(10 * 1024 * 1024) } })],
];

/** Entries that no adapter can use, in a file that is sound. */
const BAD_ENTRIES: [string, string][] = [
  ['an entry that is a string', `{"openai":"${CANARY}"}`],
  ['a value that is a number', '{"openai":{"apiKey":5}}'],
  ['a value that is null', '{"openai":{"apiKey":null}}'],
  ['a value in a value', `{"openai":{"apiKey":{"key":"${CANARY}"}}}`],
];

t.test('entries are read as they stand, and a missing file is an empty one', async (t) => {
  const { store } = withFile(t, STORED);
  t.same(store.read('openai'), { apiKey: CANARY });
  t.same(store.ids(), ['openai', 'ollama']);
  for (const id of ['google', '__proto__', 'constructor', 'toString']) t.equal(store.read(id), undefined, id);
  t.same(storeIn(t.testdir({})).store.ids(), []);
});

t.test('making a store touches no disk', async (t) => {
  const { told, path } = storeIn(join(t.testdir({}), 'nowhere'));
  t.notOk(existsSync(path));
  t.same(told, []);
});

t.test('a file that never was good fails every use, names itself and shows nothing of its content', async (t) => {
  for (const [name, content] of DAMAGED) {
    const { store, told, path } = withFile(t, content);
    const uses: [string, () => unknown][] = [
      ['read', () => store.read('openai')],
      ['read of another', () => store.read('google')],
      ['ids', () => store.ids()],
    ];
    for (const [use, run] of uses) {
      t.throws(run, { code: 'ADAPTER_NOT_CONFIGURED', status: 503, message: new RegExp(`${path} can't be used`) }, `${use}, ${name}`);
      t.throws(run, { message: new RegExp(`^(?!.*${CANARY})`) }, `${use}, ${name}, without the key`);
    }
    await t.rejects(store.update('openai', { apiKey: 'new' }), { code: 'ADAPTER_NOT_CONFIGURED' }, name);
    await t.rejects(store.remove('openai'), { code: 'ADAPTER_NOT_CONFIGURED' }, name);
    t.equal(readFileSync(path, 'utf8'), content, `${name}: nothing was written`);
    t.equal(told.length, 1, `${name}: told once`);
    t.notMatch(told.join(), CANARY);
  }
});

t.test('a folder in the place of the file is damage, not absence', async (t) => {
  const { store } = storeIn(t.testdir({ 'auth.json': {} }));
  t.throws(() => store.read('openai'), { code: 'ADAPTER_NOT_CONFIGURED', message: /not a regular file/ });
});

t.test('a file damaged while running keeps the last good content in use, and is not written over', async (t) => {
  for (const [name, content] of DAMAGED) {
    const { store, told, path, later } = withFile(t, STORED);
    store.read('openai');
    writeFileSync(path, content);
    later();
    t.same(store.read('openai'), { apiKey: CANARY }, name);
    t.match(told, [/^damaged .*auth\.json/], name);
    await t.rejects(store.update('google', { apiKey: 'g' }), { code: 'ADAPTER_NOT_CONFIGURED' }, name);
    t.equal(readFileSync(path, 'utf8'), content, name);
    writeFileSync(path, JSON.stringify({ openai: { apiKey: 'repaired' } }));
    later();
    t.same(store.read('openai'), { apiKey: 'repaired' }, `${name}: repaired`);
    t.equal(told.at(-1), 'changed');
  }
});

t.test('a changed file is taken up within a second, a removed one is empty', async (t) => {
  const { store, told, path, later } = withFile(t, STORED);
  store.read('openai');
  writeFileSync(path, '{"openai":{"apiKey":"another"}}');
  later();
  t.same(store.read('openai'), { apiKey: 'another' });
  t.same(store.ids(), ['openai']);
  rmSync(path);
  later();
  t.same(store.ids(), []);
  t.same(told, ['changed', 'changed']);
});

t.test('an update changes the named fields and keeps everything else', async (t) => {
  const { store, path } = withFile(t, { ...STORED, openai: { apiKey: 'old', api: 'chat' }, stranger: { note: 'mine' } });
  await store.update('openai', { apiKey: 'new' });
  t.same(JSON.parse(readFileSync(path, 'utf8')), { openai: { apiKey: 'new', api: 'chat' }, ollama: STORED.ollama, stranger: { note: 'mine' } });
  t.same(store.read('openai'), { apiKey: 'new', api: 'chat' }, 'and is seen at once');
});

t.test('an update makes the workspace and the file, closed to others under every umask', async (t) => {
  const umask = process.umask(0);
  t.teardown(() => process.umask(umask));
  const workspace = join(t.testdir({}), 'deep', 'workspace');
  const { store, path } = storeIn(workspace);
  await store.update('openai', { apiKey: CANARY });
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.equal(statSync(workspace).mode & 0o777, 0o700);
  t.same(readdirSync(workspace), ['auth.json']);
});

t.test('updates at the same time are all kept', async (t) => {
  const { store, path } = withFile(t, {});
  const ids = Array.from({ length: 20 }, (_, n) => `adapter-${n}`);
  await Promise.all(ids.map((id) => store.update(id, { apiKey: id })));
  t.same(Object.keys(JSON.parse(readFileSync(path, 'utf8'))).sort(), ids.sort());
});

t.test('an update that fails does not stop the next one', async (t) => {
  const { store, path } = withFile(t, 'damaged');
  const failing = store.update('a', { apiKey: '1' });
  await t.rejects(failing, { code: 'ADAPTER_NOT_CONFIGURED' });
  writeFileSync(path, '{}');
  await store.update('a', { apiKey: '2' });
  t.same(store.read('a'), { apiKey: '2' });
});

t.test('removing says whether there was an entry', async (t) => {
  const { store, path } = withFile(t, STORED);
  t.equal(await store.remove('openai'), true);
  t.equal(await store.remove('openai'), false);
  t.same(JSON.parse(readFileSync(path, 'utf8')), { ollama: STORED.ollama });
});

t.test('the section of hooks is no entry that can be removed', async (t) => {
  const { store } = withFile(t, { hooks: { ada: { issues: 'secret' } } });
  t.equal(await store.remove('hooks'), false);
  t.equal(store.hookSecret('ada', 'issues'), 'secret');
});

t.test('a secret of a hook that is known to be of an earlier block of the name is none of the next one', async (t) => {
  const { store, path } = withFile(t, { hooks: { ada: { old: 'before' } } });
  t.equal(store.hookSecret('ada', 'old', 1), 'before', 'nothing is known of it');
  await store.setHookSecret('ada', 'issues', 'first', 1);
  t.same([store.hookSecret('ada', 'issues'), store.hookSecret('ada', 'issues', 1), store.hookSecret('ada', 'issues', 2)], ['first', 'first', undefined]);
  await store.setHookSecret('ada', 'other', 'second', 2);
  t.same(JSON.parse(readFileSync(path, 'utf8')), { hooks: { ada: { other: 'second', madeAt: 2 } } });
  await store.renameHooks('ada', 'bob');
  t.equal(store.hookSecret('bob', 'other', 2), 'second');
  await store.setHookSecret('bob', 'other', undefined);
  t.same(JSON.parse(readFileSync(path, 'utf8')), {});
});

t.test('a file that others may read is closed to them, also when it is damaged, and that is no change of it', async (t) => {
  for (const [name, content] of [['good', JSON.stringify(STORED)], ...DAMAGED.slice(1, 3)] as [string, string][]) {
    for (const open of [0o644, 0o660, 0o606]) {
      const { store, told, path, later } = withFile(t, content);
      chmodSync(path, open);
      const look = () => (name === 'good' ? t.same(store.read('openai'), { apiKey: CANARY }) : t.throws(() => store.read('openai')));
      look();
      t.equal(statSync(path).mode & 0o777, 0o600, `${name} ${open.toString(8)}`);
      later();
      look();
      t.equal(told.filter((fact) => fact === 'changed').length, 0, 'only content is a change');
    }
  }
});

t.test('a workspace that can not be made is an error of the update', async (t) => {
  const folder = t.testdir({ file: '' });
  mkdirSync(join(folder, 'w'));
  await t.rejects(storeIn(join(folder, 'file')).store.update('a', { apiKey: 'x' }));
});

t.test('a __proto__ entry is a name like any other', async (t) => {
  const { store, path } = withFile(t, '{"__proto__":{"polluted":"1"},"openai":{"__proto__":"x","apiKey":"k"}}');
  t.match(store.read('openai'), { apiKey: 'k' });
  await store.update('google', { apiKey: 'g' });
  t.equal(({} as Record<string, unknown>)['polluted'], undefined);
  t.match(readFileSync(path, 'utf8'), /"__proto__": \{\s+"polluted": "1"/);
});

t.test('an entry of the wrong form concerns its adapter alone, and stays in the file', async (t) => {
  const workspace = t.testdir({ 'auth.json': JSON.stringify({ note: 'mine', broken: { apiKey: 5 }, good: { apiKey: 'k' } }) });
  const store = new CredentialStore(workspace, createBus());
  t.same(store.read('good'), { apiKey: 'k' });
  t.throws(() => store.read('broken'), { code: 'ADAPTER_NOT_CONFIGURED', message: /broken\.apiKey must be a string/ });
  t.throws(() => store.read('note'), {
    code: 'ADAPTER_NOT_CONFIGURED',
    message: /^The entry note of .*auth\.json can't be used: it must be an object\. Repair it, or remove it: `blockhouse auth rm note`\.$/,
  });
  await store.update('good', { apiKey: 'k2' });
  t.same(JSON.parse(readFileSync(join(workspace, 'auth.json'), 'utf8')), { note: 'mine', broken: { apiKey: 5 }, good: { apiKey: 'k2' } });
  await t.rejects(store.update('broken', { apiKey: 'k' }), { code: 'ADAPTER_NOT_CONFIGURED' });
});

t.test('what is wrong with an entry is told without its content', async (t) => {
  for (const [name, content] of BAD_ENTRIES) {
    const { store } = withFile(t, content);
    t.throws(() => store.read('openai'), { code: 'ADAPTER_NOT_CONFIGURED', status: 503, message: /openai/ }, name);
    t.throws(() => store.read('openai'), { message: new RegExp(`^(?!.*${CANARY})`) }, name);
    t.equal(store.read('google'), undefined);
  }
});

t.test('a look at the file is enough to be told of a change', (t) => {
  const { store, told, path, later } = withFile(t, JSON.stringify(STORED));
  store.refresh();
  t.same(told, [], 'the first look is none');
  writeFileSync(path, '{"openai":{"apiKey":"another"}}');
  later();
  store.refresh();
  t.same(told, ['changed']);
  writeFileSync(path, '{');
  later();
  store.refresh();
  t.match(told, ['changed', /damaged/]);
  t.end();
});

/** A store whose provider has a key and an address. */
function boundStore(t: Test, content: unknown) {
  const workspace = t.testdir({ 'auth.json': JSON.stringify(content) });
  const settings = { apiKey: { secret: true }, baseURL: { default: 'https://one.example' } } as const;
  return { store: new CredentialStore(workspace, createBus(), undefined, () => settings), path: join(workspace, 'auth.json') };
}

t.test('no update takes a stored key to another origin, also when several come at once', async (t) => {
  const { store, path } = boundStore(t, { one: { apiKey: CANARY } });
  const moves = [{ baseURL: 'http://127.0.0.1:1' }, { baseURL: 'https://evil.example' }].map((fields) => store.update('one', fields));
  for (const move of moves) await t.rejects(move, { code: 'INVALID_REQUEST', message: /^apiKey is needed again.*(?!canary)/ });
  t.same(JSON.parse(readFileSync(path, 'utf8')), { one: { apiKey: CANARY } });
  t.same(await store.update('one', { baseURL: 'http://127.0.0.1:1', apiKey: 'new' }), { apiKey: CANARY });
  await store.remove('one');
  t.equal(await store.update('one', { baseURL: 'http://127.0.0.1:2' }), undefined);
});

t.test('an edit by hand may change an address and keep the key', async (t) => {
  const { store, path, later } = withFile(t, { openai: { apiKey: CANARY } });
  store.read('openai');
  writeFileSync(path, JSON.stringify({ openai: { apiKey: CANARY, baseURL: 'http://127.0.0.1:1' } }));
  later();
  t.same(store.read('openai'), { apiKey: CANARY, baseURL: 'http://127.0.0.1:1' });
});

t.test('what is taken back leaves no mixture: the entry comes back whole, or stays as somebody has changed it since', async (t) => {
  const { store } = boundStore(t, { one: { apiKey: CANARY } });
  const fields = { baseURL: 'http://127.0.0.1:1', apiKey: 'dummy' };
  const before = await store.update('one', fields);
  await store.takeBack('one', fields, before);
  t.same(store.read('one'), { apiKey: CANARY });

  await store.update('one', fields);
  const raced = [store.update('one', { baseURL: 'http://127.0.0.1:2', apiKey: 'dummy-2' }), store.takeBack('one', fields, before)];
  await Promise.all(raced);
  t.same(store.read('one'), { baseURL: 'http://127.0.0.1:2', apiKey: 'dummy-2' }, 'the old key did not come to the newer address');

  await store.remove('one');
  await store.takeBack('one', fields, before);
  t.equal(store.read('one'), undefined);
  await store.takeBack('one', {}, await store.update('one', {}));
  t.equal(store.read('one'), undefined, 'an entry that was new goes');
});
