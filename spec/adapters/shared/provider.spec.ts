import t from 'tap';
import { cutShort, malformed, StreamError } from '../../../adapters/shared/provider.ts';

t.test('an answer that was cut or can not be read may have run, so that nobody repeats it unasked', async (t) => {
  t.match(cutShort('message_stop'), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true, message: /ended without message_stop/ });
  t.match(malformed('it is empty'), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true, message: /could not be read: it is empty/ });
});

t.test('an error inside a 200 carries what the provider said', async (t) => {
  const fault = { kind: 'rateLimited', message: 'slow down', retryAfterMs: 5 } as const;
  t.same(new StreamError(fault).providerError, fault);
});
