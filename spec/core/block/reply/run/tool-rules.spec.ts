import t from 'tap';
import { toolCore } from '../../../../support/tools/tool-core.ts';

t.test('the tools of a block have the rule that holds, marks, tokens, and the calls of today, also those under way', async (t) => {
  const rules = { servers: ['bank', 'block', 'gone'], allow: ['bank/pay'], ask: ['bank/set_limit'], deny: ['bank/long'] };
  const { blocks, post, outcome, create } = await toolCore(t, {
    rules,
    say: ({ results }) => (results.length === 0 ? [{ name: 'bank__pay', arguments: { to: 'bob', amount: 5 } }] : 'Paid.'),
  });
  await outcome(await post('Pay.'));
  const { servers, tools } = await blocks.tools('ada');
  t.match(servers, [
    { name: 'bank', state: 'ready' },
    { name: 'block', state: 'ready' },
    { name: 'gone', state: 'failed' },
  ]);
  const of = (name: string) => tools.find(({ server, tool }) => `${server}/${tool}` === name);
  t.match(of('bank/pay'), { state: 'approved', rule: 'allow', by: 'bank/pay', asksTainted: true, callsToday: 1, mustBeFound: false });
  t.match(of('bank/set_limit'), { rule: 'ask', by: 'bank/set_limit', callsToday: 0 });
  t.match(of('bank/long'), { rule: 'deny', by: 'bank/long' });
  t.match(of('block/remember'), { rule: 'ask', by: 'default', marks: { closedWorld: true } });
  t.ok((of('bank/pay')?.tokens ?? 0) > 10);
  t.strictSame(
    tools.map(({ server }) => server).toSorted(),
    tools.map(({ server }) => server),
    'in the order of the servers',
  );
  await create('plain');
  t.strictSame(await blocks.tools('plain'), { servers: [], tools: [] });
});

t.test('a call that waits after another one of its message was made counts what was made, and what does not fit is to be found', async (t) => {
  const rules = { servers: ['bank'], allow: ['bank/pay'], limits: { definitionTokens: 60 } };
  const { blocks, post, entry } = await toolCore(t, {
    rules: { ...rules, always: ['bank/pay', 'bank/set_limit'], limits: {} },
    say: ({ results }) =>
      results.length === 0 ? [{ name: 'bank__pay', arguments: { to: 'bob', amount: 5 } }] : [{ name: 'bank__set_limit', arguments: { limit: 5 } }],
  });
  const id = await post('Pay, and set the limit.');
  for (; (await entry(id)).status !== 'waiting-approval'; ) await new Promise((resolve) => setTimeout(resolve, 10));
  const calls = Object.fromEntries((await blocks.tools('ada')).tools.map(({ tool, callsToday }) => [tool, callsToday]));
  t.match(calls, { pay: 1, set_limit: 0 });
  await blocks.updateConfig('ada', { tools: rules });
  const { tools } = await blocks.tools('ada');
  t.ok(tools.some(({ mustBeFound }) => mustBeFound));
});
