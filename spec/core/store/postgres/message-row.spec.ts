import t from 'tap';
import { entryOf, type MessageRow, valuesOf, waitingOf } from '../../../../core/store/postgres/message-row.ts';
import { answerEntry, userEntry } from '../../../support/block-files.ts';

const ROW: MessageRow = {
  seq: 1,
  id: 'a',
  role: 'user',
  status: 'queued',
  content: 'hi',
  client_id: null,
  reply_to: null,
  attempts: 0,
  at: new Date('2026-11-20T14:03:22.123Z'),
  next_attempt_at: null,
  started_at: null,
  finished_at: null,
  error: null,
  outcome: null,
  rest: { channel: 'api' },
  waiting_for: null,
};

t.test('a row is an entry without the fields that it does not have', async (t) => {
  t.strictSame(entryOf(ROW), { ...userEntry('a'), content: 'hi', processed: false, status: 'queued', channel: 'api', attempts: 0, error: null });
  t.match(entryOf({ ...ROW, status: 'done' }), { processed: true });
  t.match(entryOf({ ...ROW, outcome: { stopReason: 'end_turn' }, finished_at: new Date(0) }), {
    stopReason: 'end_turn',
    finishedAt: '1970-01-01T00:00:00.000Z',
  });
});

t.test('what has no column of its own is kept, and a content that is no text for the database is kept there', async (t) => {
  const known = { ...answerEntry('b', 'a'), model: 'm', later: 1 };
  t.strictSame(JSON.parse(valuesOf(known).at(-1) as string), { channel: 'web', model: 'm', later: 1 });
  for (const content of ['\0', 'half \ud83d of a pair', '\udc4b']) {
    const values = valuesOf(userEntry('c', { content }));
    t.equal(values[3], '');
    t.equal(JSON.parse(values.at(-1) as string).content, content);
  }
  t.equal(valuesOf(userEntry('c', { content: '👋' }))[3], '👋');
});

t.test('what a message waits for is shown while it waits', async (t) => {
  const held = { ...ROW, status: 'waiting-approval', waiting_for: ['a1'] } as const;
  t.match(entryOf(held), { status: 'waiting-approval', processed: false, waitingFor: ['a1'] });
  t.equal(entryOf({ ...held, status: 'processing' }).waitingFor, undefined);
  t.equal(waitingOf(entryOf(held)), '["a1"]');
  t.equal(waitingOf(userEntry('c', { status: 'waiting-approval' })), '[]', 'written by hand: it is one that waits all the same');
  t.equal(waitingOf(userEntry('c')), null);
});
