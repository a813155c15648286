// The order of a reply's steps, as a table.
import t from 'tap';
import { initialTransition, transition } from 'xstate';
import { ENDED_EARLY, NOT_CALLED } from '../../../../core/block/reply/attempt.ts';
import {
  type Called,
  type CallFailure,
  createReplyMachine,
  type Plan,
  type ReplyContext,
  type ReplyEvent,
  type ReplySnapshot,
  taskOf,
} from '../../../../core/block/reply/reply-machine.ts';
import { textParts } from '../../../../core/gateway/parts.ts';
import { AT, configOf, userEntry } from '../../../support/block-files.ts';

const machine = createReplyMachine(() => t.fail('no work is done here') as never);
const REASON = { code: 'X', message: 'Why.', fix: null };
const PAUSE = { kind: 'pause', until: null, reason: REASON, actor: 'budget' } as const;
const OVER = { kind: 'over', failed: false } as const;
const MESSAGE = userEntry('m1', { status: 'processing', attempts: 2, startedAt: AT });
const BILL = {
  at: AT,
  provider: 'p',
  model: 'a',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  costUsd: null,
  latencyMs: 1,
  ttftMs: null,
  failed: true,
};

type Failed = Called & { readonly kind: 'failed' };

function planOf(models: readonly string[]): Plan {
  const candidates = models.map((model) => ({ provider: 'p', model, config: {} }));
  return { config: configOf({}), window: { messages: [], entries: 1, tokens: 1 }, candidates } as unknown as Plan;
}

function failed(failure: Partial<CallFailure> = {}, rest: Partial<Failed> = {}): Failed {
  const plain = { code: 'UPSTREAM_REJECTED', message: 'No.', retryable: false, kind: 'message', reason: REASON } as const;
  return {
    kind: 'failed',
    failure: { ...plain, mayHaveRun: false, countsAsAttempt: true, mayAskNext: true, retryMs: null, ...failure },
    bill: null,
    content: [],
    ...rest,
  };
}

const ANSWERED: Called = {
  kind: 'answered',
  answer: { message: { role: 'assistant', content: textParts('Hello.') }, stopReason: 'end_turn', bill: BILL, isCut: false },
};
const CANCELLED = failed({ code: 'CANCELLED', kind: 'cancelled' });
const ABORT = { type: 'abort', cause: 'stop' } as const;
const CANCEL = { type: 'abort', cause: 'cancel' } as const;
const TEXT = { type: 'text.began' } as const;

/** The step under way has ended with this. */
const done = (output: unknown): ReplyEvent => ({ type: 'xstate.done.actor.step', actorId: 'step', output }) as unknown as ReplyEvent;
const fault = (): ReplyEvent => ({ type: 'xstate.error.actor.step', actorId: 'step', error: new Error('disk') }) as unknown as ReplyEvent;

function after(...events: readonly ReplyEvent[]): ReplySnapshot {
  const [first] = initialTransition(machine, { messageId: 'm1' });
  return events.reduce((snapshot, event) => transition(machine, snapshot, event)[0], first);
}

function calling(...models: readonly string[]): ReplyEvent[] {
  return [done(planOf(models)), done(null), done(MESSAGE)];
}

type Row = readonly [what: string, events: readonly ReplyEvent[], state: unknown, context?: Partial<ReplyContext>];

const ROWS: readonly Row[] = [
  ['a reply begins', [], 'preparing', { messageId: 'm1', outcome: OVER }],
  ['the message is gone', [done(null)], 'done', { outcome: OVER }],
  ['a plan is made', [done(planOf(['a']))], 'checkingBudget'],
  ['a cap forbids the call', [done(planOf(['a'])), done(PAUSE)], 'done', { outcome: PAUSE, message: null }],
  ['the budget allows it', [done(planOf(['a'])), done(null)], 'beginning'],
  ['the message waits no longer', [done(planOf(['a'])), done(null), done(null)], 'done', { outcome: OVER }],
  ['the attempt is counted', calling('a'), { calling: 'waiting' }, { message: MESSAGE, asked: 0 }],
  ['the first text', [...calling('a'), TEXT], { calling: 'streaming' }],
  ['answered', [...calling('a'), TEXT, done(ANSWERED)], 'saving', { ending: { kind: 'answer', answer: ANSWERED.answer } }],
  [
    'the kill switch came first',
    [...calling('a'), done({ kind: 'refused', pause: PAUSE })],
    'saving',
    { ending: { kind: 'requeue', fault: NOT_CALLED, countsAsAttempt: false, outcome: PAUSE } },
  ],
  [
    'the kill switch came before the fallback',
    [...calling('a', 'b'), done(failed({ mayHaveRun: true })), done({ kind: 'refused', pause: PAUSE })],
    'saving',
    { ending: { kind: 'requeue', fault: NOT_CALLED, countsAsAttempt: true, outcome: PAUSE } },
  ],
  [
    'transient',
    [...calling('a', 'b'), done(failed({ kind: 'transient', retryMs: 5 }))],
    'saving',
    { ending: { kind: 'retry', delayMs: 5, countsAsAttempt: true, failure: failed({ kind: 'transient', retryMs: 5 }).failure } },
  ],
  ['permanent, with a fallback', [...calling('a', 'b'), TEXT, done(failed())], { calling: 'waiting' }, { asked: 1, first: failed().failure }],
  [
    'the first failure decides, also about a retry',
    [...calling('a', 'b'), done(failed()), done(failed({ kind: 'transient', retryMs: 5 }))],
    'saving',
    { ending: { kind: 'failed', fault: failed().failure } },
  ],
  ['the fallback answers', [...calling('a', 'b'), done(failed()), done(ANSWERED)], 'saving', { asked: 1, ending: { kind: 'answer', answer: ANSWERED.answer } }],
  [
    'permanent for the block',
    [...calling('a'), done(failed({ kind: 'block' }))],
    'saving',
    {
      ending: { kind: 'requeue', fault: failed({ kind: 'block' }).failure, countsAsAttempt: false, outcome: { kind: 'fail', reason: REASON } },
    },
  ],
  [
    'stopped before any text, also with a fallback',
    [...calling('a', 'b'), ABORT, done(CANCELLED)],
    'saving',
    { ending: { kind: 'requeue', fault: ENDED_EARLY, countsAsAttempt: false, outcome: OVER } },
  ],
  [
    'stopped with some text',
    [...calling('a'), TEXT, ABORT, done({ ...CANCELLED, content: textParts('Hel'), bill: BILL })],
    'saving',
    { ending: { kind: 'interrupted', content: textParts('Hel'), bill: BILL, isCancelled: false } },
  ],
  [
    'cancelled with some text',
    [...calling('a'), TEXT, CANCEL, ABORT, done({ ...CANCELLED, content: textParts('Hel') })],
    'saving',
    { ending: { kind: 'interrupted', content: textParts('Hel'), bill: null, isCancelled: true } },
  ],
  ['cancelled before any text', [...calling('a'), CANCEL, done(CANCELLED)], 'saving', { ending: { kind: 'cancelled' } }],
  ['stopped, and then cancelled', [...calling('a'), ABORT, CANCEL], { calling: 'waiting' }, { endedBy: 'stop' }],
  ['ended before the call', [CANCEL, ...calling('a')], { calling: 'waiting' }, { endedBy: 'cancel' }],
  [
    'the gateway has closed',
    [...calling('a'), done(failed({ code: 'SHUTTING_DOWN', kind: 'cancelled' }))],
    'saving',
    { ending: { kind: 'requeue', fault: ENDED_EARLY, countsAsAttempt: false, outcome: { kind: 'pause', until: null, reason: REASON, actor: 'server' } } },
  ],
  ['saved', [...calling('a'), done(ANSWERED), done({ kind: 'answered', compact: true })], 'done', { outcome: { kind: 'answered', compact: true } }],
  ['a fault of the disk in the first step', [fault()], 'broken', { message: null }],
  ['a fault of the disk in the last step', [...calling('a'), done(ANSWERED), fault()], 'broken', { message: MESSAGE }],
];

t.test('each event in each state leads to the expected state, and the context is JSON', async (t) => {
  for (const [what, events, state, context = {}] of ROWS) {
    const snapshot = after(...events);
    t.strictSame(snapshot.value, state, what);
    t.match(snapshot.context, context, what);
    t.strictSame(JSON.parse(JSON.stringify(snapshot.context)), snapshot.context, what);
  }
});

t.test('the outcome of a reply is that of its last step, and the error of `broken` is its error', async (t) => {
  t.match(after(done(planOf(['a'])), done(PAUSE)), { status: 'done', output: PAUSE });
  const calledOff = [...calling('a'), ABORT, done(CANCELLED)];
  t.strictSame(after(...calledOff, done(OVER)).output, { ...OVER, isCutOff: true });
  t.strictSame(after(ABORT, done(null)).output, { ...OVER, isCutOff: true }, 'before the attempt has begun');
  t.strictSame(after(...calledOff, done(PAUSE)).output, PAUSE);
  t.strictSame(after(...calling('a'), CANCEL, done(CANCELLED), done(OVER)).output, OVER);
  const broken = after(fault(), fault());
  t.match(broken, { status: 'error', error: { message: 'disk' } });
});

t.test('the shown task is a projection of the state', async (t) => {
  const shown = { messageId: 'm1', startedAt: AT, attempt: 2, outputChars: 0 };
  t.equal(taskOf(after()), null);
  t.strictSame(taskOf(after(...calling('a'))), { ...shown, phase: 'waiting-model' });
  t.strictSame(taskOf(after(...calling('a'), TEXT)), { ...shown, phase: 'streaming' });
  t.strictSame(taskOf(after(...calling('a'), TEXT, done(ANSWERED))), { ...shown, phase: 'saving', outputChars: 6 });
  t.equal(taskOf(after(...calling('a'), CANCEL, done(CANCELLED))), null, 'what was cancelled is not shown as an answer');
});
