import t from 'tap';
import { QUIET } from '../../transports/log.ts';

t.test('a transport without a log is quiet', async (t) => {
  for (const level of ['debug', 'info', 'error'] as const) t.equal(QUIET[level]({ requestId: 'req_1' }, 'text'), undefined, level);
});
