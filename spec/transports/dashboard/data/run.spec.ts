import t from 'tap';
import type { Approval, RunRecord } from '../../../../core/types.ts';
import { costOf, decidedOf, linesOfRun, waitsNow } from '../../../../transports/dashboard/data/run.ts';

const AT = '2026-11-28T10:00:00.000Z';
const answer = (step: number, calls: readonly string[], costUsd: number | null): RunRecord => ({
  t: 'answer',
  step,
  at: AT,
  text: 'I look.',
  calls: calls.map((tool, index) => ({ n: index + 1, id: `c${index}`, tool, name: tool.replace('/', '__'), arguments: { to: tool } })),
  usage: null,
  costUsd,
  latencyMs: 10,
  ttftMs: null,
  stopReason: 'tool_use',
});
const ask = { id: 'a1', tool: 'bank/pay' } as unknown as Approval;
const RECORDS: readonly RunRecord[] = [
  { t: 'run', run: 1, at: AT, cause: 'message', tools: [], limits: {} },
  { t: 'model', step: 1, at: AT, provider: 'p', model: 'm', tokens: 5 },
  answer(1, ['bank/list', 'bank/pay', 'bank/send', 'bank/wait'], 0.5),
  { t: 'ask', call: '1.2', approval: ask },
  { t: 'decision', approval: 'a1', decision: 'approve', by: { channel: 'cli', name: 'token' }, at: AT },
  { t: 'decision', approval: 'a1', decision: 'deny', by: { channel: 'web', name: 'page' }, at: AT },
  { t: 'call', call: '1.1', at: AT, try: 1, pin: 'x' },
  { t: 'call', call: '1.2', at: AT, try: 2, pin: 'x' },
  { t: 'result', call: '1.1', at: AT, ms: 12, isError: true, text: 'no', ref: '1.1', chars: 9 },
  { t: 'unknown', call: '1.2', why: 'it ended' },
  { t: 'refused', call: '1.3', code: 'denied', note: 'not today' },
  { t: 'refused', call: '9.9', code: 'denied', note: 'of no call' },
  { t: 'from-a-later-server' } as unknown as RunRecord,
  { t: 'resume', at: AT, attempt: 2 },
  { t: 'model', step: 2, at: AT, provider: 'p', model: 'm', tokens: 5 },
  answer(2, [], null),
  { t: 'end', at: AT, status: 'done', content: 'Done.' },
];

t.test('a run is a line of time of models and tools, each with its outcome and the decision that held', async (t) => {
  const lines = linesOfRun(RECORDS);
  t.match(lines, [
    { kind: 'model', step: 1, model: 'm', answer: { costUsd: 0.5 } },
    { kind: 'tool', place: '1.1', tool: 'bank/list', arguments: { to: 'bank/list' }, outcome: 'done', isError: true, ms: 12, text: 'no', ref: '1.1', tries: 1 },
    { kind: 'tool', place: '1.2', outcome: 'unknown', text: 'it ended', tries: 2, moments: [{ ask: { id: 'a1' }, decision: { decision: 'approve' } }] },
    { kind: 'tool', place: '1.3', outcome: 'denied', text: 'not today', tries: 0 },
    { kind: 'tool', place: '1.4', tries: 0 },
    { kind: 'resume', at: AT },
    { kind: 'model', step: 2, answer: { calls: [] } },
  ]);
  t.equal(lines.length, 7);
  t.strictSame(costOf(lines), { usd: 0.5, uncounted: 1 });
});

t.test('a run that goes on after a decision was not interrupted', async (t) => {
  const waits: readonly RunRecord[] = RECORDS.slice(0, 5);
  const resume: RunRecord = { t: 'resume', at: AT, attempt: 1 };
  const kinds = (...records: readonly RunRecord[]): string[] => linesOfRun(records).map(({ kind }) => kind);
  t.notOk(kinds(...waits, resume).includes('resume'));
  t.ok(kinds(...waits, resume, resume).includes('resume'), 'and then again');
  t.ok(kinds(...waits.slice(0, 4), resume).includes('resume'), 'the server has ended while the call waited');
});

t.test('a journal that has just begun has no cost, and a model that is asked no answer', async (t) => {
  const lines = linesOfRun(RECORDS.slice(0, 2));
  t.match(lines, [{ kind: 'model', answer: undefined }]);
  t.strictSame(costOf(lines), { usd: null, uncounted: 0 });
  t.match(linesOfRun([{ t: 'run', run: 2, at: AT, cause: 'retry', tools: [], limits: {} }]), [{ kind: 'run' }]);
});

t.test('what a server asks, what was answered, and that it goes on as a task stand in their order', async (t) => {
  const by = { channel: 'web', name: 'page' } as const;
  const form = { message: 'For whom?', fields: [] };
  const asks = (id: string, kind: Approval['kind']): RunRecord => ({ t: 'ask', call: '1.1', approval: { ...ask, id, kind } });
  const records: readonly RunRecord[] = [
    answer(1, ['bank/pay'], null),
    asks('a1', 'call'),
    { t: 'decision', approval: 'a1', decision: 'approve', by, at: AT },
    { t: 'call', call: '1.1', at: AT, try: 1, pin: 'x' },
    { t: 'input', call: '1.1', at: AT, requests: { who: form } },
    asks('a2', 'input'),
    { t: 'decision', approval: 'a2', decision: 'approve', by, at: AT, input: { who: { action: 'accept', content: { name: 'Bob' } } } },
    { t: 'call', call: '1.1', at: '2026-11-28T11:00:00.000Z', try: 2, pin: 'x' },
    { t: 'task', call: '1.1', at: AT, taskId: 'task-1', ttlMs: null, pollMs: 100 },
    { t: 'task', call: '9.9', at: AT, taskId: 'of-no-call', ttlMs: null, pollMs: 100 },
  ];
  const [tool] = linesOfRun(records);
  if (tool?.kind !== 'tool') throw new Error('There is no tool.');
  t.match(tool.moments, [
    { ask: { id: 'a1' }, decision: { decision: 'approve' } },
    { t: 'input', requests: { who: { message: 'For whom?' } } },
    { ask: { id: 'a2' }, decision: { input: { who: { content: { name: 'Bob' } } } } },
    { t: 'task', taskId: 'task-1' },
  ]);
  t.equal(tool.moments.length, 4);
  t.notOk(waitsNow(tool));
  t.match(tool, { at: AT, tries: 1 }, 'it was sent once, and went on with the answer');
  const waits = (count: number): boolean | undefined => {
    const [line] = linesOfRun(records.slice(0, count));
    return line?.kind === 'tool' ? waitsNow(line) : undefined;
  };
  t.strictSame([1, 2, 3, 5, 6, 7].map(waits), [false, true, false, false, true, false]);
  const decision = records[6] as Extract<RunRecord, { readonly t: 'decision' }>;
  t.match(decidedOf({ kind: 'input' }, decision), { kind: 'input', decision: 'approve', decidedBy: { channel: 'web' } });
});
