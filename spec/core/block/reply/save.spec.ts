// How a message leaves `processing`.
import t from 'tap';
import { AnswerText } from '../../../../core/block/reply/answer-text.ts';
import { ENDED_EARLY } from '../../../../core/block/reply/attempt.ts';
import type { BlockContext } from '../../../../core/block/reply/block-context.ts';
import { Settlement } from '../../../../core/block/reply/save.ts';
import { BlockhouseError } from '../../../../core/errors.ts';
import { ChatArchive } from '../../../../core/store/files/chat/chat-archive.ts';
import { RunJournals } from '../../../../core/store/files/chat/run-journals.ts';
import { FileConversation } from '../../../../core/store/files/chat/conversation.ts';
import type { JsonFile } from '../../../../core/store/files/json-file.ts';
import type { Entries } from '../../../../core/store/port.ts';
import { AT, answerEntry, userEntry } from '../../../support/block-files.ts';

const BROKEN = new BlockhouseError('UPSTREAM_FAILED', 'Busy.');
const MESSAGE = userEntry('m1', { status: 'processing', processed: false, attempts: 2, startedAt: AT });

function settling(message = MESSAGE) {
  let entries: Entries = [message];
  const steps: { event: string; willRetry?: boolean }[] = [];
  const facts: unknown[] = [];
  const chat = {
    update: async (change: (entries: Entries) => { value: Entries; result: boolean }) => {
      const { value, result } = change(entries);
      entries = value;
      return result;
    },
  } as unknown as JsonFile<Entries>;
  const context = {
    name: 'ada',
    at: () => AT,
    feed: { start: () => steps.push({ event: 'start' }), emit: (step: { event: string }) => steps.push(step) },
    log: { write: () => undefined },
    files: { conversation: new FileConversation({ chat, archive: new ChatArchive(''), runs: new RunJournals(''), at: () => AT }) },
    world: { bus: { emit: (...fact: unknown[]) => facts.push(fact) } },
  } as unknown as BlockContext;
  const settlement = new Settlement(context, 'm1');
  settlement.open({ provider: 'p', model: 'm', config: {} }, 2, new AnswerText());
  return { settlement, steps, facts, entries: () => entries };
}

t.test('an answer and its message change together, and readers get one event', async (t) => {
  const { settlement, steps, facts, entries } = settling();
  t.ok(settlement.isOpen);
  await settlement.answer(answerEntry('a1', 'm1'), null, { status: 'done', error: null });
  t.notOk(settlement.isOpen);
  t.match(entries(), [{ id: 'm1', status: 'done', processed: true }, { id: 'a1' }]);
  t.match(steps, [{ event: 'start' }, { event: 'done' }]);
  t.match(facts, [['message.finished', { status: 'done' }]]);
});

t.test('a message fails with its error, and is cancelled without one', async (t) => {
  const failed = settling();
  await failed.settlement.fail(BROKEN);
  t.match(failed.entries(), [{ status: 'failed', finishedAt: AT, error: { code: 'UPSTREAM_FAILED' } }]);
  t.match(failed.facts, [['message.finished', { status: 'failed', code: 'UPSTREAM_FAILED' }]]);
  const cancelled = settling();
  await cancelled.settlement.cancel();
  t.match(cancelled.entries(), [{ status: 'cancelled', error: null }]);
  for (const { steps } of [failed, cancelled]) t.match(steps, [{}, { event: 'error', willRetry: false }]);
});

t.test('a requeued message keeps an attempt that counts, and its error', async (t) => {
  const broken = settling();
  await broken.settlement.requeue({ countsAsAttempt: true, nextAttemptAt: AT, fault: BROKEN });
  t.match(broken.entries(), [{ status: 'queued', processed: false, attempts: 2, nextAttemptAt: AT, error: { code: 'UPSTREAM_FAILED' } }]);
  const ended = settling();
  await ended.settlement.requeue({ countsAsAttempt: false, fault: ENDED_EARLY });
  t.match(ended.entries(), [{ status: 'queued', attempts: 1, error: undefined }]);
  for (const { steps, facts } of [broken, ended]) {
    t.match(steps, [{}, { event: 'error', willRetry: true }]);
    t.strictSame(facts, [], 'it is not over');
  }
});

t.test('an edit of the message by hand is not overwritten', async (t) => {
  const byHand = { ...MESSAGE, status: 'cancelled', processed: true } as const;
  for (const end of ['answer', 'fail', 'cancel'] as const) {
    const { settlement, steps, facts, entries } = settling(byHand);
    if (end === 'answer') await settlement.answer(answerEntry('a1', 'm1'), null, { status: 'done' });
    else if (end === 'fail') await settlement.fail(BROKEN);
    else await settlement.cancel();
    t.strictSame(entries(), [byHand]);
    t.match(steps, [{}, { event: 'error', code: 'CANCELLED', willRetry: false }]);
    t.strictSame(facts, []);
  }
});
