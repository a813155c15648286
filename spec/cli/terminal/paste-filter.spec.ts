import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { PasteFilter } from '../../../cli/terminal/paste-filter.ts';

const BEGIN = '\x1b[200~';
const END = '\x1b[201~';

/** What comes of the reads of a keyboard: keys, and pastes in angle brackets. */
async function after(...reads: (string | Buffer)[]): Promise<string> {
  const keyboard = new PassThrough();
  let seen = '';
  const filter = new PasteFilter(keyboard, new PassThrough(), (text) => {
    seen += `<${text}>`;
  });
  filter.on('data', (keys) => {
    seen += String(keys);
  });
  for (const read of reads) {
    keyboard.write(read);
    await new Promise(setImmediate);
  }
  return seen;
}

t.test('keys pass, and a paste comes in one piece', async (t) => {
  t.equal(await after('a', '\x1b[A', `b${BEGIN}one\rtwo\r\n\nthree${END}c`, 'd'), 'a\x1b[Ab<one\ntwo\n\nthree>cd');
  t.equal(await after(`${BEGIN}${END}${BEGIN}x${END}`), '<><x>');
});

t.test('the marks of a paste may be split between reads, at every place, and so may a character', async (t) => {
  const whole = Buffer.from(`k${BEGIN}é\n👋${END}l`);
  for (let at = 1; at < whole.length; at += 1) t.equal(await after(whole.subarray(0, at), whole.subarray(at)), 'k<é\n👋>l', `at ${at}`);
});

t.test('the Escape key alone passes after a moment', async (t) => {
  const keyboard = new PassThrough();
  const filter = new PasteFilter(keyboard, new PassThrough(), () => undefined);
  keyboard.write('\x1b');
  const [keys] = await once(filter, 'data');
  t.equal(String(keys), '\x1b');
});

t.test('control characters of a paste are no keys, and Ctrl-C ends one whose end never comes', async (t) => {
  t.equal(await after(`${BEGIN}a\x1b[2Jb\tc\x04${END}`), '<a[2Jb\tc>');
  t.equal(await after(`${BEGIN}lost`, '\x03', 'x'), '\x03x');
});

t.test('a terminal is asked to mark pastes while its keys are read one by one', async (t) => {
  const modes: boolean[] = [];
  const keyboard = Object.assign(new PassThrough(), { isRaw: true, setRawMode: (mode: boolean) => modes.push(mode) });
  const screen = new PassThrough();
  const filter = new PasteFilter(keyboard, screen, () => undefined);
  t.equal(filter.isRaw, true);
  filter.setRawMode(true);
  t.equal(String(screen.read()), '\x1b[?2004h');
  filter.setRawMode(false);
  t.equal(String(screen.read()), '\x1b[?2004l');
  t.same(modes, [true, false]);
  filter.detach();
  t.ok(keyboard.isPaused());
  new PasteFilter(new PassThrough(), screen, () => undefined).setRawMode(true);
  t.equal(screen.read(), null, 'a pipe is not asked');
});
