import t from 'tap';
import { type ChatEntry, forKeys } from '../../../../core/index.ts';
import { failureOf } from '../../../../transports/http/handlers/block-failure.ts';

const entry = (status: ChatEntry['status'], error: ChatEntry['error'] = null) => ({ id: 'm1', role: 'user', status, error }) as ChatEntry;
const textOf = (of: ChatEntry, answer: ChatEntry | null = null) => failureOf({ entry: of, answer }, 'ada').message;

t.test('a failed message says its code and its id, and to applications not what the provider has said', async (t) => {
  const failure = failureOf(
    { entry: entry('failed', { code: 'UPSTREAM_AUTH', message: 'http://10.0.0.7 refused the key.', retryable: false }), answer: null },
    'ada',
  );
  t.match(failure, { code: 'MESSAGE_FAILED', status: 502, retryable: false });
  t.equal(failure.message, 'The message m1 of the block ada has failed (UPSTREAM_AUTH): http://10.0.0.7 refused the key.');
  t.equal(forKeys(failure).message, 'The message m1 of the block ada has failed (UPSTREAM_AUTH).');
  t.match(textOf(entry('failed')), /has failed \(unknown\): the cause is not known\.$/);
});

t.test('a message that was cancelled, has expired or was interrupted says so', async (t) => {
  t.equal(textOf(entry('cancelled')), 'The message m1 of the block ada was cancelled.');
  t.match(textOf(entry('expired')), /has expired: it waited too long/);
  t.match(textOf(entry('done'), { ...entry('done'), status: 'interrupted' }), /was interrupted, because the block ada was stopped/);
  t.match(textOf(entry('done')), /has no answer/);
});
