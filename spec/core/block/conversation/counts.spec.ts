import t from 'tap';
import { isWaiting } from '../../../../core/block/conversation/chat-file.ts';
import { countedOf, countQueue, failuresIn, waitingIn } from '../../../../core/block/conversation/counts.ts';
import type { ChatEntry } from '../../../../core/schemas/chat-entry.ts';
import { AT, answerEntry, pair, userEntry } from '../../../support/block-files.ts';

const queued = (id: string, fields: Partial<ChatEntry> = {}) => userEntry(id, { processed: false, status: 'queued', attempts: 0, error: null, ...fields });
const processing = (id: string, fields: Partial<ChatEntry> = {}) => queued(id, { status: 'processing', attempts: 1, startedAt: AT, ...fields });

t.test('failed messages are counted, and the last one is described', (t) => {
  t.same(failuresIn([...pair('1'), queued('2'), answerEntry('3', '1', { status: 'failed' })]), { count: 0, since: null, last: null });
  t.same(failuresIn([userEntry('1', { status: 'failed', error: null })]), {
    count: 1,
    since: AT,
    last: { id: '1', at: AT, code: 'UNKNOWN', message: 'The cause was not recorded.' },
  });
  t.end();
});

t.test('messages that wait, are being answered or have failed are counted', (t) => {
  const entries = [
    userEntry('0', { status: 'failed' }),
    queued('1', { timestamp: '2026-01-01T00:00:00.000Z' }),
    processing('2'),
    queued('3'),
    answerEntry('4', undefined, { status: 'failed' }),
  ];
  t.same(countQueue(entries), { queued: 2, processing: 1, failed: 1, oldestQueuedAt: '2026-01-01T00:00:00.000Z' });
  t.equal(waitingIn(entries), 3);
  t.same(entries.map(isWaiting), [false, true, true, true, false]);
  t.same(
    [{ role: 'user' }, { role: 'user', processed: true }, { role: 'assistant' }].map((entry) => isWaiting(entry as ChatEntry)),
    [true, false, false],
  );
  t.end();
});

t.test('what is kept of a conversation counts as the whole does, without its texts', (t) => {
  const failed = userEntry('3', { status: 'failed', error: { code: 'X', message: 'no', retryable: false } });
  const whole = [...pair('1'), failed, queued('4', { content: 'long' }), processing('5'), ...pair('6')];
  for (const entries of [whole, whole.slice(0, -1), whole.slice(0, 4), [], [{ role: 'user', content: 'by hand' } as ChatEntry]]) {
    const kept = countedOf(entries);
    t.same([countQueue(kept), failuresIn(kept), kept.at(-1)?.timestamp], [countQueue(entries), failuresIn(entries), entries.at(-1)?.timestamp]);
    t.ok(kept.every(({ content }) => content === ''));
  }
  t.same(
    countedOf(whole).map(({ id }) => id),
    ['3', '4', '5', whole.at(-1)?.id],
  );
  t.end();
});
