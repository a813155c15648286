import t from 'tap';
import { styleFor } from '../../../cli/terminal/output.ts';
import { approvalCard, approvalTable, decisionText } from '../../../cli/views/approval-text.ts';
import { visibleLine } from '../../../cli/terminal/unseen.ts';
import { runLines } from '../../../cli/views/run-text.ts';
import type { RunRecord, ShownApproval } from '../../../core/index.ts';
import { pay } from '../../support/tools/calls.ts';
import { AT, answerRecord, approvalOf, callRecord, modelRecord, resultRecord, runRecord } from '../../support/tools/records.ts';

const VIEW = { now: Date.parse(AT), style: styleFor(false), width: 120 };
const shown = (more: object = {}): ShownApproval =>
  ({
    ...approvalOf('a3f9c2b1d0e4a7586', { arguments: { to: 'bob\u202e', why: 'x'.repeat(100) }, ...more }),
    state: 'pending',
    scopes: ['once'],
    ...more,
  }) as ShownApproval;

t.test('a list has a short id, and a card everything that a person needs, with nothing hidden', async (t) => {
  t.strictSame(approvalTable([], VIEW), []);
  t.match(approvalTable([shown()], VIEW).join('\n'), /a3f9c2b1d .*ada .*bank\/pay/);
  const narrow = approvalTable([shown({ tool: 'files/write_file', arguments: { path: '/home/ada/shared/summary.md' } })], { ...VIEW, width: 80 });
  t.match(narrow[1], /\{"path":"\/home/, 'what is decided about stays where there is no room for all');
  t.equal(Math.max(...narrow.map((line) => line.length)) <= 80, true);
  const card = approvalCard(
    shown({
      because: 'tainted',
      readBefore: ['web/fetch'],
      taint: [
        { messageId: 'm1', tool: 'web/fetch' },
        { messageId: 'm0', via: 'hook' },
      ],
    }),
    VIEW,
  ).join('\n');
  t.match(card, /to: "bob\\u202e"/);
  t.match(card, new RegExp(`why: "${'x'.repeat(100)}"`));
  t.match(card, /what is known of it: it sends nothing out\n/);
  t.match(card, /read before: web\/fetch\ntainted by web\/fetch in message m1\ntainted by a message that came by hook in message m0/);
  t.match(
    approvalCard(shown({ kind: 'unknown', arguments: {}, marks: {} }), VIEW).join('\n'),
    /may have run.*\n {2}no arguments\nwhat is known of it: nothing, so it may write/,
  );
  t.equal(visibleLine('a\u{fe0f}\u0007\nb').includes('\n'), false);
  const pushed = { command: `ls${' '.repeat(5000)}; rm -rf ~`, [`a${' '.repeat(60)}b`]: `x${' '.repeat(8)}y` };
  const lines = approvalCard(shown({ arguments: pushed }), VIEW);
  t.ok(lines.includes('  command: "ls[5000 blanks]; rm -rf ~"'), 'blanks push nothing out of sight');
  t.ok(lines.includes('  a[60 blanks]b: "x        y"'));
});

t.test('a decision says what follows from it', async (t) => {
  const by = { decidedBy: { channel: 'cli', name: 'token' } };
  t.equal(decisionText(shown({ state: 'approved', ...by })), 'bank/pay is approved by cli token.');
  t.match(decisionText(shown({ state: 'approved', scope: 'always', ...by })), /a rule allows later calls\.$/);
  t.match(decisionText(shown({ state: 'approved', scope: 'same-arguments', ...by })), /with these arguments\.$/);
  for (const [decision, words] of Object.entries({ ran: 'said to have run', 'not-ran': 'called again', tell: 'left to the model' }))
    t.match(decisionText(shown({ state: 'approved', decision, ...by })), words);
  t.match(decisionText(shown({ state: 'denied', note: 'No.' })), /is denied\. Note: No\.$/);
});

t.test('a run says which skills it began with', async (t) => {
  const of = (...skills: string[]) => runLines({ messageId: 'm1', records: [{ ...runRecord(), skills } as RunRecord] }, VIEW);
  t.match(of('invoice#77ab'), [/6 tools, the skill invoice, because of/]);
  t.match(of('a#1', 'b#2'), [/the skills a, b, because of/]);
  t.match(of(), [/6 tools, because of/]);
});

t.test('a run is a timeline, in which what is not known has its own word', async (t) => {
  const records: RunRecord[] = [
    runRecord(),
    modelRecord(1),
    { ...answerRecord(1, [pay('bob'), pay('eve'), pay('kim')]), text: 'I will pay.' } as RunRecord,
    { t: 'ask', call: '1.1', approval: approvalOf('a1') },
    { t: 'decision', approval: 'a1', decision: 'approve', by: { channel: 'cli', name: 'token' }, at: AT, note: 'Go.' },
    callRecord('1.1', 'pay', 2),
    resultRecord('1.1', { text: 'y'.repeat(300) }),
    { t: 'unknown', call: '1.2', why: 'it was cut off' },
    { t: 'refused', call: '1.3', code: 'denied', note: 'No.' },
    { t: 'resume', at: AT, attempt: 1 },
    { t: 'end', at: AT, status: 'failed', code: 'TOOL_LIMIT' },
  ];
  const text = runLines({ messageId: 'm1', records }, VIEW).join('\n');
  for (const part of [
    /^run 1 {2}12:00:00\.000/,
    /step 1 .*model, 5 ms, 15 tokens/,
    /I will pay\./,
    /1\.1 bank\/pay waits for a person \(a1, because a rule asks\)/,
    /1\.1 bank\/pay: approve by cli token: Go\./,
    /1\.1 bank\/pay called .*try 2/,
    /1\.1 bank\/pay done in 3 ms: y{200}…/,
    /1\.2 bank\/pay UNKNOWN: it may have taken effect/,
    /1\.3 bank\/pay refused \(denied\): No\./,
    /end: failed \(TOOL_LIMIT\)$/,
  ])
    t.match(text, part);
});

t.test('a call that goes on with the answer of a person is no other try, and one that is made again is', async (t) => {
  const asks: RunRecord = { t: 'input', call: '1.1', at: AT, requests: { who: { message: 'Who?' } } } as unknown as RunRecord;
  const answered: RunRecord = { t: 'decision', approval: 'a1', decision: 'approve', by: { channel: 'cli', name: 'token' }, at: AT };
  const records: RunRecord[] = [
    runRecord(),
    modelRecord(1),
    answerRecord(1, [pay('bob')]),
    callRecord('1.1', 'pay', 1),
    asks,
    { t: 'ask', call: '1.1', approval: approvalOf('a1') },
    answered,
    callRecord('1.1', 'pay', 2),
    callRecord('1.1', 'pay', 3),
    resultRecord('1.1'),
  ];
  const sent = runLines({ messageId: 'm1', records }, VIEW).filter((line) => / (?:called|goes on) /.test(line));
  t.match(sent, [/bank\/pay called {2}[\d:.]+$/, /bank\/pay goes on with the answer {2}[\d:.]+$/, /bank\/pay called {2}[\d:.]+, try 2$/]);
  t.equal(sent.length, 3);
});
