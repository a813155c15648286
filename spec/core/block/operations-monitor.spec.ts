import { renameSync, rmSync } from 'node:fs';
import t from 'tap';
import { createOllama } from '../../../adapters/ollama/index.ts';
import { createOpenAI } from '../../../adapters/openai/index.ts';
import type { Block } from '../../../core/block/block.ts';
import { ChangeGate } from '../../../core/block/change-gate.ts';
import type { OperationsContext } from '../../../core/block/operations.ts';
import { type MonitorOperations, monitorOperations } from '../../../core/block/operations-monitor.ts';
import { RUNNABLE, repeatingDaemon, runnable, sendPiece, startCore } from '../../support/blocks.ts';
import { scriptedAdapter } from '../../support/scripted-adapter.ts';
import { until } from '../../support/until.ts';
import { type Answerer, sendJson } from '../../support/upstream.ts';

t.test('start and stop are idempotent, and write the wanted state', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  t.match(await one.blocks.start('ada'), { message: 'ada is running.', pulse: { state: 'idle', status: 'ACTIVE', desired: 'running' } });
  t.match(await one.blocks.start('ada'), { message: 'ada is already running.', pulse: { state: 'idle' } });
  t.same(one.readJson('ada', 'config').enabled, true);
  t.same(await one.blocks.counts(), { blocks: 1, monitorsRunning: 1 });
  t.match(await one.blocks.stop('ada'), { message: 'ada is stopped.', pulse: { state: 'stopped', status: 'SLEEPING', desired: 'stopped' } });
  t.match(await one.blocks.stop('ada'), { message: 'ada was not running.', pulse: { state: 'stopped' } });
  t.same(one.readJson('ada', 'config').enabled, false);
  t.same(await one.blocks.counts(), { blocks: 1, monitorsRunning: 0 });
  t.same(one.factsOf('workspace.fault'), []);
});

t.test('fifty starts at once make one monitor, and fifty stops end it', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await Promise.all(Array.from({ length: 50 }, () => one.blocks.start('ada')));
  t.equal((await one.blocks.counts()).monitorsRunning, 1);
  t.equal(one.factsOf('block.transitioned').filter(({ to }) => to === 'starting').length, 1);
  await Promise.all(Array.from({ length: 50 }, () => one.blocks.stop('ada')));
  t.equal((await one.blocks.counts()).monitorsRunning, 0);
  t.equal(one.factsOf('block.transitioned').filter(({ to }) => to === 'stopped').length, 1);
});

t.test('many monitors run at once, and all end with the core', async (t) => {
  const names = Array.from({ length: 30 }, (_, n) => `b${n}`);
  const one = await startCore(t, { files: { blocks: runnable(names) } });
  await Promise.all(names.map((name) => one.blocks.start(name)));
  t.equal((await one.blocks.counts()).monitorsRunning, 30);
  await one.core.close();
  t.equal(one.factsOf('block.transitioned').filter(({ to }) => to === 'stopped').length, 30);
  t.equal(one.readJson('b0', 'config').enabled, true, 'what is wanted stays');
});

t.test("a block that can't run is refused with the cure", async (t) => {
  const one = await startCore(t, { adapters: [scriptedAdapter({ missingCredential: () => 'set SCRIPTED_KEY' })] });
  await one.create('ada', {});
  await t.rejects(one.blocks.start('ada'), {
    code: 'INVALID_REQUEST',
    status: 400,
    message: /blockhouse config set ada/,
    details: [{ path: 'config.adapter' }],
  });
  await one.blocks.updateConfig('ada', { adapter: { provider: 'scripted', model: 'm' } });
  await t.rejects(one.blocks.start('ada'), { code: 'INVALID_REQUEST', message: /SCRIPTED_KEY/ });
  await t.rejects(one.blocks.restart('ada'), { code: 'INVALID_REQUEST' });
  t.equal(one.readJson('ada', 'config').enabled, false);
  one.write('ada', 'config', { name: 'ada', adapter: { provider: 'nobody', model: 'm' } });
  await t.rejects(one.blocks.start('ada'), { code: 'INVALID_REQUEST' });
  await t.rejects(one.blocks.start('nobody'), { code: 'BLOCK_NOT_FOUND' });
});

t.test('a block whose first model lacks its key starts, and its fallback answers without a call of the first model', async (t) => {
  const keyless = scriptedAdapter({ missingCredential: () => 'set SCRIPTED_KEY' });
  const one = await startCore(t, { adapters: [keyless, createOllama()] });
  await one.create('ada', { adapter: { provider: 'scripted', model: 's' }, fallbacks: [{ provider: 'ollama', model: 'm' }] });
  t.match(await one.blocks.details('ada'), { pulse: { state: 'stopped' } });
  t.match(await one.blocks.start('ada'), { pulse: { state: 'idle' } });
  t.match(await one.ask('ada', 'hi'), { content: 'You said: hi', provider: 'ollama', attempts: 1 });
  t.same(
    one.factsOf('message.started').map(({ provider }) => provider),
    ['ollama'],
  );
  t.match((await one.blocks.logs('ada'))[0]?.content, /WARN model\.unusable id=\S+ first=s asked=m/);
});

t.test('a fallback that fails for a while is retried if the first model lacks its key', async (t) => {
  let calls = 0;
  const keyless = scriptedAdapter({ missingCredential: () => 'set SCRIPTED_KEY' });
  const answer: Answerer = (request, res, index) => {
    if (request.path === '/api/chat' && ++calls === 1) return sendJson(res, { error: 'overloaded' }, 503);
    return repeatingDaemon(request, res, index);
  };
  const one = await startCore(t, { adapters: [keyless, createOllama()], answer });
  const retry = { maxAttempts: 4, baseMs: 1, maxDelayMs: 10, staleAfterMs: 60_000 };
  await one.create('ada', { adapter: { provider: 'scripted', model: 's' }, fallbacks: [{ provider: 'ollama', model: 'm' }], retry });
  await one.blocks.start('ada');
  t.match(await one.ask('ada', 'hi'), { content: 'You said: hi', attempts: 2 });
});

t.test('the check before a start includes the block’s own address', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { adapter: { provider: 'ollama', model: 'm', baseURL: 'http://169.254.169.254' } });
  await t.rejects(one.blocks.start('ada'), { code: 'INVALID_REQUEST', details: [{ path: 'config.adapter' }] });
});

t.test('the error of a start names the fields of the block', async (t) => {
  const one = await startCore(t, { adapters: [createOllama(), createOpenAI()], env: {} });
  await one.create('ada', {});
  one.write('ada', 'config', { name: 'ada', adapter: { provider: 'ollama', model: 'm', baseURL: 'foo' } });
  await t.rejects(one.blocks.start('ada'), { message: /^config\.adapter can't be used: config\.adapter\.baseURL must be an absolute/ });
  one.write('ada', 'config', { name: 'ada', adapter: { provider: 'ollama', model: 'm', baseURL: 'http://example.test' } });
  await t.rejects(one.blocks.start('ada'), {
    message:
      /config\.adapter\.baseURL is at http:\/\/example\.test.*not sent there\. Configure the address .*`blockhouse auth set ollama --field baseURL`.* BLOCKHOUSE_ALLOWED_ORIGINS\.$/,
  });
  one.write('ada', 'config', { name: 'ada', adapter: { provider: 'openai', model: 'm' } });
  await t.rejects(one.blocks.start('ada'), {
    message: /needs a key: set OPENAI_API_KEY, or openai\.apiKey in auth\.json \(`blockhouse auth set openai`\)\.$/,
  });
});

t.test('a block with a damaged configuration can be stopped, and the damage is reported', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  one.write('ada', 'config', '{');
  await t.rejects(one.blocks.stop('ada'), {
    code: 'BLOCK_DAMAGED',
    message: /^ada is stopped, but this can't be saved, so it would start again with the server\. .*config\.json can't be used: .* Then stop it again\.$/,
  });
  t.equal((await one.blocks.counts()).monitorsRunning, 0);
});

t.test('a restart is a stop and a start', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  t.match(await one.blocks.restart('ada'), { message: 'ada was restarted.', pulse: { state: 'idle' } });
  t.same(
    one.factsOf('block.transitioned').map(({ to }) => to),
    ['starting', 'idle', 'stopping', 'stopped', 'starting', 'idle'],
  );
  t.match(await one.ask('ada', 'hi'), { content: 'You said: hi' });
});

t.test('the server starts wanted monitors again, and they answer waiting messages', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob']) await one.create(name);
  await one.blocks.start('ada');
  await one.core.close();
  one.write('ada', 'chat', [{ role: 'user', content: 'meanwhile' }]);
  const next = await startCore(t, { workspace: one.workspace });
  await next.told('message.finished', { block: 'ada', status: 'done' });
  t.equal((await next.blocks.counts()).monitorsRunning, 1);
  t.match(next.factsOf('block.transitioned')[0], { block: 'ada', cause: 'server start', actor: 'server' });
});

t.test('a damaged block with enabled starts, reports the damage, and goes on after a repair', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob', 'cyn']) await one.create(name);
  for (const name of ['ada', 'cyn']) await one.blocks.start(name);
  await one.core.close();
  const memory = one.readText('ada', 'memory');
  one.write('ada', 'memory', '{"half":');
  one.write('bob', 'memory', '{"half":');
  one.write('cyn', 'config', '{"half":');
  const next = await startCore(t, { workspace: one.workspace });
  await next.told('block.transitioned', { block: 'ada', to: 'failed' });
  t.match(await next.blocks.list(), [
    { name: 'ada', status: 'ERROR', configError: /memory\.json/ },
    { name: 'bob', status: 'ERROR' },
    { name: 'cyn', status: 'ERROR' },
  ]);
  t.equal((await next.blocks.counts()).monitorsRunning, 1);
  next.write('ada', 'memory', memory);
  await next.told('block.transitioned', { block: 'ada', to: 'idle' });
  t.match(await next.ask('ada', 'hi'), { content: 'You said: hi' });
  t.match((await next.blocks.list())[0], { name: 'ada', attention: false, configError: undefined });
});

t.test("a block that can't be started does not prevent the others from starting", async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob']) await one.create(name);
  for (const name of ['ada', 'bob']) await one.blocks.start(name);
  await one.core.close();
  one.write('ada', 'config', { ...one.readJson('ada', 'config'), adapter: null });
  const next = await startCore(t, { workspace: one.workspace });
  await next.told('block.transitioned', { block: 'bob', to: 'idle' });
  await next.inState('ada', 'failed');
  t.match(await next.blocks.explain('ada'), { state: 'failed', status: 'ERROR', attention: true, fix: /blockhouse config set ada/ });
});

t.test('a message starts the monitor with autoStart, and a failure to start is reported', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, autoStart: true });
  await one.create('bob', { autoStart: true });
  t.match(await one.ask('ada', 'hi'), { content: 'You said: hi' });
  t.match(await one.blocks.post('bob', { message: 'hi' }, 'web'), { running: false });
  t.match(one.factsOf('workspace.fault'), [{ block: 'bob', what: 'autoStart', error: /config\.adapter is not set/ }]);
});

t.test('a folder that is removed while its monitor runs, and comes back, is served again', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob']) await one.create(name);
  await one.blocks.start('ada');
  renameSync(one.folder('ada'), `${one.workspace}/away`);
  await one.told('block.transitioned', { block: 'ada', to: 'failed' });
  await t.rejects(one.blocks.details('ada'), { code: 'BLOCK_NOT_FOUND' });
  t.same(
    (await one.blocks.list()).map(({ name }) => name),
    ['bob'],
  );
  renameSync(`${one.workspace}/away`, one.folder('ada'));
  await one.told('block.transitioned', { block: 'ada', from: 'starting', to: 'idle', actor: 'monitor', cause: 'recovered' });
  await until('it is idle again', () => one.factsOf('block.transitioned').at(-1)?.['to'] === 'idle');
  t.match(await one.ask('ada', 'hi'), { content: 'You said: hi' });
  t.equal((await one.blocks.counts()).monitorsRunning, 1, 'and there is one monitor');
});

t.test('a folder that is deleted for good does not come back, and the server goes on', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  rmSync(one.folder('ada'), { recursive: true });
  await one.told('block.transitioned', { block: 'ada', to: 'failed' });
  t.same(await one.blocks.list(), []);
  await one.core.close();
  t.throws(() => one.readText('ada', 'config'), { code: 'ENOENT' });
  t.throws(() => one.readText('ada', 'pulse'), { code: 'ENOENT' });
});

t.test('when the server ends, the text of a reply so far is kept', async (t) => {
  const one = await startCore(t, { answer: (_request, res) => sendPiece(res, 'so far') });
  await one.create('ada', RUNNABLE);
  await one.blocks.start('ada');
  const grown = new Promise<void>((resolve) => {
    one.blocks.follow('ada', { onReply: ({ event }) => event === 'content' && resolve() });
  });
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  await grown;
  await one.core.close();
  t.match(one.readJson('ada', 'chat'), [
    { id, status: 'done' },
    { replyTo: id, content: 'so far', status: 'interrupted' },
  ]);
  t.match(one.readJson('ada', 'config'), { enabled: true });
});

t.test('a core that is closed while it starts blocks starts no further ones', async (t) => {
  const names = Array.from({ length: 100 }, (_, n) => `b${n}`);
  const next = await startCore(t, { files: { blocks: runnable(names, { enabled: true }) } });
  await next.told('block.transitioned', { to: 'idle' });
  await next.core.close();
  const moves = next.factsOf('block.transitioned');
  t.ok(moves.filter(({ to }) => to === 'starting').length < 100);
  t.equal(moves.filter(({ to }) => to === 'stopped').length, moves.filter(({ to }) => to === 'starting').length);
});

t.test('a start reports a damaged file, and wakes a monitor that waits', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  one.write('ada', 'memory', '{');
  await t.rejects(one.blocks.start('ada'), { code: 'BLOCK_DAMAGED', message: /memory\.json/ });
  t.match(await one.blocks.config('ada'), { enabled: false });
  one.write(
    'ada',
    'memory',
    '{"summary":"","facts":[],"window":{"firstKeptId":null,"messages":0,"tokens":0,"maxTokens":1,"percent":0},"compactions":[],"compactionCount":0}',
  );
  t.match(await one.blocks.start('ada'), { message: 'ada is running.' });
  t.match(await one.blocks.start('ada'), { message: 'ada is already running.' });
  await one.blocks.halt();
  await one.inState('ada', 'paused');
  t.match(await one.blocks.start('ada'), { message: 'ada is started, but waits because all blocks are halted. `blockhouse unhalt` lets them continue.' });
  t.match(await one.blocks.restart('ada'), { message: /waits because all blocks are halted/ });
});

t.test('a new block does not get the monitor of a deleted one with its name', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  rmSync(one.folder('ada'), { recursive: true });
  await one.create('ada');
  t.match(await one.blocks.details('ada'), { config: { enabled: false }, pulse: { state: 'stopped' } });
  t.equal((await one.blocks.counts()).monitorsRunning, 0);
  t.match(await one.blocks.post('ada', { message: 'hi' }, 'web'), { running: false });
  await one.blocks.start('ada');
  await one.told('message.finished', { block: 'ada', status: 'done' });
});

t.test('after the server has ended all monitors nothing starts, and the wanted state stays', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const started: string[] = [];
  const faults: string[] = [];
  const block = {
    name: 'ada',
    start: async (cause: string) => void started.push(cause),
    files: { config: { read: async () => ({ enabled: true }), update: () => Promise.reject(new Error('nothing is to be written')) } },
  } as unknown as Block;
  const gate = new ChangeGate();
  const monitors = monitorsOf({ find: async () => block }, (fault) => void faults.push(fault), gate);
  await monitors.goOn(block);
  t.same(started, ['archive failed']);
  gate.shut();
  await t.rejects(monitors.start('ada'), { code: 'SHUTTING_DOWN', status: 503 });
  await monitors.goOn(block);
  await t.rejects(monitors.resume(block, 'server start'), { code: 'SHUTTING_DOWN' });
  t.same([started.length, faults], [1, []]);
});

t.test('a failed attempt to go on is reported', async (t) => {
  const faults: string[] = [];
  const monitors = monitorsOf({}, (fault) => void faults.push(fault));
  const files = { config: { read: () => Promise.reject(new Error('no disk')) } };
  await monitors.goOn({ name: 'ada', files } as unknown as Block);
  t.same(faults, ['goOn ada: no disk']);
});

/** On blocks that are none. */
t.test('what another server has taken since it was found is not asked back from it', async (t) => {
  const started: string[] = [];
  const block = { name: 'ada', start: async (cause: string) => void started.push(cause), files: { config: { read: async () => ({ enabled: true }) } } };
  const take = (): Promise<void> => Promise.reject(new Error('it is asked for'));
  for (const isFree of [false, true]) {
    const monitors = monitorsOf({}, undefined, undefined, { take, tryTake: async () => isFree });
    await monitors.resume(block as unknown as Block, 'message');
    t.same(started, isFree ? ['message'] : []);
  }
});

function monitorsOf(blocks: object, onFault: (fault: string) => void = () => undefined, gate = new ChangeGate(), owners: object = {}): MonitorOperations {
  const context = {
    gate,
    blocks: { hold: () => undefined, ...blocks },
    owners: { take: async () => undefined, tryTake: async () => true, ...owners },
    change: async (name: string, work: (block: Block) => Promise<unknown>) => work(await (blocks as OperationsContext['blocks']).find(name)),
    onFault: (what: string, error: unknown, block: string) => onFault(`${what} ${block}: ${(error as Error).message}`),
  };
  return monitorOperations(context as unknown as OperationsContext);
}
