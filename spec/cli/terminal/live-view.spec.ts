import { PassThrough } from 'node:stream';
import t from 'tap';
import { LiveView } from '../../../cli/terminal/live-view.ts';

function terminal(size: { rows?: number; columns?: number; isTTY?: boolean } = {}) {
  const stream = Object.assign(new PassThrough(), { isTTY: true, rows: 10, columns: 80, ...size });
  return { stream, shown: () => String(stream.read() ?? '') };
}

t.test('lines are drawn over the last ones, and the cursor comes back', async (t) => {
  const { stream, shown } = terminal();
  const view = new LiveView(stream);
  await view.show(['a', 'b']);
  t.equal(shown(), '\x1b[?25la\nb\n');
  await view.show(['a', 'b']);
  t.equal(shown(), '');
  await view.show(['c']);
  t.equal(shown(), '\x1b[2A\r\x1b[Jc\n');
  view.end();
  t.equal(shown(), '\x1b[?25h');
});

t.test('what has no room on the screen is counted', async (t) => {
  const { stream, shown } = terminal({ rows: 4 });
  await new LiveView(stream).show(['1', '2', '3', '4', '5']);
  t.equal(shown(), '\x1b[?25l1\n2\n… 3 more\n');
});

t.test('a terminal of another width is cleared', async (t) => {
  const { stream, shown } = terminal();
  const view = new LiveView(stream);
  await view.show(['a']);
  stream.columns = 40;
  await view.show(['a']);
  t.ok(shown().endsWith('\x1b[2J\x1b[Ha\n'));
});

t.test('where nobody looks, only changes are written, without a sequence', async (t) => {
  const { stream, shown } = terminal({ isTTY: false });
  const view = new LiveView(stream);
  await view.show(['a']);
  await view.show(['a']);
  await view.show(['b']);
  view.end();
  t.equal(shown(), 'a\nb\n');
});
