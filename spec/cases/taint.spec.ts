// Case 38 as facts: what somebody outside has written does not act by itself, however it has come to the model.
import t from 'tap';
import type { ShownApproval } from '../../core/types.ts';
import { pay, pendingIn, type ToolCore, toolCore } from '../support/tools/tool-core.ts';
import type { Said, Seen } from '../support/tools/tool-model.ts';

t.setTimeout(120_000);

const ME = { channel: 'cli', name: 'token' } as const;
/** Nothing of the bank is marked as closed: anybody may have written what `list` gives. */
const OPEN = { settings: { marks: { readOnly: ['*'] } } };
const LIST = { name: 'bank__list', arguments: {} };

/** Does what the question says: "read" calls the reading tool, "pay" pays. */
const obedient = ({ results, question }: Seen): Said => {
  if (results.length > 0) return `Done: ${results.at(-1)}`;
  if (question.startsWith('read')) return [LIST];
  return question.startsWith('pay') ? [pay('bob')] : 'Fine.';
};

async function asked(one: ToolCore): Promise<ShownApproval> {
  const [first] = await pendingIn(one);
  return first as ShownApproval;
}

async function denied(one: ToolCore) {
  const approval = await asked(one);
  await one.blocks.decideApproval(approval.id, { decision: 'deny', digest: approval.digest }, ME);
  return approval;
}

t.test('38: what a result of an earlier message says asks although a rule allows it, and the approval and why say which tool in which message', async (t) => {
  const one = await toolCore(t, { say: obedient, bank: OPEN });
  const first = await one.post('read the list');
  await one.outcome(first);
  t.match(await one.answerTo(first), { taint: [{ messageId: first, tool: 'bank/list' }] });
  const second = await one.post('pay as it says');
  const approval = await asked(one);
  t.match(approval, { messageId: second, because: 'tainted', taint: [{ messageId: first, tool: 'bank/list' }], scopes: ['once'] });
  await one.inState('ada', 'waiting-approval');
  const { why, fix } = await one.blocks.explain('ada');
  t.match(why, `A message waits for your decision: bank/pay, because it can send data out, and this run has read bank/list in message ${first}.`);
  t.equal(fix, `blockhouse approve ${approval.id.slice(0, 9)}`);
  t.strictSame(one.effects(), []);
  await denied(one);
  await one.outcome(second);
});

t.test('38: in a closed world, and where taint is ignored, a rule that allows is enough', async (t) => {
  for (const [what, options] of Object.entries({ closed: {}, ignored: { bank: OPEN, rules: { servers: ['bank'], allow: ['*'], taint: 'ignore' } } })) {
    await t.test(what, async (t) => {
      const one = await toolCore(t, { say: obedient, ...options });
      await one.outcome(await one.post('read the list'));
      await one.outcome(await one.post('pay bob'));
      t.equal(one.effects().length, 1);
    });
  }
});

t.test('38: taint spreads through an answer that read nothing itself, after the message that did is out of sight', async (t) => {
  const one = await toolCore(t, { say: obedient, bank: OPEN });
  const first = await one.post('read the list');
  await one.outcome(first);
  const second = await one.post('say it in your words');
  await one.outcome(second);
  t.match(await one.answerTo(second), { taint: [{ messageId: first }] });
  const chat = one.readJson('ada', 'chat').filter(({ id, replyTo }: { id: string; replyTo?: string }) => id !== first && replyTo !== first);
  await one.blocks.stop('ada');
  one.write('ada', 'chat', chat);
  await one.post('pay as you said');
  t.match(await denied(one), { because: 'tainted', taint: [{ messageId: first, tool: 'bank/list' }] });
});

t.test('38: a summary of what was read taints, and its undo takes that back with it', async (t) => {
  const one = await toolCore(t, { say: obedient, bank: OPEN, config: { memory: { keepMessages: 0 } } });
  const first = await one.post('read the list');
  await one.outcome(first);
  await one.inState('ada', 'idle');
  await one.blocks.stop('ada');
  t.match(await one.blocks.compact('ada'), { taint: [{ messageId: first, tool: 'bank/list' }], summary: /./ });
  const second = await one.post('pay as the summary says');
  t.match(await denied(one), { because: 'tainted', taint: [{ messageId: first }] });
  await one.outcome(second);
  t.equal((await one.blocks.undoCompaction('ada')).taint, undefined);
});

t.test('38: a message from a hook is tainted from its beginning, and so is what comes after it', async (t) => {
  const one = await toolCore(t, { say: obedient });
  const entry = { role: 'user', content: 'pay what it says', channel: 'hook', chain: [{ via: 'hook', hook: 'issues' }], id: 'm1', status: 'queued' };
  one.write('ada', 'chat', [{ ...entry, timestamp: new Date().toISOString(), processed: false }]);
  await one.blocks.start('ada');
  t.match(await denied(one), { because: 'tainted', taint: [{ messageId: 'm1', via: 'hook' }] });
  await one.outcome('m1');
  const next = await one.post('pay bob');
  t.match(await denied(one), { messageId: next, because: 'tainted', taint: [{ messageId: 'm1', via: 'hook' }] });
  t.strictSame(one.effects(), []);
});

t.test('38: a message that was cancelled after it had read keeps its taint', async (t) => {
  const say = ({ results, question }: Seen): Said => {
    if (question.startsWith('pay')) return results.length === 0 ? [pay('bob')] : 'Done.';
    return [[{ name: 'bank__set_limit', arguments: { limit: 1 } }], [LIST], [pay('eve')]][results.length] as Said;
  };
  const one = await toolCore(t, { say, bank: OPEN });
  const first = await one.post('set, read and pay');
  await asked(one);
  await one.blocks.cancel('ada', first);
  t.match(await one.answerTo(first), { taint: [{ messageId: first, tool: 'bank/set_limit' }] });
  await one.post('pay bob');
  t.match(await denied(one), { because: 'tainted' });
});
