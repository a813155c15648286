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

t.test('slow-reader: a server that writes as fast as it can is read with pauses, after as much as a crash may write', async (t) => {
  const path = join(testFolder(t), 'files.log');
  let pieces = 0;
  const before: number[] = [];
  const errors = new ServerErrors(path, [], async () => before.push(pieces));
  const flood = function* (): Generator<string> {
    for (; pieces < 20; pieces += 1) yield (pieces % 2 === 0 ? '\n' : 'x').repeat(65_536);
  };
  await errors.follow(Readable.from(flood(), { highWaterMark: 1 }));
  t.equal(before.length, 4);
  t.ok((before[0] ?? 0) >= 15, `pauses after ${before}`);
  let pauses = 0;
  const last = new ServerErrors(path, [], async () => (pauses += 1));
  const source = 'let a=1;'.repeat(40_000);
  await last.follow(Readable.from(Array.from({ length: 5 }, (_, at) => source.slice(at * 65_536, (at + 1) * 65_536)).concat('\n  ^\n\nTypeError: no\n')));
  t.equal(last.lastLine, 'TypeError: no');
  t.equal(pauses, 0, 'a program that has ended is heard at once');
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
