// Whether a block has tools, and what it gets where it can't have any.
import t from 'tap';
import { assertTools, hasTools, noTools, ToolsHere } from '../../../../core/block/reply/has-tools.ts';

t.test('a block has tools if its configuration names a server of them', async (t) => {
  t.equal(hasTools({}), false);
  t.equal(hasTools({ tools: null }), false);
  t.equal(hasTools({ tools: { allow: ['*'] } }), false);
  t.equal(hasTools({ tools: { servers: ['bank'] } }), true);
});

t.test('the refusal names the field, the cause and the cure', async (t) => {
  t.match(noTools('config.'), {
    code: 'INVALID_REQUEST',
    message: /^config\.tools\.servers can't be used: this server has nothing that runs tools .*Remove `tools`/,
  });
});

t.test('the tools of the server `block` need no host, and a workspace without journals has none at all', async (t) => {
  const world = { member: () => ({ isShared: false }), tools: new ToolsHere(undefined, async (path) => path) } as never;
  const own = { tools: { servers: ['block'] } };
  t.ok(assertTools(world, own));
  t.equal(assertTools(world, {}), undefined);
  t.throws(() => assertTools(world, { tools: { servers: ['block', 'bank'] } }), { code: 'INVALID_REQUEST', message: /only `block` needs none/ });
  t.throws(() => assertTools({ member: () => ({ isShared: true }), tools: undefined } as never, own), { code: 'INVALID_REQUEST' });
});

t.test('where nothing runs tools, a server has none, and nothing is called', async (t) => {
  const { host, hasHost, ...tools } = new ToolsHere(undefined, async (path) => path);
  t.equal(hasHost, false);
  t.match(await host.catalogue(['bank']), { tools: [], problems: [{ server: 'bank' }] });
  await t.rejects(host.call({} as never, new AbortController().signal), { code: 'TOOL_NOT_BEGUN' });
  await host.halt();
  await host.close();
  t.ok(tools.realPath);
  t.throws(() => new ToolsHere(undefined, async (path) => path).work(), /no blocks to work on/);
});
