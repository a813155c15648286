import t from 'tap';
import { logLine } from '../../../../core/workspace/log-lines.ts';
import { lineFits, readLines } from '../../../../transports/dashboard/data/log-lines.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'];
const now = Date.parse('2026-11-23T08:00:00.000Z');

t.test('a line that the server writes is read as time, level, event and the rest', async (t) => {
  const text = logLine(now, 'WARN', 'reply.failed', { id: 'm1', code: 'UPSTREAM_FAILED' });
  t.match(readLines(text, 'f'), [{ at: '2026-11-23T08:00:00.000Z', level: 'warn', event: 'reply.failed', id: 'm1', rest: 'id=m1 code=UPSTREAM_FAILED' }]);
});

t.test('a line of another form is shown as it is', async (t) => {
  t.match(readLines('half a line', 'f'), [{ at: undefined, level: 'info', rest: 'half a line', id: undefined }]);
});

t.test('the key of a line stays when the beginning of the text is cut off, and equal lines have different ones', async (t) => {
  const lines = ['one', 'two', 'two', 'three'];
  const keys = readLines(lines.join('\n'), 'f').map(({ key }) => key);
  t.equal(new Set(keys).size, 4);
  t.equal(readLines('three', 'f')[0]?.key, keys[3]);
});

t.test('lines are chosen by level and by words', async (t) => {
  const [line] = readLines(logLine(now, 'INFO', 'state.idle', { cause: 'started' }), 'f');
  if (line === undefined) throw new Error('no line');
  t.ok(lineFits(line, 0, LEVELS, 'IDLE started'));
  t.notOk(lineFits(line, 2, LEVELS, ''));
  t.notOk(lineFits(line, 0, LEVELS, 'idle nothing'));
  t.ok(lineFits({ ...line, level: 'notice' }, 3, LEVELS, ''), 'an unknown level is never hidden');
});
