import t from 'tap';
import { ANSWER_HEADERS, REQUEST_HEADERS } from '../../../adapters/shared/protocol.ts';

t.test('no header that could carry a credential is sent on or handed back', async (t) => {
  for (const name of ['authorization', 'x-api-key', 'cookie', 'set-cookie', 'proxy-authorization', 'host', 'content-length']) {
    t.notOk(REQUEST_HEADERS.some((allowed) => allowed === name));
    t.notMatch(name, ANSWER_HEADERS);
  }
  for (const name of ['retry-after', 'retry-after-ms', 'request-id', 'x-request-id', 'x-should-retry', 'x-ratelimit-reset-tokens'])
    t.match(name, ANSWER_HEADERS);
});
