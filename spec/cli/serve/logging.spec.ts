import { PassThrough, Writable } from 'node:stream';
import t from 'tap';
import { createLogger, logContent, logFacts, toReadable } from '../../../cli/serve/logging.ts';
import { createCore } from '../../../core/index.ts';
import { until } from '../../support/until.ts';

function terminal(): { stream: NodeJS.WriteStream; shown: () => string } {
  const stream = Object.assign(new PassThrough(), { isTTY: true });
  return { stream: stream as unknown as NodeJS.WriteStream, shown: () => String(stream.read() ?? '') };
}

t.test('a person gets a short line: time, level, text, fields', async (t) => {
  const { stream, shown } = terminal();
  createLogger('info', stream).info({ status: 401, path: '/v1\x1b[2J' }, 'request refused');
  t.match(shown(), /^\d\d:\d\d:\d\d info {2}request refused status=401 path=\/v1\n$/);
  createLogger('info', stream).info({ requestId: 'r', method: 'POST', path: '/v1/chat\x1b[2J', status: 200, ms: 12.3 }, 'request served');
  t.match(shown(), /^\d\d:\d\d:\d\d info {2}POST \/v1\/chat 200 in 12\.3 ms\n$/);
});

t.test('in the lines for programs, nothing is raw that a terminal obeys or that reorders a line', async (t) => {
  const stream = new PassThrough();
  const file: string[] = [];
  const path = '/v1\u001b[2J\u007f\u0085\u009b2J\u2028\u2029\u202e\u2066';
  createLogger('info', stream as unknown as NodeJS.WriteStream, { write: (line) => file.push(line) }).info({ path }, `refused ${path}`);
  const line = String(stream.read());
  t.match(line, /^[ -~]+\n$/);
  t.match(JSON.parse(line), { path, msg: `refused ${path}` });
  t.strictSame(file, [line]);
});

t.test('who switches content on without a collector is told that it has no effect', async (t) => {
  const told = (value: string | undefined, isExported: boolean): string => {
    const stream = new PassThrough();
    logContent(createLogger('info', stream as unknown as NodeJS.WriteStream), { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: value }, isExported);
    return String(stream.read() ?? '');
  };
  t.match(told('EVENT_ONLY', false), /has no effect, because no collector gets what it asks for/);
  t.match(told('EVENT_ONLY', true), /prompts and answers go to the collector/);
  for (const off of [undefined, '', ' ', 'NO_CONTENT', 'False']) t.equal(told(off, false), '');
});

t.test('a line has one pid, and the worker that was held up beside it', async (t) => {
  const stream = new PassThrough();
  const core = createCore({ adapters: [] });
  logFacts(core, createLogger('info', stream as unknown as NodeJS.WriteStream));
  core.events.emit('loop.delayed', { delayMs: 300, pid: process.pid });
  core.events.emit('loop.delayed', { delayMs: 300, pid: 7 });
  const lines = String(stream.read()).trim().split('\n');
  t.same(
    lines.map((line) => line.match(/"pid":/g)?.length),
    [1, 1],
  );
  t.match(lines[1], /"worker":7/);
});

interface StalledReader {
  readonly stream: NodeJS.WriteStream;
  /** The lines that it has taken. */
  readonly lines: () => Record<string, unknown>[];
  /** From now on it reads. */
  resume(): void;
}

/** A reader that takes nothing until it is told to. */
function stalledReader(): StalledReader {
  let taken = '';
  let isReading = false;
  let next: (() => void) | undefined;
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      taken += chunk;
      if (isReading) done();
      else next = done;
    },
  });
  const lines = (): Record<string, unknown>[] =>
    taken
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const resume = (): void => {
    isReading = true;
    next?.();
  };
  return { stream: stream as unknown as NodeJS.WriteStream, lines, resume };
}

t.test('what waits for a reader who has stopped is limited; once it reads again, one line says how many were dropped', async (t) => {
  const { stream, lines, resume } = stalledReader();
  const log = createLogger('info', stream);
  const text = 'x'.repeat(1000);
  for (let number = 0; number < 5000; number += 1) log.info({ number, text }, 'request refused');
  t.ok(stream.writableLength < 1.1 * 1024 * 1024, `${stream.writableLength} bytes wait`);
  resume();
  await until('the loss is told', () => lines().some((line) => 'dropped' in line));
  log.info({ number: 'after' }, 'request refused');
  const seen = lines();
  const kept = seen.findIndex((line) => 'dropped' in line);
  t.same(
    seen.slice(0, kept).map(({ number }) => number),
    Array.from({ length: kept }, (_, number) => number),
    'the oldest are kept, in their order',
  );
  t.match(seen[kept], { level: 40, pid: process.pid, time: Number, dropped: 5000 - kept, msg: /lines were dropped/ });
  t.match(seen.slice(kept + 1), [{ number: 'after' }]);
  t.equal(seen.length, kept + 2);
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
  const fact = { kind: 'chat' as const, call: 1, requestId: 'r', adapter: 'a', model: 'm' };
  core.events.emit('call.retried', { ...fact, attempt: 1, delayMs: 5, code: 'UPSTREAM_FAILED', error: 'no' });
  core.events.emit('call.finished', { ...fact, caller: 'ada', attempts: 2, durationMs: 1234.5678, code: 'UPSTREAM_FAILED' });
  core.events.emit('call.finished', { ...fact, attempts: 1, durationMs: 7 });
  const lines = shown().trim().split('\n');
  t.same(
    lines.map((line) => line.split(' ').slice(1, 2)[0]),
    ['info', 'info', 'error', 'warn', 'info'],
  );
  t.match(lines[4], /call failed .*durationMs=1234\.6 .*block=ada$/, 'with the block that asked, and numbers for people');
});
