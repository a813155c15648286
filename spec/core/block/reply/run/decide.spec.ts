// Decisions about what servers ask a person in the middle of a call: the wait, the answer, and what is not asked.
import t, { type Test } from 'tap';
import { closeRun } from '../../../../../core/block/reply/run/close.ts';
import { RunJournal } from '../../../../../core/block/reply/run/run-journal.ts';
import type { Conversation } from '../../../../../core/store/port.ts';
import type { ToolCallRequest, ToolOutcome, ToolQuestion } from '../../../../../core/tools/port.ts';
import type { Decide, RunRecord, ShownApproval } from '../../../../../core/types.ts';
import { AT, answerRecord, callRecord, modelRecord, runRecord } from '../../../../support/tools/records.ts';
import { crashedIn, kindsOf, pay, pendingIn, type ToolCoreOptions, toolCore } from '../../../../support/tools/tool-core.ts';

t.setTimeout(120_000);

const ME = { channel: 'cli', name: 'token' } as const;
const field = (more: object = {}) => ({ type: 'object', properties: { name: { type: 'string', ...more } }, required: ['name'] });
const asks = (requestedSchema: object = field()) => ({ who: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema } } });
const said = (text: string): ToolOutcome => ({ kind: 'result', isError: false, parts: [{ type: 'text', text }], ms: 1 });
const question = (requests: unknown = asks(), requestState = 's1'): ToolQuestion => ({ kind: 'input-required', requests, requestState, ms: 1 });
const ADA = { who: { action: 'accept', content: { name: 'Ada' } } } as const;

/** A core before a host that asks until it is answered. */
async function askingCore(t: Test, answer: (call: ToolCallRequest, index: number) => ToolOutcome | ToolQuestion, more: Partial<ToolCoreOptions> = {}) {
  const one = await toolCore(t, { say: ({ results }) => (results.length === 0 ? [pay('bob')] : results.join('|')), ...more });
  const calls: ToolCallRequest[] = [];
  one.host.call = async (call) => answer(call, calls.push(call)) as ToolOutcome;
  const decide = async (body: Omit<Decide, 'digest'>): Promise<ShownApproval> => {
    const [asked] = (await pendingIn(one)) as [ShownApproval];
    return one.blocks.decide('ada', asked.id, { ...body, digest: asked.digest }, ME);
  };
  return Object.assign(one, { calls, decide });
}

const onceAsked = (call: ToolCallRequest): ToolOutcome | ToolQuestion => (call.input === undefined ? question() : said(JSON.stringify(call.input)));

t.test('a question waits for a person, over a restart too, and its answer goes back with the state', async (t) => {
  const one = await askingCore(t, onceAsked);
  const id = await one.post('Pay bob.');
  const [asked] = (await pendingIn(one)) as [ShownApproval];
  t.match(asked, {
    kind: 'input',
    because: 'input',
    tool: 'bank/pay',
    scopes: [],
    request: { who: { message: 'Who?', fields: [{ name: 'name', type: 'string', isRequired: true }] } },
  });
  t.match(await one.blocks.explain('ada'), { why: /bank\/pay, because the server asks for something/ });
  await one.blocks.stop('ada');
  await one.blocks.start('ada');
  t.strictSame(
    (await pendingIn(one)).map(({ id }) => id),
    [asked.id],
  );
  t.equal(one.calls.length, 1);
  for (const [body, field] of [
    [{ decision: 'approve' }, /^input must have an answer for who/],
    [{ decision: 'approve', input: { who: { action: 'accept', content: {} } } }, /input\.who\.content\.name.* must be answered/],
    [{ decision: 'approve', input: {} }, /input\.who/],
    [{ decision: 'approve', input: ADA, scope: 'always' }, /scope/],
    [{ decision: 'deny', input: ADA }, /^input is for the decision approve/],
    [{ decision: 'ran' }, /^decision must be one of approve, deny/],
  ] as const)
    await t.rejects(one.decide(body as Omit<Decide, 'digest'>), { code: 'INVALID_REQUEST', message: field });
  await one.decide({ decision: 'approve', input: ADA });
  await one.outcome(id);
  t.match(one.calls[1], { callId: one.calls[0]?.callId, input: { responses: ADA, requestState: 's1' } });
  t.match(await one.answerTo(id), { content: JSON.stringify({ responses: ADA, requestState: 's1' }), steps: [{ outcome: 'done', approvedBy: 'cli:token' }] });
  t.strictSame(
    kindsOf(await one.records(id)).filter((kind) => kind.endsWith('1.1')),
    ['call 1.1', 'input 1.1', 'ask 1.1', 'call 1.1', 'result 1.1'],
  );
});

t.test('a denial declines, a deadline cancels; the tool says what follows', async (t) => {
  const denied = await askingCore(t, onceAsked);
  const id = await denied.post('Pay bob.');
  await denied.decide({ decision: 'deny' });
  await denied.outcome(id);
  t.match(denied.calls[1]?.input, { responses: { who: { action: 'decline' } } });
  await t.test('deadline', async (t) => {
    const late = await askingCore(t, onceAsked, { rules: { servers: ['bank'], allow: ['bank/*'], approvals: { timeoutMs: 30 } } });
    await late.outcome(await late.post('Pay bob.'));
    t.match(late.calls[1]?.input, { responses: { who: { action: 'cancel' } } });
  });
});

t.test('a server that asks for ever is answered five times, and what nobody may be asked is a result that says so', async (t) => {
  const one = await askingCore(t, (_, index) => question(asks(), `s${index}`));
  const id = await one.post('Pay bob.');
  for (let round = 0; round < 5; round += 1) await one.decide({ decision: 'approve', input: ADA });
  await one.outcome(id);
  t.equal(one.calls.length, 6);
  t.match(await one.answerTo(id), { content: /has asked a person 5 times in this call/, steps: [{ isError: true }] });
  await t.test('not asked', async (t) => {
    const secret = await askingCore(t, () => question(asks({ type: 'object', properties: { password: { type: 'string' } } })));
    const other = await secret.post('Pay bob.');
    await secret.outcome(other);
    t.match(await secret.answerTo(other), {
      content: /nobody was asked: the field password sounds like a secret/,
      steps: [{ outcome: 'done', isError: true }],
    });
    t.equal(secret.calls.length, 1);
  });
  await t.test('a state alone goes back at once, five times at most', async (t) => {
    const stateful = await askingCore(t, () => question({}));
    const other = await stateful.post('Pay bob.');
    await stateful.outcome(other);
    t.equal(stateful.calls.length, 6);
  });
});

t.test('a crash: a question without its ask is asked; one that was answered is sent, and sent once', async (t) => {
  const forms = { who: { message: 'Who?', fields: [{ name: 'name', type: 'string' as const, isRequired: true }] } };
  const begun: RunRecord[] = [
    runRecord(),
    modelRecord(1),
    answerRecord(1, [pay('bob')]),
    callRecord('1.1'),
    { t: 'input', call: '1.1', at: AT, requests: forms },
  ];
  const torn = await askingCore(t, onceAsked, { files: crashedIn(begun) });
  await torn.blocks.start('ada');
  const decided = await torn.decide({ decision: 'approve', input: ADA });
  t.equal(decided.state, 'approved');
  await torn.outcome('m1');
  t.equal(torn.calls.length, 1, 'only with the answer');
  t.match(torn.calls[0]?.input, { responses: ADA, requestState: undefined });
  await t.test('sent', async (t) => {
    const records = (await torn.records('m1')).filter(({ t: kind }) => kind !== 'end' && kind !== 'result' && kind !== 'resume');
    const ends = records.findLastIndex((record) => record.t === 'call');
    const after = await askingCore(t, onceAsked, { files: crashedIn(records.slice(0, ends + 1)) });
    await after.blocks.start('ada');
    await after.outcome('m1');
    t.equal(after.calls.length, 0, 'it may have run');
    t.match(await after.answerTo('m1'), { steps: [{ outcome: 'unknown' }] });
  });
});

t.test('the end of a run in a question says that nobody has answered', async (t) => {
  const records: RunRecord[] = [
    runRecord(),
    modelRecord(1),
    answerRecord(1, [pay('bob')]),
    callRecord('1.1'),
    { t: 'input', call: '1.1', at: AT, requests: {} },
  ];
  const conversation = { steps: async () => records, appendSteps: async () => undefined } as unknown as Conversation;
  const journal = await RunJournal.open({ conversation, claim: undefined, messageId: 'm1' });
  const here = { name: 'ada', at: () => AT, world: { tools: undefined } } as unknown as Parameters<typeof closeRun>[0];
  await closeRun(here, journal, 'm1', { status: 'cancelled', code: 'CANCELLED', what: 'It was cancelled.', at: AT });
  t.match(journal.state.callAt('1.1')?.outcome, { t: 'result', isError: true, text: /got no answer, because the message was cancelled/ });
});
