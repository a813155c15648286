import { PassThrough } from 'node:stream';
import t from 'tap';
import { isWatched, Spinner } from '../../../cli/terminal/spinner.ts';
import { until } from '../../support/until.ts';

t.test('a person is at a terminal without NO_COLOR and CI', async (t) => {
  const terminal = { isTTY: true };
  t.equal(isWatched(terminal, {}), true);
  for (const env of [{ NO_COLOR: '1' }, { CI: 'true' }, { TERM: 'dumb' }]) t.equal(isWatched(terminal, env), false);
  t.equal(isWatched({}, {}), false);
});

t.test('the line shows the seconds and the text of the moment, fits, and is removed', async (t) => {
  const stream = Object.assign(new PassThrough(), { columns: 30 });
  let shown = '';
  stream.on('data', (chunk) => {
    shown += String(chunk);
  });
  const spinner = new Spinner(stream, true);
  spinner.wait(() => 'in the queue');
  await until('it is drawn', () => /\[K\S \ds {2}in the queue/.test(shown));
  spinner.wait(() => `long ${'x'.repeat(50)}`);
  await until('the other text is drawn', () => shown.includes('x…'));
  t.ok(shown.split('\r\x1b[K').every((line) => line.length < 30));
  spinner.stop();
  await until('it is removed', () => shown.endsWith('\r\x1b[K'));
  const { length } = shown;
  spinner.stop();
  t.equal(shown.length, length);
});

t.test('nothing is drawn for nobody', async (t) => {
  const stream = new PassThrough();
  const spinner = new Spinner(stream, false);
  spinner.wait(() => 'x');
  spinner.stop();
  t.equal(stream.read(), null);
});
