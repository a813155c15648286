// Approvals as people see them, and what the bus hears of records.
import mitt from 'mitt';
import t from 'tap';
import { approvalOf, approvalsOf } from '../../../../../core/block/reply/run/approvals.ts';
import { scopesFor, shownIn, stateAfter } from '../../../../../core/block/reply/run/shown.ts';
import { tellRecord } from '../../../../../core/block/reply/run/tell-records.ts';
import type { CoreBus } from '../../../../../core/bus.ts';
import { RunState } from '../../../../../core/tools/journal.ts';
import type { RunRecord } from '../../../../../core/types.ts';
import { pay } from '../../../../support/tools/calls.ts';
import { AT, answerRecord, approvalOf as made, modelRecord, resultRecord, runRecord } from '../../../../support/tools/records.ts';

const BY = { channel: 'web', name: 'page' } as const;
const ASKED: RunRecord[] = [runRecord(), modelRecord(1), answerRecord(1, [pay('bob')]), { t: 'ask', call: '1.1', approval: made('a1') }];
const decided = (decision: 'approve' | 'deny' | 'cancel' | 'expire' | 'tell', more: object = {}): RunRecord => ({
  t: 'decision',
  approval: 'a1',
  decision,
  by: BY,
  at: AT,
  ...more,
});

t.test('each has a state, and the decision if there is one', async (t) => {
  const shown = (records: readonly RunRecord[], now = 0) => shownIn(new RunState(records), now)[0];
  t.match(shown(ASKED), { state: 'pending', scopes: ['once', 'always', 'same-arguments'] });
  t.match(shown(ASKED, Date.parse('2999-01-02')), { state: 'expired', scopes: [] });
  t.match(shown([...ASKED, decided('deny', { note: 'No.' })]), { state: 'denied', scopes: [], decision: 'deny', decidedBy: BY, decidedAt: AT, note: 'No.' });
  t.match(shown([...ASKED, decided('approve', { scope: 'always' })]), { state: 'approved', scope: 'always' });
  t.match(shown([...ASKED, { t: 'refused', call: '1.1', code: 'not-run', note: '' }]), { state: 'cancelled', scopes: [] });
  t.strictSame([stateAfter('tell'), stateAfter('cancel'), stateAfter('expire')], ['approved', 'cancelled', 'expired']);
});

t.test('no-standing-repeat: a rule is offered only where one would be heeded', async (t) => {
  const scopes = (more: object) => scopesFor(made('a1', more));
  for (const because of ['rule', 'default'] as const) t.equal(scopes({ because }).length, 3, because);
  for (const because of ['repeat', 'unknown', 'input', 'tainted'] as const) t.strictSame(scopes({ because }), ['once'], because);
  t.equal(scopes({ because: 'tainted', marks: { readOnly: true, idempotent: false, closedWorld: false } }).length, 3);
  t.strictSame(scopes({ because: 'unknown', kind: 'unknown' }), []);
});

t.test('they are read from the journal of their message', async (t) => {
  const conversation = { steps: async () => ASKED } as never;
  t.match(await approvalsOf(conversation, 'm1', 0), [{ id: 'a1', state: 'pending' }]);
  t.match(await approvalOf(conversation, 'm1', 'a1', 0), { id: 'a1' });
  t.equal(await approvalOf(conversation, 'm1', 'a2', 0), undefined);
});

t.test('the bus hears of what was asked, decided, called and done', async (t) => {
  const bus = (mitt as unknown as () => CoreBus)();
  const heard: unknown[] = [];
  bus.on('*', (type, fact) => heard.push([type, fact]));
  const lines: unknown[] = [];
  const log = { write: (level: string, event: string) => lines.push(`${level} ${event}`) } as never;
  const records: RunRecord[] = [
    ...ASKED,
    decided('approve'),
    { ...decided('approve'), approval: 'a9' } as RunRecord,
    { t: 'call', call: '1.1', at: AT, try: 1, pin: 'p' },
    { t: 'cancel', call: '1.1', at: AT },
    resultRecord('1.1', { isError: true }),
    { t: 'unknown', call: '1.1', why: 'canary' },
    { t: 'refused', call: '1.1', code: 'denied', note: 'canary' },
  ];
  const state = new RunState();
  for (const record of records) {
    state.apply(record);
    tellRecord({ block: 'ada', bus, log }, 'm1', state, record);
  }
  const of = { block: 'ada', id: 'm1' };
  const call = { ...of, call: '1.1', tool: 'bank/pay' };
  t.strictSame(heard, [
    ['approval.requested', { ...of, approval: 'a1', tool: 'bank/pay', because: 'rule', expiresAt: made('a1').expiresAt }],
    ['approval.decided', { ...of, approval: 'a1', tool: 'bank/pay', state: 'approved' }],
    ['tool.called', call],
    ['tool.progressed', { ...call, state: 'cancelling', task: true }],
    ['tool.finished', { ...call, outcome: 'done', isError: true, ms: 3 }],
    ['tool.finished', { ...call, outcome: 'unknown', isError: false, ms: null }],
    ['tool.finished', { ...call, outcome: 'denied', isError: false, ms: null }],
  ]);
  t.equal(lines.length, 7);
  t.ok(lines.includes('WARN tool.finished'));
});
