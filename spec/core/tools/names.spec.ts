// The names of tools, their patterns, and what is the same.
import t from 'tap';
import { canonicalJson, digestOf, sha256 } from '../../../core/tools/canonical.ts';
import { namesFor } from '../../../core/tools/names.ts';
import { fitsPath, fitsPattern } from '../../../core/tools/patterns.ts';

const FITS = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

t.test('a name fits every provider, and two tools never share one', async (t) => {
  t.strictSame(namesFor([{ server: 'files', tool: 'read_file' }]), ['files__read_file']);
  const tools = [
    { server: 'a', tool: 'b.c' },
    { server: 'a', tool: 'b/c' },
    { server: '9', tool: 'ä' },
    { server: 'x'.repeat(40), tool: 'y'.repeat(40) },
    { server: 'x'.repeat(40), tool: `${'y'.repeat(40)}z` },
  ];
  const names = namesFor(tools);
  for (const name of names) t.match(name, FITS);
  t.equal(new Set(names).size, tools.length);
  t.match(names[3], /^x{40}__y{13}_[0-9a-f]{8}$/);
  t.strictSame(namesFor(tools), names, 'the same each time');
});

t.test('a server that names a tool as the hash of another one gets no name twice', async (t) => {
  const [, hashed = ''] = namesFor([
    { server: 'a', tool: 'b.c' },
    { server: 'a', tool: 'b/c' },
  ]);
  const names = namesFor([
    { server: 'a', tool: hashed.slice('a__'.length) },
    { server: 'a', tool: 'b.c' },
    { server: 'a', tool: 'b/c' },
  ]);
  t.equal(new Set(names).size, 3);
  for (const name of names) t.match(name, FITS);
});

t.test('equal arguments have one text, in any order of their keys', async (t) => {
  t.equal(canonicalJson({ b: [1, { d: null, c: undefined }], a: 'x' }), '{"a":"x","b":[1,{"d":null}]}');
  t.equal(digestOf('a/b', { x: 1, y: 2 }, 'p'), digestOf('a/b', { y: 2, x: 1 }, 'p'));
  for (const other of [digestOf('a/c', { x: 1, y: 2 }, 'p'), digestOf('a/b', { x: 1 }, 'p'), digestOf('a/b', { x: 1, y: 2 }, 'q')])
    t.not(other, digestOf('a/b', { x: 1, y: 2 }, 'p'));
  t.equal(sha256(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

t.test('* in a pattern is any text', async (t) => {
  for (const [pattern, name, fits] of [
    ['bank/pay', 'bank/pay', true],
    ['bank/pay', 'bank/pay2', false],
    ['bank/*', 'bank/', true],
    ['*', 'anything/at all', true],
    ['*/read_*', 'files/read_file', true],
    ['*/read_*', 'files/write_file', false],
    ['a*a', 'a', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['ab*ba', 'aba', false],
  ] as const)
    t.equal(fitsPattern(pattern, name), fits, `${pattern} ${name}`);
  const begun = performance.now();
  t.equal(fitsPattern(`${'*a'.repeat(100)}b`, 'a'.repeat(10_000)), false);
  t.ok(performance.now() - begun < 5000, 'and takes no exponential time');
});

t.test('a path fits segment by segment', async (t) => {
  for (const [pattern, path, fits] of [
    ['/home/ada/out/**', '/home/ada/out/a/b.txt', true],
    ['/home/ada/out/**', '/home/ada/out', true],
    ['/home/ada/out/**', '/home/ada/outer/b.txt', false],
    ['/home/ada/*.txt', '/home/ada/a.txt', true],
    ['/home/ada/*.txt', '/home/ada/b/a.txt', false],
    ['/**/b', '/a/c/b', true],
    ['/**/b', '/b', true],
    ['/a/', '/a', true],
    ['/', '/', true],
    ['/a', '/', false],
  ] as const)
    t.equal(fitsPath(pattern, path), fits, `${pattern} ${path}`);
  t.equal(fitsPath(`${'/**/a'.repeat(60)}/b`, '/a'.repeat(120)), false);
});
