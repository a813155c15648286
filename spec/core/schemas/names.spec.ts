import t from 'tap';
import { archiveName, archiveNotFound, assertNewName, blockNotFound, isBlockName, nameInArchive, timeInArchive } from '../../../core/schemas/names.ts';

const BAD_NAMES = [
  ...[
    '',
    '.',
    '..',
    'a/b',
    'a\\b',
    '%2e%2e%2f',
    'a\0',
    'a\n',
    'x'.repeat(33),
    'x'.repeat(256),
    'MyBlock',
    'A',
    'a.',
    'a.b',
    ' a',
    'a ',
    '-a',
    '_archive',
    'a_b',
  ],
  ...['con', 'nul', 'prn', 'aux', 'com1', 'com0', 'lpt9', 'conin', 'conout', '__proto__', 'Constructor', 'caf\u00e9', 'cafe\u0301', '\u{1f600}', 'a\u202eb'],
];

t.test('the names of blocks are safe in any file system and on any page', (t) => {
  for (const name of ['a', '0', 'my-block', 'a-', 'x'.repeat(32), 'constructor', 'con1', 'console', 'com10', 'lpt']) t.equal(isBlockName(name), true, name);
  for (const name of BAD_NAMES) t.equal(isBlockName(name), false, JSON.stringify(name));
  t.end();
});

t.test('a bad new name is refused with the rule', (t) => {
  assertNewName('ada');
  for (const name of BAD_NAMES) {
    t.throws(
      () => assertNewName(name),
      { code: 'INVALID_REQUEST', message: /1 to 32 characters from a-z, 0-9/, details: [{ path: 'name' }] },
      JSON.stringify(name),
    );
  }
  t.end();
});

t.test('an error about an unknown name repeats it in one short line', (t) => {
  for (const make of [blockNotFound, archiveNotFound]) {
    for (const bad of ['\u001b', '\n']) t.notOk(make('\u001b[31m\n"', []).message.includes(bad));
    t.ok(make('x'.repeat(100_000), ['ada']).message.length < 140);
  }
  t.equal(blockNotFound('adda', ['support', 'ada']).message, 'There is no block "adda"; did you mean "ada"?');
  t.equal(blockNotFound('../adda', ['ada']).message, 'There is no block "../adda"; `blockhouse ls` lists them.', 'a text that no block can have as its name');
  const cure = 'There is no block "support"; `blockhouse ls` lists them, and `blockhouse new support` makes one.';
  for (const names of [undefined, [], ['ada']]) t.equal(blockNotFound('support', names).message, cure);
  t.equal(blockNotFound('a').code, 'BLOCK_NOT_FOUND');
  t.equal(archiveNotFound('a', []).code, 'ARCHIVE_NOT_FOUND');
  t.end();
});

t.test('the name of an archive contains the name of its block, and other names are refused', (t) => {
  const name = archiveName('my-block', new Date('2026-11-20T14:03:22.123Z'));
  t.equal(name, 'my-block_2026-11-20T14-03-22-123Z');
  t.equal(nameInArchive(name), 'my-block');
  t.equal(timeInArchive(name), '2026-11-20T14:03:22.123Z');
  for (const other of ['', 'my-block', 'my-block_2026-02-31T14-03-22-123Z', 'my-block_2026-11-20T24-00-00-000Z'])
    t.equal(timeInArchive(other), undefined, other);
  const others = [
    '',
    '.',
    '..',
    '../../auth.json',
    '/etc/passwd',
    'a',
    'a_',
    `../${name}`,
    `${name}/..`,
    `${name}\n`,
    `x/${name}`,
    'a_2026-11-20T14:03:22.123Z',
    `con_${name.slice(9)}`,
  ];
  for (const other of [...others, name.toUpperCase(), `${'x'.repeat(33)}${name.slice(8)}`]) t.equal(nameInArchive(other), undefined, JSON.stringify(other));
  t.end();
});

t.test('a name that is not in the archive is refused with the one that was probably meant, or with what lists them', async (t) => {
  t.equal(archiveNotFound('zzz', ['ada']).message, 'There is no archived block "zzz"; `blockhouse archive ls` lists them.');
  t.equal(archiveNotFound('adda', ['bob', 'ada']).message, 'There is no archived block "adda"; did you mean "ada"?');
  t.equal(archiveNotFound('ada', []).message, 'There is no archived block "ada", because the archive is empty.');
});
