import t from 'tap';
import type { Bill } from '../../../../core/block/reply/billing.ts';
import type { BlockContext } from '../../../../core/block/reply/block-context.ts';
import { answerEntry, entryError, reportAnswer, reportAttemptOver, reportUnanswered } from '../../../../core/block/reply/outcome.ts';
import { BlockhouseError } from '../../../../core/errors.ts';
import { textParts } from '../../../../core/gateway/parts.ts';
import { AT, userEntry } from '../../../support/block-files.ts';

const MESSAGE = userEntry('m1', { channel: 'cli', status: 'processing', attempts: 2, startedAt: AT });
const CANDIDATE = { provider: 'p', model: 'm', config: {} };
const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const BILL: Bill = { at: AT, provider: 'p', model: 'm', usage: USAGE, costUsd: 0.1, latencyMs: 7, ttftMs: 4, failed: false };

function contextOf() {
  const steps: unknown[] = [];
  const lines: unknown[] = [];
  const facts: unknown[] = [];
  const context = {
    name: 'ada',
    files: { conversation: { newId: () => 'a1' } },
    at: () => AT,
    feed: { emit: (step: unknown) => steps.push(step) },
    log: { write: (...line: unknown[]) => lines.push(line) },
    world: { bus: { emit: (...fact: unknown[]) => facts.push(fact) } },
  } as unknown as BlockContext;
  return { context, steps, lines, facts };
}

t.test('an answer names its message, its model and its bill', async (t) => {
  const { context } = contextOf();
  const parts = { message: MESSAGE, candidate: CANDIDATE, content: textParts('Hello.'), status: 'done', bill: BILL, stopReason: 'end_turn' } as const;
  t.strictSame(answerEntry(context, parts), {
    id: 'a1',
    role: 'assistant',
    content: 'Hello.',
    timestamp: AT,
    processed: true,
    status: 'done',
    channel: 'cli',
    replyTo: 'm1',
    attempts: 2,
    error: null,
    provider: 'p',
    model: 'm',
    usage: USAGE,
    costUsd: 0.1,
    latencyMs: 7,
    ttftMs: 4,
    stopReason: 'end_turn',
    startedAt: AT,
    finishedAt: AT,
  });
});

t.test('unknown fields of an answer are null, and a missing stop reason is left out', async (t) => {
  const { context } = contextOf();
  const { attempts: _attempts, startedAt: _start, ...message } = MESSAGE;
  const answer = answerEntry(context, { message, candidate: CANDIDATE, content: textParts('Hel'), status: 'interrupted', bill: null });
  t.equal(answer.content, 'Hel');
  t.match(answer, { attempts: 1, usage: null, costUsd: null, latencyMs: null, ttftMs: null, startedAt: null });
  t.notOk('stopReason' in answer);
});

t.test('an entry keeps the text of an answer, as the model wrote it', async (t) => {
  const { context } = contextOf();
  const content = [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'One, ' },
    { type: 'text', text: 'two' },
  ] as const;
  t.equal(answerEntry(context, { message: MESSAGE, candidate: CANDIDATE, content, status: 'done', bill: BILL }).content, 'One, two');
  t.equal(answerEntry(context, { message: MESSAGE, candidate: CANDIDATE, content: [], status: 'done', bill: BILL }).content, '');
});

t.test('an answer is reported to readers, the log and the bus', async (t) => {
  for (const [status, isCancelled, told, shown] of [
    ['done', false, 'done', 'done'],
    ['interrupted', false, 'interrupted', 'interrupted'],
    ['interrupted', true, 'cancelled', 'interrupted'],
  ] as const) {
    const { context, steps, lines, facts } = contextOf();
    reportAnswer(context, answerEntry(context, { message: MESSAGE, candidate: CANDIDATE, content: textParts('x'), status, bill: BILL }), BILL, isCancelled);
    t.strictSame(steps, [{ id: 'm1', event: 'done', answerId: 'a1', status: shown, stopReason: 'unknown' }]);
    t.strictSame(lines, [['INFO', `reply.${told}`, { id: 'm1', model: 'm', in: 3, out: 2, cost: 0.1, ms: 7 }]]);
    t.strictSame(facts, [['message.finished', { block: 'ada', id: 'm1', status: told, answerId: 'a1', costUsd: 0.1, latencyMs: 7, usage: USAGE }]]);
  }
});

t.test('an outcome without an answer names its cause', async (t) => {
  const failure = new BlockhouseError('UPSTREAM_REJECTED', 'No.');
  t.strictSame(entryError(failure), { code: 'UPSTREAM_REJECTED', message: 'No.', retryable: false });
  for (const [status, level] of [
    ['failed', 'ERROR'],
    ['cancelled', 'INFO'],
  ] as const) {
    const { context, steps, lines, facts } = contextOf();
    reportUnanswered(context, 'm1', status, failure);
    t.strictSame(steps, [{ id: 'm1', event: 'error', code: 'UPSTREAM_REJECTED', error: 'No.', willRetry: false }]);
    t.strictSame(lines, [[level, `message.${status}`, { id: 'm1', code: 'UPSTREAM_REJECTED', error: 'No.' }]]);
    t.strictSame(facts, [['message.finished', { block: 'ada', id: 'm1', status, code: 'UPSTREAM_REJECTED' }]]);
  }
});

t.test('an attempt that is followed by another is reported only to readers', async (t) => {
  const { context, steps, lines, facts } = contextOf();
  reportAttemptOver(context, 'm1', { code: 'UPSTREAM_FAILED', message: 'Busy.' }, true);
  t.strictSame(steps, [{ id: 'm1', event: 'error', code: 'UPSTREAM_FAILED', error: 'Busy.', willRetry: true }]);
  t.strictSame([lines, facts], [[], []]);
});
