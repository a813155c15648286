import t from 'tap';
import { ANSWER_HEADERS, limitIn, type Protocol, REQUEST_HEADERS, usageOfWhole } from '../../../adapters/shared/protocol.ts';
import type { ReportedUsage } from '../../../core/index.ts';

t.test('no header that could carry a credential is sent on or handed back', async (t) => {
  for (const name of ['authorization', 'x-api-key', 'cookie', 'set-cookie', 'proxy-authorization', 'host', 'content-length']) {
    t.notOk(REQUEST_HEADERS.some((allowed) => allowed === name));
    t.notMatch(name, ANSWER_HEADERS);
  }
  for (const name of ['retry-after', 'retry-after-ms', 'request-id', 'x-request-id', 'x-should-retry', 'x-ratelimit-reset-tokens'])
    t.match(name, ANSWER_HEADERS);
});

t.test('the largest limit of a request counts, and 0 is no limit', async (t) => {
  t.equal(limitIn({ max_tokens: 5, max_completion_tokens: 9 }, 'max_tokens', 'max_completion_tokens'), 9);
  t.equal(limitIn({ max_tokens: 0, other: 7 }, 'max_tokens'), undefined);
  t.equal(limitIn({ max_tokens: '5' }, 'max_tokens'), undefined);
  t.equal(limitIn(undefined, 'max_tokens'), undefined);
});

t.test('an answer with text that says 0 tokens has not counted them, and so they are estimated', async (t) => {
  const of = (text: string, usage: ReportedUsage): ReportedUsage =>
    usageOfWhole(
      { readUsage: () => usage, writtenMember: 'choices' } as unknown as Protocol,
      Buffer.from(`{"choices":[{"message":{"content":"${text}"}}]}`),
      {},
    );
  t.same(of('hi', { inputTokens: 0, outputTokens: 0 }), { inputTokens: undefined, outputTokens: undefined });
  t.same(of('hi', { inputTokens: 4, outputTokens: 0 }), { inputTokens: 4, outputTokens: undefined });
  t.same(of('', { inputTokens: 4, outputTokens: 0 }), { inputTokens: 4, outputTokens: 0 });
  t.same(of('hi', { inputTokens: 0, outputTokens: 3 }), { inputTokens: 0, outputTokens: 3 });
});
