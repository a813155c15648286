import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { assertOptions, type CoreOptions } from '../../core/core-options.ts';
import type { ChatCall } from '../../core/ports.ts';
import { createCore } from '../../core/runtime.ts';
import type { ChatRequest } from '../../core/schemas/chat.ts';
import { VERSION } from '../../core/version.ts';
import { scriptedAdapter } from '../support/scripted-adapter.ts';
import { steppedAdapter } from '../support/stepped-adapter.ts';

const REQUEST: ChatRequest = { adapter: 'stepped', model: 'm', messages: [{ role: 'user', content: 'hi' }] };

t.test('without a workspace no file is touched', async (t) => {
  const home = t.testdir({});
  const core = createCore({ adapters: [steppedAdapter()], env: { STEPPED_API_KEY: 'k', HOME: home, BLOCKHOUSE_WORKSPACE: home } });
  t.equal((await core.chat(REQUEST)).message.content, 'Hello');
  await core.verify('stepped');
  t.same([core.workspace, core.token, core.credentials, core.version], [undefined, undefined, undefined, VERSION]);
  await core.close();
  t.same(readdirSync(home), []);
});

t.test('with a workspace nothing is written until something is to be kept', async (t) => {
  const workspace = join(t.testdir({}), 'workspace');
  const core = createCore({ workspace, adapters: [steppedAdapter()], env: { STEPPED_API_KEY: 'k' } });
  await core.chat(REQUEST);
  t.equal(core.token?.matches('x'), false);
  t.throws(() => readdirSync(workspace), { code: 'ENOENT' });
  await core.token?.ensure();
  await core.credentials?.update('stepped', { apiKey: 'k2' });
  t.same(readdirSync(workspace).sort(), ['.api-token', 'auth.json']);
});

t.test('stored credentials win over the environment', async (t) => {
  const adapter = steppedAdapter();
  const core = createCore({ workspace: t.testdir({ 'auth.json': '{"stepped":{"apiKey":"stored"}}' }), adapters: [adapter], env: { STEPPED_API_KEY: 'env' } });
  await core.chat(REQUEST);
  t.match(adapter.calls[0]?.settings, { values: { apiKey: 'stored' }, sources: { apiKey: 'auth.json' } });
});

t.test('a damaged auth.json fails each use by name, and the process goes on', async (t) => {
  const core = createCore({
    workspace: t.testdir({ 'auth.json': '{"stepped":{"apiKey":"sk-torn' }),
    adapters: [steppedAdapter()],
    env: { STEPPED_API_KEY: 'env' },
  });
  const refused = { code: 'ADAPTER_NOT_CONFIGURED' as const, message: /^(?!.*sk-torn).*auth\.json can't be used/ };
  await t.rejects(core.chat(REQUEST), refused);
  await t.rejects(core.models('stepped'), refused);
  t.match(await core.verify('stepped'), { ok: false, detail: /auth\.json/ });
  t.same(core.adapterIds(), ['stepped']);
});

t.test('the environment of the process is the default', async (t) => {
  process.env['STEPPED_API_KEY'] = 'from-process';
  t.teardown(() => delete process.env['STEPPED_API_KEY']);
  const adapter = steppedAdapter();
  await createCore({ adapters: [adapter] }).chat(REQUEST);
  t.equal(adapter.calls[0]?.settings.values['apiKey'], 'from-process');
});

t.test('adapters are listed, found and closed', async (t) => {
  const [one, two] = [steppedAdapter(), steppedAdapter([], { id: 'two' })];
  const core = createCore({ adapters: [two, one], env: {} });
  t.same(core.adapterIds(), ['two', 'stepped']);
  t.same(
    core.adapters().map(({ id }) => id),
    ['two', 'stepped'],
  );
  t.equal(core.adapter('two'), two);
  t.throws(() => core.adapter('three'), { code: 'ADAPTER_NOT_FOUND' });
  await core.close();
  t.same([one.closed, two.closed], [1, 1]);
});

t.test('a streamed answer is an iterable of the same events', async (t) => {
  const core = createCore({ adapters: [steppedAdapter()], env: { STEPPED_API_KEY: 'k' } });
  const events: unknown[] = [];
  for await (const event of core.stream(REQUEST)) events.push(event);
  t.same(events, [
    { type: 'start', provider: 'stepped', model: 'm' },
    { type: 'content', text: 'Hel' },
    { type: 'content', text: 'lo' },
    { type: 'done', usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, stopReason: 'end_turn' },
  ]);
  await t.rejects(
    core
      .stream({ ...REQUEST, model: '' })
      [Symbol.asyncIterator]()
      .next(),
    { code: 'INVALID_REQUEST' },
  );
});

t.test('a streamed answer shows the reasoning to a request that asks for it', async (t) => {
  const chat = ({ sink }: ChatCall): void => {
    sink.emit([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'a' },
      { type: 'stop', stopReason: 'end_turn' },
    ]);
  };
  const core = createCore({ adapters: [scriptedAdapter({ chat })], env: {} });
  const typesOf = async (stream: ChatRequest['stream']) => {
    const types: string[] = [];
    for await (const { type } of core.stream({ ...REQUEST, adapter: 'scripted', ...(stream !== undefined && { stream }) })) types.push(type);
    return types;
  };
  t.strictSame(await typesOf(undefined), ['start', 'content', 'done']);
  t.strictSame(await typesOf({ reasoning: true }), ['start', 'reasoning', 'content', 'done']);
});

t.test('request ids are never alike', async (t) => {
  const core = createCore({ adapters: [], env: {} });
  t.equal(new Set(Array.from({ length: 1000 }, () => core.newRequestId())).size, 1000);
});

t.test('without a workspace there are no blocks, and the text says why', async (t) => {
  const core = createCore({ adapters: [steppedAdapter()], env: {} });
  t.equal(core.started, false);
  for (const call of [() => core.blocks, () => core.start(), () => core.announce('http://x')]) t.throws(call, { message: /Blocks need a workspace/ });
  await core.stop();
  await core.close();
});

t.test('monitors end before the adapters are closed, which they are in any case', async (t) => {
  const adapter = steppedAdapter();
  const core = createCore({ workspace: t.testdir({}), adapters: [adapter], env: { STEPPED_API_KEY: 'k' } });
  await core.start();
  await core.blocks.create({ name: 'ada', config: { adapter: { provider: 'stepped', model: 'm' } } });
  await core.blocks.start('ada');
  const closed: number[] = [];
  core.events.on('block.transitioned', ({ to }) => void (to === 'stopped' && closed.push(adapter.closed)));
  await core.close();
  t.same([closed, adapter.closed], [[0], 1]);
  const stuck = createCore({ workspace: t.testdir({}), adapters: [adapter], env: {} });
  await stuck.start();
  const { blocks } = stuck as unknown as { blocks: { close(): Promise<void> } };
  const closeBlocks = blocks.close.bind(blocks);
  blocks.close = () => closeBlocks().then(() => Promise.reject(new Error('stuck')));
  await t.rejects(stuck.close(), { message: 'stuck' });
  t.equal(adapter.closed, 2);
});

t.test('a program in JavaScript that forgets the adapters is told what is wanted', async (t) => {
  const create = createCore as unknown as (options?: object) => unknown;
  t.throws(() => create(), { name: 'TypeError', message: /adapters: createAdapters\(\)/ });
  t.throws(() => create({ workspace: t.testdir({}) }), { name: 'TypeError' });
  t.throws(() => assertOptions({ adapters: [], workSpace: 'x' } as CoreOptions), { message: /did you mean workspace\?/ });
  t.throws(() => create({ adapters: [], workSpace: 'x' }), { name: 'TypeError', message: 'createCore has no option "workSpace"; did you mean workspace?' });
});
