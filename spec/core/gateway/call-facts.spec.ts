import t from 'tap';
import { type CallPast, failedAttempt, finishedFact, stateOf } from '../../../core/gateway/call-facts.ts';
import { Chat } from '../../../core/gateway/calls/chat.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import { steppedAdapter } from '../../support/stepped-adapter.ts';

const PAST: CallPast = { startedAt: 100, placedAt: 110, sentAt: 120, firstTextAt: undefined, attempts: 1, failed: undefined, credential: undefined };

function call(model = 'm', askedAs?: string): Chat {
  const request = { adapter: 'stepped', model, messages: [] };
  const prompt = { turns: [] } as unknown as Chat['prompt'];
  const options = { askedAs, path: '/v1/messages', key: 'app' };
  return new Chat({ request, adapter: steppedAdapter(), prompt, signal: AbortSignal.timeout(1), requestId: 'r', sink: undefined, options });
}

t.test('times are told from the acceptance of the call, and those that are not known are left open', async (t) => {
  const failure = new BlockhouseError('UPSTREAM_FAILED', 'words of the provider', { upstreamStatus: 503 });
  const failed = failedAttempt(failure, undefined, PAST, 150);
  t.same(failed, { sentMs: 20, endedMs: 50, firstTextMs: undefined, credential: undefined, code: 'UPSTREAM_FAILED', upstreamStatus: 503 });
  t.notMatch(JSON.stringify(failed), 'words', 'what a provider says may repeat the prompt');
  t.match(stateOf(call('m', 'alias'), PAST, { now: 160, isMade: true, usage: undefined }), {
    asked: 'alias',
    path: '/v1/messages',
    phase: 'sent',
    queuedMs: 10,
    sentMs: 20,
    firstTextMs: undefined,
    durationMs: 60,
  });
});

t.test('a call that has asked very many keys tells of the first, and no name is kept whole that is too long', async (t) => {
  const one = failedAttempt(new BlockhouseError('UPSTREAM_AUTH', ''), undefined, PAST, 150);
  const past = { ...PAST, attempts: 50, failed: Array.from({ length: 50 }, () => one) };
  const fact = finishedFact(call('m', 'x'.repeat(100_000)), past, { usage: undefined, code: 'UPSTREAM_AUTH', now: 200 });
  t.equal(fact.failed?.length, 20);
  t.equal(fact.attempts, 50);
  t.ok((fact.asked?.length ?? 0) < 5000);
});
