import t from 'tap';
import { safeLink } from '../../../../../transports/dashboard/parts/markdown/links.ts';

t.test('only https, http and mailto are links', async (t) => {
  t.match(safeLink('https://example.org/a', 'a'), { href: 'https://example.org/a' });
  t.match(safeLink('http://127.0.0.1:8420/', 'a'), { href: 'http://127.0.0.1:8420/' });
  t.match(safeLink('mailto:ada@example.org', 'write'), { href: 'mailto:ada@example.org', hidden: 'ada@example.org' });
  for (const address of [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:x',
    'data:text/html,x',
    'blob:https://x/y',
    'ftp://x',
    'x',
    '',
    '//x.example',
    'https://',
    'mailto:',
  ]) {
    t.equal(safeLink(address, 'x'), undefined, JSON.stringify(address));
  }
});

t.test('the place is told when the text says something else', async (t) => {
  t.equal(safeLink('https://example.org/a', 'https://example.org/a')?.hidden, undefined);
  t.equal(safeLink('https://example.org/a', 'Example.org')?.hidden, undefined);
  t.equal(safeLink('https://evil.example/', 'https://bank.example/')?.hidden, 'evil.example');
  t.equal(safeLink('https://bank.example.evil.example/', 'bank.example')?.hidden, 'bank.example.evil.example');
  t.equal(safeLink('https://bank.example@evil.example/', 'https://bank.example')?.hidden, 'evil.example');
  t.equal(safeLink('https://a.example/', 'a.example.org')?.hidden, 'a.example');
  t.equal(safeLink('https://аpple.com/', 'https://аpple.com/')?.hidden, 'xn--pple-43d.com', 'letters that look alike are told by their real name');
});
