// The log of a server's standard error.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { ServerErrors } from '../../../adapters/tools/server-log.ts';
import { testFolder } from '../../support/test-folder.ts';

t.test('lines are dated, cut and masked, in whatever pieces they come', async (t) => {
  const path = join(testFolder(t), 'logs', 'files.log');
  const errors = new ServerErrors(path, ['swordfish-1234567']);
  await errors.follow(Readable.from(['a sword', 'fish-12', '34567 b\nsec', `ond\n\n${'x'.repeat(5000)}`, `${'x'.repeat(5000)} end\nth`, 'ird']));
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  t.match(lines[0], /^\d{4}-\d\d-\d\dT[\d:.]+Z a sword.*|redacted/);
  t.notMatch(lines.join(), 'swordfish-1234567');
  t.match(lines[1], / second$/);
  t.equal(lines[2]?.split(' ')[1]?.length, 4000);
  t.match(lines[3], / third$/);
  t.equal(lines.length, 4);
  t.equal(errors.lastLine, 'third');
});

t.test('of a piece with very many lines the last ones are kept, and the log says how many are not', async (t) => {
  const path = join(testFolder(t), 'files.log');
  const errors = new ServerErrors(path, []);
  await errors.follow(Readable.from([Array.from({ length: 3000 }, (_, index) => `line ${index}\n`).join('')]));
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  t.equal(lines.length, 501);
  t.match(lines[0], / \(2500 lines are left out: it writes very many\)$/);
  t.match(lines[1], / line 2500$/);
  t.equal(errors.lastLine, 'line 2999');
});

t.test('a server that writes as fast as it can holds up nobody: others have turns between two pieces, also of lines that say nothing', async (t) => {
  const errors = new ServerErrors(join(testFolder(t), 'files.log'), []);
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 1);
  const at: number[] = [];
  const pieces = function* (): Generator<string> {
    for (let piece = 0; piece < 4; piece += 1) {
      at.push(turns);
      yield '\n'.repeat(65_536);
    }
  };
  await errors.follow(Readable.from(pieces(), { highWaterMark: 1 }));
  clearInterval(counting);
  t.equal(at.length, 4);
  t.ok((at[3] ?? 0) > (at[1] ?? 0), `turns before each piece: ${at}`);
});

t.test('a log that cannot be written is told, and the server is not held up', async (t) => {
  const folder = testFolder(t, { logs: 'a file' });
  const errors = new ServerErrors(join(folder, 'logs', 'files.log'), []);
  const stderr = Readable.from(['one\n', 'two\n']);
  await errors.follow(stderr);
  t.equal(errors.lastLine, 'one');
});

t.test('of an error that ends with its stack, the last line is the message', async (t) => {
  const path = join(testFolder(t), 'logs', 'files.log');
  const last = async (text: string): Promise<string> => {
    const errors = new ServerErrors(path, []);
    await errors.follow(Readable.from([text]));
    return errors.lastLine;
  };
  const crash = "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'\n    at find (node:internal:1:1) {\n  code: 'X'\n}\n\nNode.js v24.1.0\n";
  t.equal(await last(crash), "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod'");
  t.equal(await last(`${crash}giving up\n`), 'giving up');
  t.equal(await last('Traceback:\n  File "a.py"\nValueError: no\n'), 'ValueError: no');
  t.equal(await last('starting\n  with two folders\n'), '  with two folders');
});
