import t from 'tap';
import { logLine } from '../../../../core/store/parts/log-lines.ts';
import { lineFits, readLines } from '../../../../transports/dashboard/data/log-lines.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'];
const now = Date.parse('2026-11-23T08:00:00.000Z');

t.test('a line that the server writes is read as time, level, event and the rest', async (t) => {
  const text = logLine(now, 'WARN', 'reply.failed', { id: 'm1', code: 'UPSTREAM_FAILED' });
  t.match(readLines(text, 0), [{ at: '2026-11-23T08:00:00.000Z', level: 'warn', event: 'reply.failed', id: 'm1', rest: 'id=m1 code=UPSTREAM_FAILED' }]);
});

t.test('a line of another form is shown as it is', async (t) => {
  t.match(readLines('half a line', 0), [{ at: undefined, level: 'info', rest: 'half a line', id: undefined }]);
});

t.test('each line has its place in the file in bytes, wherever the text begins and whatever its script', async (t) => {
  const text = 'one\nzwölf\n\n日本\nend';
  for (const offset of [0, 17]) {
    for (const line of readLines(text, offset)) {
      const bytes = Buffer.from(text).subarray(line.offset - offset);
      t.ok(bytes.toString().startsWith(line.text), line.text);
    }
  }
});

t.test('lines are chosen by level and by words', async (t) => {
  const [line] = readLines(logLine(now, 'INFO', 'state.idle', { cause: 'started' }), 0);
  if (line === undefined) throw new Error('no line');
  t.ok(lineFits(line, 0, LEVELS, 'IDLE started'));
  t.notOk(lineFits(line, 2, LEVELS, ''));
  t.notOk(lineFits(line, 0, LEVELS, 'idle nothing'));
  t.ok(lineFits({ ...line, level: 'notice' }, 3, LEVELS, ''), 'an unknown level is never hidden');
});
