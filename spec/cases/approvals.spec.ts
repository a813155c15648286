// Cases of approvals, as facts: who decides, what a decision is bound to, how long it holds, and how it is attacked.
import t from 'tap';
import type { ShownApproval } from '../../core/types.ts';
import { BANK } from '../support/tools/payment-host.ts';
import { AT, answerRecord, approvalOf, modelRecord, runRecord } from '../support/tools/records.ts';
import { crashedIn, pay, pendingIn, type ToolCore, type ToolCoreOptions, toolCore } from '../support/tools/tool-core.ts';
import type { Said, Seen } from '../support/tools/tool-model.ts';
import { RUNNABLE } from '../support/blocks.ts';
import { until } from '../support/until.ts';

t.setTimeout(120_000);

const ME = { channel: 'cli', name: 'token' } as const;
const ASK = { servers: ['bank'], ask: ['*'] };
/** Makes these calls once for each message, and then says what came of them. */
const once =
  (...calls: ReturnType<typeof pay>[]) =>
  ({ results }: Seen): Said =>
    results.length === 0 ? calls : `Done: ${results.join(' ')}`;

/** A core with a message that waits for a decision. */
async function waiting(
  t: Parameters<typeof toolCore>[0],
  options: Partial<ToolCoreOptions> = {},
): Promise<{ one: ToolCore; id: string; asked: ShownApproval }> {
  const one = await toolCore(t, { rules: ASK, say: once(pay('bob')), ...options });
  const id = await one.post('Pay bob.');
  await one.inState('ada', 'waiting-approval');
  const [asked] = (await one.blocks.approvals()).approvals;
  if (asked === undefined) throw new Error('nothing waits');
  return { one, id, asked };
}

t.test('15: a call that waits keeps its id and its deadline over a restart, and is decided after it', async (t) => {
  const asked = approvalOf('a1', { digest: 'd' });
  const files = crashedIn([runRecord(), modelRecord(1), answerRecord(1, [pay('bob')]), { t: 'ask', call: '1.1', approval: asked }], ASK, {
    status: 'waiting-approval',
    waitingFor: ['a1'],
  });
  const one = await toolCore(t, { files, rules: ASK, say: once(pay('bob')) });
  t.match((await one.blocks.approvals()).approvals, [{ id: 'a1', expiresAt: asked.expiresAt, state: 'pending' }], 'also of a block that does not run');
  await one.blocks.decide('ada', 'a1', { decision: 'deny', digest: 'd' }, ME);
  await one.blocks.start('ada');
  await one.outcome('m1');
  t.match((await one.answerTo('m1'))?.steps, [{ outcome: 'denied' }]);
  t.match((await one.blocks.approvals({ state: 'denied' })).approvals, [{ id: 'a1', decidedBy: ME }]);
});

t.test('16: of many decisions at once one holds, and the others read which', async (t) => {
  const { one, id, asked } = await waiting(t);
  const { digest } = asked;
  const words = ['approve', 'deny', 'approve', 'deny', 'approve'] as const;
  const all = await Promise.allSettled(words.map((decision) => one.blocks.decideApproval(asked.id, { decision, digest }, ME)));
  t.equal(all.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const refused of all.filter(({ status }) => status === 'rejected')) t.match(refused, { reason: { code: 'APPROVAL_DECIDED', message: /by cli token/ } });
  await one.outcome(id);
  t.equal((await one.records(id)).filter(({ t: kind }) => kind === 'decision').length, 1);
  t.equal(one.factsOf('approval.decided').length, 1);
  t.match(await one.blocks.approval(asked.id), { state: /approved|denied/ });
});

t.test('17: another digest, and a tool that has changed, are APPROVAL_STALE; a changed tool can still be denied', async (t) => {
  const { one, id, asked } = await waiting(t, { say: once(pay('bob'), pay('eve')) });
  const [, other] = (await one.blocks.approvals()).approvals;
  await t.rejects(one.blocks.decideApproval(asked.id, { decision: 'approve', digest: other?.digest ?? '' }, ME), { code: 'APPROVAL_STALE' });
  one.host.tools = BANK.map((tool) => (tool.tool === 'pay' ? { ...tool, pin: 'another' } : tool));
  await t.rejects(one.blocks.decideApproval(asked.id, { decision: 'approve', digest: asked.digest, scope: 'always' }, ME), {
    code: 'APPROVAL_STALE',
    message: /has changed since it was shown.*Deny it/,
  });
  one.host.tools = BANK.filter(({ tool }) => tool !== 'pay');
  await t.rejects(one.blocks.decideApproval(asked.id, { decision: 'approve', digest: asked.digest }, ME), { message: /is not offered any more/ });
  t.strictSame((await one.blocks.config('ada')).tools, ASK, 'no rule was written');
  for (const { id: call, digest } of (await one.blocks.approvals()).approvals) await one.blocks.decideApproval(call, { decision: 'deny', digest }, ME);
  await one.outcome(id);
  t.strictSame(one.effects(), []);
});

t.test('17: while a whole server can not be used, as without its secret, approving says why, and the call waits on until that is cured', async (t) => {
  const { one, id, asked } = await waiting(t);
  const { digest } = asked;
  const catalogue = one.host.catalogue.bind(one.host);
  const problem = 'its secret bank.token is not stored; store it: `blockhouse tools secret set bank.token`';
  one.host.catalogue = async () => ({ tools: [], settings: {}, problems: [{ server: 'bank', problem }] });
  await t.rejects(one.blocks.decideApproval(asked.id, { decision: 'approve', digest }, ME), {
    code: 'TOOL_SERVER_FAILED',
    message: /^bank can't be called: its secret bank\.token is not stored; store it: `.*`\. Then approve the call, or deny it now/,
  });
  t.equal((await one.blocks.approval(asked.id)).state, 'pending');
  one.host.catalogue = catalogue;
  await one.blocks.decideApproval(asked.id, { decision: 'approve', digest }, ME);
  await one.outcome(id);
  t.equal(one.effects().length, 1);
});

t.test('18: a deadline that passed while the server was down denies at the start, and nobody can approve after it', async (t) => {
  const over = approvalOf('a1', { expiresAt: AT });
  const files = crashedIn([runRecord(), modelRecord(1), answerRecord(1, [pay('bob')]), { t: 'ask', call: '1.1', approval: over }], ASK, {
    status: 'waiting-approval',
    waitingFor: ['a1'],
  });
  const one = await toolCore(t, { files, rules: ASK, say: once(pay('bob')) });
  t.match(await one.blocks.approval('a1'), { state: 'expired', scopes: [] });
  t.strictSame((await one.blocks.approvals()).approvals, []);
  await t.rejects(one.blocks.decide('ada', 'a1', { decision: 'approve', digest: 'd' }, ME), { code: 'APPROVAL_DECIDED', message: /deadline is over/ });
  await one.blocks.start('ada');
  await one.outcome('m1');
  t.match((await one.answerTo('m1'))?.steps, [{ outcome: 'expired' }]);
  t.strictSame(one.effects(), []);
  t.match(one.factsOf('approval.decided'), [{ approval: 'a1', state: 'expired' }]);
});

t.test('19: always holds until the tool changes, and same-arguments for these alone', async (t) => {
  const { one, id, asked } = await waiting(t);
  const decided = await one.blocks.decideApproval(asked.id, { decision: 'approve', digest: asked.digest, scope: 'same-arguments' }, ME);
  t.match(decided, { state: 'approved', scope: 'same-arguments' });
  await one.outcome(id);
  const rule = { tool: 'bank/pay', pin: 'pin-of-pay', arguments: { to: 'bob', amount: 5 } };
  t.strictSame((await one.blocks.config('ada')).tools, { ...ASK, allow: [rule] });
  await one.outcome(await one.post('Again.'));
  t.equal(one.effects().length, 2, 'equal arguments are not asked about');
  one.host.tools = BANK.map((tool) => (tool.tool === 'pay' ? { ...tool, pin: 'another' } : tool));
  const third = await one.post('Once more.');
  const [again] = await pendingIn(one);
  await one.blocks.decideApproval(again?.id ?? '', { decision: 'approve', digest: again?.digest ?? '', scope: 'always' }, ME);
  await one.outcome(third);
  t.match((await one.blocks.config('ada')).tools, { allow: [rule, { tool: 'bank/pay', pin: 'another' }] });
  await one.outcome(await one.post('And again.'));
  t.equal(one.effects().length, 4);
});

t.test('19: a rule is not offered for what may have happened before, nor for what writes in a tainted run', async (t) => {
  const say = ({ results }: Seen): Said => [[{ name: 'bank__list', arguments: {} }], [pay('bob')], 'Done.'][results.length] as Said;
  const { one, asked } = await waiting(t, { say, rules: { servers: ['bank'], allow: ['*'] }, bank: { settings: { marks: { readOnly: ['*'] } } } });
  t.match(asked, { because: 'tainted', scopes: ['once'] });
  const always = { decision: 'approve', digest: asked.digest, scope: 'always' } as const;
  await t.rejects(one.blocks.decideApproval(asked.id, always, ME), { code: 'INVALID_REQUEST', message: /^scope can only be once/ });
  t.equal((await one.blocks.approval(asked.id)).state, 'pending');
  t.strictSame((await one.blocks.config('ada')).tools, { servers: ['bank'], allow: ['*'] });
});

t.test('19: for a tool that only reads, always in a tainted run lifts the taint for that tool', async (t) => {
  const read = { name: 'bank__list', arguments: {} };
  const say = ({ results }: Seen): Said => (results.length < 2 ? [{ ...read, arguments: { delayMs: results.length } }] : 'Read.');
  const { one, id, asked } = await waiting(t, { say, rules: { servers: ['bank'], allow: ['*'] }, bank: { settings: { marks: { readOnly: ['*'] } } } });
  t.match(asked, { because: 'tainted', call: '2.1', scopes: ['once', 'always', 'same-arguments'] });
  await one.blocks.decideApproval(asked.id, { decision: 'approve', digest: asked.digest, scope: 'always' }, ME);
  await one.outcome(id);
  t.match((await one.blocks.config('ada')).tools, { allow: ['*', { tool: 'bank/list', pin: 'pin-of-list', evenTainted: true }] });
  await one.outcome(await one.post('Read again.'));
});

t.test('21: of an answer with allowed, asked and denied calls nothing runs before the decision', async (t) => {
  const rules = { servers: ['bank'], allow: ['bank/set_limit'], deny: ['bank/list'], ask: ['bank/pay'] };
  const say = once({ name: 'bank__set_limit', arguments: { limit: 1 } } as never, pay('bob'), { name: 'bank__list', arguments: {} } as never);
  const { one, id, asked } = await waiting(t, { rules, say });
  t.strictSame(one.host.calls, []);
  t.equal(asked.call, '1.2');
  await one.blocks.decideApproval(asked.id, { decision: 'approve', digest: asked.digest }, ME);
  await one.outcome(id);
  t.match((await one.answerTo(id))?.steps, [{ outcome: 'done' }, { outcome: 'done' }, { outcome: 'not-offered' }]);
});

t.test('23: what is approved under the kill switch runs after its release', async (t) => {
  const { one, id, asked } = await waiting(t);
  await one.blocks.halt();
  await one.blocks.decideApproval(asked.id, { decision: 'approve', digest: asked.digest }, ME);
  t.match(await one.blocks.approval(asked.id), { state: 'approved' });
  t.strictSame(one.host.calls, []);
  await one.blocks.unhalt();
  await one.outcome(id);
  t.equal(one.effects().length, 1);
});

t.test('a decision after the message was cancelled is refused, and nothing is called', async (t) => {
  const { one, id, asked } = await waiting(t);
  await one.blocks.cancel('ada', id);
  await t.rejects(one.blocks.decideApproval(asked.id, { decision: 'approve', digest: asked.digest, scope: 'always' }, ME), { code: 'APPROVAL_DECIDED' });
  t.match((await one.blocks.approvals({ state: 'cancelled' })).approvals, [{ id: asked.id }]);
  t.strictSame(one.effects(), []);
  t.strictSame((await one.blocks.config('ada')).tools, ASK);
});

t.test('a cancel and a decision at once: one of them holds, and the message has an outcome', async (t) => {
  const { one, id, asked } = await waiting(t);
  await Promise.allSettled([one.blocks.cancel('ada', id), one.blocks.decideApproval(asked.id, { decision: 'approve', digest: asked.digest }, ME)]);
  await one.outcome(id);
  const records = await one.records(id);
  t.equal(records.filter(({ t: kind }) => kind === 'decision').length, 1);
  t.ok(one.effects().length <= 1);
});

t.test('a decision is never used for another call: the next one has a place, an id and a digest of its own', async (t) => {
  const say = ({ results }: Seen): Said => (results.length < 2 ? [pay(results.length === 0 ? 'bob' : 'eve')] : 'Done.');
  const { one, id, asked } = await waiting(t, { say });
  const first = { decision: 'approve', digest: asked.digest } as const;
  await one.blocks.decideApproval(asked.id, first, ME);
  const [second] = await pendingIn(one);
  t.match(second, { call: '2.1', arguments: { to: 'eve' } });
  t.not(second?.id, asked.id);
  await t.rejects(one.blocks.decideApproval(asked.id, first, ME), { code: 'APPROVAL_DECIDED' }, 'a replay decides nothing');
  await t.rejects(one.blocks.decideApproval(second?.id ?? '', first, ME), { code: 'APPROVAL_STALE' });
  t.equal(one.effects().length, 1);
  await one.blocks.decideApproval(second?.id ?? '', { decision: 'deny', digest: second?.digest ?? '' }, ME);
  await one.outcome(id);
});

/** Decides each call in the moment in which the bus tells of it. Returns whether it was listed by then. */
function decidingAtOnce({ core, blocks }: ToolCore, decision: 'approve' | 'deny'): Promise<boolean>[] {
  const decisions: Promise<boolean>[] = [];
  core.events.on('approval.requested', ({ approval }) => {
    const decided = blocks.approvals().then(async ({ approvals }) => {
      const { digest } = await blocks.approval(approval);
      await blocks.decideApproval(approval, { decision, digest }, ME);
      return approvals.some(({ id }) => id === approval);
    });
    decisions.push(decided);
  });
  return decisions;
}

t.test('calls are listed and can be decided from the moment that the bus tells of them, before their message is left waiting', async (t) => {
  for (const decision of ['approve', 'deny'] as const)
    for (const calls of [[pay('bob')], [pay('bob'), pay('eve')]])
      await t.test(`${decision} ${calls.length}`, async (t) => {
        const one = await toolCore(t, { rules: ASK, say: once(...calls) });
        const decisions = decidingAtOnce(one, decision);
        t.match(await one.outcome(await one.post('Pay.')), { status: 'done' });
        t.notOk((await Promise.all(decisions)).includes(false), 'each was listed');
        t.equal(one.effects().length, decision === 'approve' ? calls.length : 0);
      });
});

t.test('the bus and the log of the block tell of calls and decisions, and never of what is in them', async (t) => {
  const { one, id, asked } = await waiting(t, { say: once(pay('canary-in-the-arguments')) });
  await one.blocks.decideApproval(asked.id, { decision: 'approve', digest: asked.digest, note: 'canary-in-the-note' }, ME);
  await one.outcome(id);
  const { id: approval, expiresAt } = asked;
  t.strictSame(one.factsOf('approval.requested'), [{ block: 'ada', id, approval, tool: 'bank/pay', because: 'rule', expiresAt }]);
  t.strictSame(one.factsOf('approval.decided'), [{ block: 'ada', id, approval, tool: 'bank/pay', state: 'approved' }]);
  t.strictSame(one.factsOf('tool.called'), [{ block: 'ada', id, call: '1.1', tool: 'bank/pay' }]);
  t.match(one.factsOf('tool.finished'), [{ block: 'ada', id, call: '1.1', tool: 'bank/pay', outcome: 'done', isError: false }]);
  const [log] = await one.blocks.logs('ada');
  for (const line of ['approval.requested', 'approval.decided', 'tool.called', 'tool.finished']) t.match(log, { content: new RegExp(line) }, line);
  t.notMatch(JSON.stringify([log, one.facts.filter(({ type }) => /^(approval|tool)/.test(type))]), /canary/);
});

t.test('a call of a block in the archive does not wait and can not be decided; after a restore under another name it waits again under its id', async (t) => {
  const one = await toolCore(t, { rules: { servers: ['bank'], ask: ['*'] }, say: ({ results }) => (results.length === 0 ? [pay('bob')] : 'Paid.') });
  const id = await one.post('Pay bob.');
  const [approval] = await pendingIn(one);
  if (approval === undefined) throw new Error('nothing waits');
  const yes = { decision: 'approve', digest: approval.digest } as const;
  const { archiveName } = await one.blocks.archive('ada');
  await pendingIn(one, 0);
  await t.rejects(one.blocks.approval(approval.id), { code: 'APPROVAL_NOT_FOUND' });
  await t.rejects(one.blocks.decideApproval(approval.id, yes, { channel: 'cli', name: 'x' }), { code: 'APPROVAL_NOT_FOUND' });
  await one.create('ada', { ...RUNNABLE }); // who has its name now decides nothing of it
  await t.rejects(one.blocks.decide('ada', approval.id, yes, { channel: 'cli', name: 'x' }), { code: 'APPROVAL_NOT_FOUND' });
  await one.blocks.restore(archiveName, { name: 'eve' });
  t.match(await pendingIn(one), [{ id: approval.id, digest: approval.digest, block: 'eve' }]);
  t.match(await one.blocks.approval(approval.id), { block: 'eve' });
  t.strictSame(one.effects(), []);
  await one.blocks.start('eve');
  await one.blocks.decideApproval(approval.id, yes, { channel: 'cli', name: 'x' });
  await until('it is paid', () => one.effects().length === 1, 30_000);
  t.match(one.effects(), [{ callId: `eve/${id}/1.1` }]);
});
