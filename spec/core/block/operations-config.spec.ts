import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { RUNNABLE, startCore } from '../../support/blocks.ts';
import { scriptedAdapter } from '../../support/scripted-adapter.ts';

t.test('a new block is stopped, even with enabled in its configuration', async (t) => {
  const one = await startCore(t);
  t.same(await one.blocks.create({ name: 'ada', config: { ...RUNNABLE, description: 'd', enabled: true, rev: 9 } as object }), {
    name: 'ada',
    warnings: [{ field: 'config.enabled', message: 'A new block is stopped. To start it: blockhouse start ada' }],
  });
  t.match(await one.blocks.config('ada'), { name: 'ada', description: 'd', enabled: false, rev: 1, adapter: { provider: 'ollama', maxTokens: 4096 } });
  t.match(await one.blocks.details('ada'), { name: 'ada', pulse: { state: 'stopped' }, costs: { calls: 0 }, memory: { summary: '' } });
  t.same(await one.blocks.create({ name: 'bob' }), { name: 'bob', warnings: [] });
  t.match(await one.blocks.details('bob'), { config: { adapter: null }, pulse: { state: 'unconfigured', status: 'SLEEPING' } });
  t.same(one.factsOf('block.created'), [{ block: 'ada' }, { block: 'bob' }]);
  await t.rejects(one.blocks.create({ name: 'ada' }), { code: 'NAME_TAKEN', status: 409 });
});

t.test('a block whose folder was removed by hand leaves nothing to a new one with its name', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, description: 'old' });
  await one.blocks.start('ada');
  await one.ask('ada', 'hi');
  rmSync(one.folder('ada'), { recursive: true });
  await one.create('ada', { ...RUNNABLE, description: 'new' });
  t.match(await one.blocks.details('ada'), { config: { description: 'new' }, pulse: { state: 'stopped' }, costs: { calls: 0 } });
  await one.blocks.post('ada', { message: 'waits' }, 'web');
  t.match((await one.blocks.list())[0], { state: 'stopped', queue: 1 }, 'no monitor of the old one takes it');
  await one.blocks.start('ada');
  t.match(await one.ask('ada', 'again'), { content: 'You said: again' });
});

t.test('a bad name makes no block', async (t) => {
  const one = await startCore(t);
  const names = [
    '',
    '.',
    '..',
    'a/b',
    'a\\b',
    '%2e%2e%2f',
    'a\0',
    'x'.repeat(33),
    'x'.repeat(256),
    'A',
    'con',
    'a.',
    ' a',
    '-a',
    '_archive',
    '__proto__',
    '\u{1f600}',
  ];
  for (const name of names) {
    await t.rejects(one.blocks.create({ name }), { code: 'INVALID_REQUEST', status: 400, message: /1 to 32 characters/ }, name);
    for (const call of [() => one.blocks.details(name), () => one.blocks.archive(name), () => one.blocks.start(name)] as (() => Promise<unknown>)[])
      await t.rejects(call(), { code: 'BLOCK_NOT_FOUND', status: 404 }, name);
  }
  for (const body of [null, {}, { name: 5 }, { name: 'x'.repeat(257) }, { name: 'a', other: 1 }])
    await t.rejects(one.blocks.create(body as never), { code: 'INVALID_REQUEST' });
  t.same(readdirSync(join(one.workspace, 'blocks')), []);
});

t.test('an address that can never work is refused before anything is written', async (t) => {
  const withBaseURL = { ...scriptedAdapter({}), settings: { baseURL: { default: 'http://127.0.0.1:1' } } };
  const one = await startCore(t, { adapters: [withBaseURL, scriptedAdapter({}, 'regional')] });
  await one.create('ada', {});
  const before = one.readText('ada', 'config');
  const bad: [object, string][] = [
    [{ provider: 'scripted', model: 'm', baseURL: 'foo' }, 'adapter.baseURL'],
    [{ provider: 'scripted', model: 'm', baseURL: 'ftp://127.0.0.1' }, 'adapter.baseURL'],
    [{ provider: 'scripted', model: 'm', baseURL: 'http://user:pass@127.0.0.1' }, 'adapter.baseURL'],
    [{ provider: 'scripted', model: 'm', baseURL: 'http://127.0.0.1/?a=1' }, 'adapter.baseURL'],
    [{ provider: 'regional', model: 'm', baseURL: 'http://127.0.0.1' }, 'adapter.baseURL'],
    [{ provider: 'scripted', model: 'm', region: 'EU west!' }, 'adapter.region'],
  ];
  for (const [adapter, path] of bad) {
    await t.rejects(one.blocks.updateConfig('ada', { adapter } as object), { code: 'INVALID_REQUEST', details: [{ path }] }, JSON.stringify(adapter));
    await t.rejects(one.blocks.create({ name: 'bob', config: { adapter } as object }), { code: 'INVALID_REQUEST', details: [{ path: `config.${path}` }] });
  }
  t.equal(one.readText('ada', 'config'), before);
  t.match(await one.blocks.updateConfig('ada', { adapter: { provider: 'scripted', model: 'm', baseURL: 'http://127.0.0.1:1/v1', region: 'us-east-1' } }), {
    config: { adapter: { baseURL: 'http://127.0.0.1:1/v1', region: 'us-east-1' } },
  });
});

t.test('a bad configuration makes no block, and the error has the path in the body', async (t) => {
  const one = await startCore(t);
  const bad: [object, string][] = [
    [{ tags: 5 }, 'config.tags'],
    [{ apiKey: 'sk-1' }, 'config.apiKey'],
    [{ adapter: { provider: 'nobody', model: 'm' } }, 'config.adapter.provider'],
    [{ name: 'other' }, 'config.name'],
    [{ budget: { timezone: 'Mars' } }, 'config.budget.timezone'],
  ];
  for (const [config, path] of bad) await t.rejects(one.blocks.create({ name: 'ada', config }), { code: 'INVALID_REQUEST', details: [{ path }] });
  t.same(readdirSync(join(one.workspace, 'blocks')), []);
});

t.test('of several blocks with the same name that are created at once, one succeeds', async (t) => {
  const one = await startCore(t);
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => one.blocks.create({ name: 'ada' })));
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const result of results) if (result.status === 'rejected') t.equal(result.reason.code, 'NAME_TAKEN');
});

t.test('a change is on disk when it is acknowledged; unknown fields stay', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  one.write('ada', 'config', { ...one.readJson('ada', 'config'), mine: { kept: true } });
  const { config, warnings } = await one.blocks.updateConfig('ada', { description: 'new', yours: [1] } as object);
  t.match(warnings, [{ field: 'yours' }]);
  t.same(one.readJson('ada', 'config'), config);
  t.match(config, { description: 'new', mine: { kept: true }, yours: [1], rev: 2, ...RUNNABLE });
  t.same(await one.blocks.config('ada'), config);
  t.match(await one.blocks.list(), [{ config: { description: 'new' } }]);
  await t.rejects(one.blocks.updateConfig('nobody', {}), { code: 'BLOCK_NOT_FOUND' });
});

t.test('a change of enabled starts and stops no monitor, and warns which command does', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  t.match(await one.blocks.updateConfig('ada', { enabled: true }), {
    config: { enabled: true },
    warnings: [{ field: 'enabled', message: /will start when the server next starts\..*blockhouse start ada$/ }],
  });
  t.match(await one.blocks.details('ada'), { pulse: { state: 'stopped', desired: 'running' } });
  t.match(await one.blocks.explain('ada'), { next: /^It will start when the server next starts/ });
  t.same((await one.blocks.updateConfig('ada', { enabled: false })).warnings, []);
  await one.blocks.start('ada');
  t.same((await one.blocks.updateConfig('ada', { enabled: true, description: 'd' })).warnings, []);
  t.match(await one.blocks.updateConfig('ada', { enabled: false }), {
    config: { enabled: false },
    warnings: [{ field: 'enabled', message: /keeps running.*blockhouse stop ada$/ }],
  });
  t.match(await one.blocks.details('ada'), { pulse: { state: 'idle', desired: 'stopped' } });
  t.match(await one.blocks.explain('ada'), { next: /It will not start again with the server, because `enabled` is false\.$/ });
  t.same((await one.blocks.updateConfig('ada', { description: 'e' })).warnings, [], 'only a change that names it is warned about');
});

t.test('the alias of a provider is stored as its id', async (t) => {
  const adapter = { ...scriptedAdapter({}, 'real'), aliases: ['alias'] };
  const one = await startCore(t, { adapters: [adapter] });
  await one.create('ada', {});
  await one.blocks.updateConfig('ada', { adapter: { provider: 'alias', model: 'm' }, fallbacks: [{ provider: 'alias', model: 'n' }] });
  t.match(one.readJson('ada', 'config'), { adapter: { provider: 'real' }, fallbacks: [{ provider: 'real' }] });
});

t.test('a refused change leaves the file unchanged', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  writeFileSync(one.folder('ada', 'config.json'), `{ "name":"ada",\n\n"rev" : 4, "mine":"x" }`);
  const before = readFileSync(one.folder('ada', 'config.json'));
  const bad = [
    null,
    [],
    { tags: 5 },
    { adapter: { provider: 'nobody', model: 'm' } },
    { name: 'bob' },
    { secret: 1 },
    { mine: { apiKey: 'k' } },
    { memory: { keepMessages: 1.5 } },
  ];
  for (const patch of bad) await t.rejects(one.blocks.updateConfig('ada', patch as object), { code: 'INVALID_REQUEST', status: 400 });
  await t.rejects(one.blocks.updateConfig('ada', { description: 'x' }, { ifMatch: 3 }), { code: 'REVISION_MISMATCH', status: 412 });
  t.same(readFileSync(one.folder('ada', 'config.json')), before);
  t.same(one.factsOf('block.changed'), []);
});

t.test('of two changes with the same ifMatch only the first is made', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const results = await Promise.allSettled([1, 2, 3].map((n) => one.blocks.updateConfig('ada', { description: `${n}` }, { ifMatch: 1 })));
  t.same(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  t.match(one.readJson('ada', 'config'), { description: '1', rev: 2 });
  t.match(await one.blocks.updateConfig('ada', { description: '4' }, { ifMatch: 2 }), { config: { rev: 3 } });
});

t.test('two hundred changes of different fields at once are all visible', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const inode = () => readFileSync(one.folder('ada', 'config.json')).length;
  t.ok(inode() > 0);
  await Promise.all(Array.from({ length: 200 }, (_, n) => one.blocks.updateConfig('ada', { [`field${n}`]: n })));
  const config = one.readJson('ada', 'config');
  for (let n = 0; n < 200; n += 1) if (config[`field${n}`] !== n) t.fail(`field${n} is lost`);
  t.equal(config.rev, 201);
  t.ok(one.factsOf('block.changed').length < 20, 'in few writes');
});

t.test('__proto__ and constructor are inert', async (t) => {
  const one = await startCore(t);
  await one.blocks.create(JSON.parse('{"name":"ada","config":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}'));
  await one.blocks.updateConfig('ada', JSON.parse('{"mine":{"__proto__":{"polluted":1}},"__proto__":{"polluted":2}}'));
  t.equal(({} as Record<string, unknown>)['polluted'], undefined);
  t.equal(((await one.blocks.config('ada')) as unknown as Record<string, unknown>)['polluted'], undefined);
  t.match(await one.blocks.list(), [{ name: 'ada' }]);
});

t.test('a damaged configuration is not changed', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  one.write('ada', 'config', '{"name":');
  await t.rejects(one.blocks.config('ada'), { code: 'BLOCK_DAMAGED' });
  await t.rejects(one.blocks.updateConfig('ada', { description: 'x' }), { code: 'BLOCK_DAMAGED' });
  await t.rejects(one.blocks.start('ada'), { code: 'BLOCK_DAMAGED' });
  t.equal(one.readText('ada', 'config'), '{"name":');
  t.match(await one.blocks.list(), [{ status: 'ERROR', configError: /config\.json can't be used/ }]);
});

t.test("an edit by hand is a new revision, which a change with the old one can't overwrite", async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const { rev } = await one.blocks.config('ada');
  one.write('ada', 'config', { ...one.readJson('ada', 'config'), description: 'by hand' });
  await t.rejects(one.blocks.updateConfig('ada', { description: 'by program' }, { ifMatch: rev }), { code: 'REVISION_MISMATCH' });
  t.match(await one.blocks.config('ada'), { description: 'by hand', rev: rev + 1 });
});
