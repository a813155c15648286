import { PassThrough } from 'node:stream';
import t from 'tap';
import { createLogger, logFacts, toReadable } from '../../cli/logging.ts';
import { createCore } from '../../core/index.ts';

function terminal(): { stream: NodeJS.WriteStream; shown: () => string } {
  const stream = Object.assign(new PassThrough(), { isTTY: true });
  return { stream: stream as unknown as NodeJS.WriteStream, shown: () => String(stream.read() ?? '') };
}

t.test('a person gets a short line: time, level, text, fields', async (t) => {
  const { stream, shown } = terminal();
  createLogger('info', stream).info({ status: 401, path: '/v1\x1b[2J' }, 'request refused');
  t.match(shown(), /^\d\d:\d\d:\d\d info {2}request refused status=401 path=\/v1\n$/);
});

t.test('what is no log line is shown as it is, made harmless', async (t) => {
  t.equal(toReadable('plain\x1b[1m\n'), 'plain');
});

t.test('facts of the bus become lines', async (t) => {
  const { stream, shown } = terminal();
  const core = createCore({ adapters: [] });
  logFacts(core, createLogger('info', stream));
  core.events.emit('token.rotated', { file: '/w/.api-token' });
  core.events.emit('credentials.changed', { file: '/w/auth.json' });
  core.events.emit('credentials.damaged', { file: '/w/auth.json', reason: 'it is not valid JSON' });
  const fact = { requestId: 'r', adapter: 'a', model: 'm' };
  core.events.emit('chat.retried', { ...fact, attempt: 1, delayMs: 5, code: 'UPSTREAM_FAILED', error: 'no' });
  core.events.emit('chat.finished', { ...fact, attempts: 2, durationMs: 7, code: 'UPSTREAM_FAILED' });
  core.events.emit('chat.finished', { ...fact, attempts: 1, durationMs: 7 });
  const lines = shown().trim().split('\n');
  t.same(
    lines.map((line) => line.split(' ').slice(1, 2)[0]),
    ['info', 'info', 'error', 'warn', 'info'],
  );
});
