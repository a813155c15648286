import t from 'tap';
import { STDERR_LOG } from '../../transports/log.ts';

t.test('a transport without a log says nothing of what went well or was refused', async (t) => {
  const written = t.capture(process.stderr, 'write', () => true);
  for (const level of ['debug', 'info'] as const) STDERR_LOG[level]({ requestId: 'req_1' }, 'text');
  t.strictSame(written(), []);
  t.equal(STDERR_LOG.isLevelEnabled?.('debug'), false);
  t.equal(STDERR_LOG.isLevelEnabled?.('error'), true);
});

t.test('a failure is a line on stderr, with the stack of its cause below it', async (t) => {
  const written = t.capture(process.stderr, 'write', () => true);
  STDERR_LOG.error({ requestId: 'req_1', status: 502 }, 'request failed');
  STDERR_LOG.error({ requestId: 'req_2', err: new Error('broken', { cause: new Error('root') }) }, 'request failed');
  const [line, withCause] = written().map(({ args }) => String(args[0]));
  t.equal(line, 'blockhouse: request failed {"requestId":"req_1","status":502}\n');
  t.match(withCause, /^blockhouse: request failed \{"requestId":"req_2"\}\n {2}Error: broken\n {6}at [\s\S]*\[cause\]: Error: root\n/);
});

t.test('foreign text neither acts on a terminal nor forges a line', async (t) => {
  const written = t.capture(process.stderr, 'write', () => true);
  STDERR_LOG.error({ path: '/\u009b2J\u202e' }, 'request failed');
  STDERR_LOG.error({ err: new Error('x\nblockhouse: all is well\u001b[2J\u009b2J\u2028\u2066') }, 'request failed');
  for (const { args } of written()) {
    t.match(String(args[0]), /^[\n -~]+$/);
    t.equal(String(args[0]).match(/^blockhouse:/gm)?.length, 1);
  }
});
