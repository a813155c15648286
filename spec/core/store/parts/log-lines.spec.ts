import t from 'tap';
import { compareLogNames, firstNames, isLogName, logLine, logName, newestFirst } from '../../../../core/store/parts/log-lines.ts';

const NOW = Date.parse('2026-11-20T14:03:22.123Z');

t.test('an event is one line of words', async (t) => {
  t.equal(
    logLine(NOW, 'INFO', 'reply.done', { id: 'a1', model: 'm/x:7b', in: 812, cost: 0.0031, cached: false, ttft: null, gone: undefined }),
    '2026-11-20T14:03:22.123Z INFO reply.done id=a1 model=m/x:7b in=812 cost=0.0031 cached=false ttft=null\n',
  );
  t.equal(logLine(NOW, 'WARN', 'x', {}), '2026-11-20T14:03:22.123Z WARN x\n');
});

t.test('numbers have the digits that a person reads, and a small price keeps its size', async (t) => {
  t.equal(
    logLine(NOW, 'INFO', 'x', { ms: 1234.5678, cost: 0.000123456, n: -2.25, whole: 12_345_678, none: Number.NaN }),
    '2026-11-20T14:03:22.123Z INFO x ms=1234.6 cost=0.00012 n=-2.2 whole=12345678 none=NaN\n',
  );
});

t.test('an ambiguous value is quoted, and can be parsed again', async (t) => {
  const values = ['', ' ', 'two words', 'a=b', 'say "x"', "it's", 'back\\slash', 'line\nbreak\r\n', '\t', '\0', 'é', '\u{1f600}', 'tab\there'];
  for (const value of values) {
    const line = logLine(NOW, 'INFO', 'x', { value });
    const written = line.slice(line.indexOf('value=') + 6, -1);
    t.equal(written.startsWith('"') ? JSON.parse(written) : written, value, JSON.stringify(value));
    t.equal(line.match(/\n/g)?.length, 1);
  }
  t.match(logLine(NOW, 'INFO', 'x', { value: 'é\u{1f600}' }), 'value=é\u{1f600}\n', 'letters stay as they are');
});

t.test('control characters, escape sequences and direction marks are escaped everywhere', async (t) => {
  const hostile = '\u001b[31m\u009b2J\u007f\u202e\u2066\u2028\u2029\u200f\ufeff\u0000\ud800';
  const line = logLine(NOW, 'INFO', `x${hostile}`, { [`key${hostile} =`]: `value${hostile}`, 'a b': 1 });
  t.match(line, /^[\x20-\x7e]+\n$/);
  t.match(line, 'a_b=1');
  const written = line.slice(line.indexOf('="value') + 1).split(' ')[0] ?? '';
  t.equal(JSON.parse(written), `value${hostile}`);
});

t.test('a long value is cut', async (t) => {
  t.ok(logLine(NOW, 'INFO', 'x', { text: 'y'.repeat(1_000_000), other: '\0'.repeat(1_000_000) }).length < 20_000);
});

t.test('names contain the time and the channel, and differ within one second', async (t) => {
  t.equal(logName(NOW, 'monitor', 0), '2026-11-20T14-03-22Z-monitor.log');
  t.equal(logName(NOW, 'monitor', 1), '2026-11-20T14-03-22Z-monitor-2.log');
  t.equal(logName(NOW, '../Über/x', 0), '2026-11-20T14-03-22Z--ber-x.log');
  t.equal(logName(NOW, '', 0), '2026-11-20T14-03-22Z-log.log');
  for (const channel of ['monitor', '..', '', 'x'.repeat(100), 'A b']) t.ok(isLogName(logName(NOW, channel, 3)), channel);
  for (const name of ['', 'a.log', '2026-11-20T14-03-22Z.log', '2026-11-20T14-03-22Z-a.txt', 'x2026-11-20T14-03-22Z-a.log', '2026-11-20T14-03-22Z-a/b.log']) {
    t.notOk(isLogName(name), name);
  }
});

t.test('newer names come first, foreign ones last', async (t) => {
  const sorted = [
    logName(NOW + 60_000, 'a', 0),
    logName(NOW, 'monitor', 11),
    logName(NOW, 'monitor', 8),
    logName(NOW, 'monitor', 1),
    logName(NOW, 'monitor', 0),
    logName(NOW - 1000, 'z', 0),
    'z.log',
    'a.log',
  ];
  for (const order of [sorted, sorted.toReversed(), sorted.toSorted()]) t.strictSame([...order].sort(compareLogNames), sorted);
});

t.test('the first of many names are the same as after sorting all', async (t) => {
  const names = Array.from({ length: 5000 }, (_, n) => logName(NOW + ((n * 7919) % 1000) * 1000, 'monitor', n % 5));
  for (const compare of [newestFirst, (a: string, b: string) => newestFirst(b, a)]) {
    for (const count of [1, 20, 4999, 6000]) t.strictSame(firstNames(names, count, compare), names.toSorted(compare).slice(0, count));
  }
  t.strictSame(firstNames([], 3, newestFirst), []);
});
