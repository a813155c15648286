import t from 'tap';
import { keptText, MAX_KEPT_CHARACTERS, prefixed } from '../../../core/base/kept-text.ts';

t.test('a name is kept as it is, and of a longer text its beginning', (t) => {
  const longest = 'é'.repeat(MAX_KEPT_CHARACTERS);
  t.equal(keptText('gpt-5'), 'gpt-5');
  t.equal(keptText(longest), longest);
  t.equal(keptText(`${longest}x`), longest);
  t.equal(keptText('\u{1f600}'.repeat(MAX_KEPT_CHARACTERS)).length, MAX_KEPT_CHARACTERS);
  t.match(keptText(`x${'\u{1f600}'.repeat(MAX_KEPT_CHARACTERS)}`), /\u{1f600}\ufffd$/u, 'half a character is none');
  t.end();
});

t.test('each name has its prefix, also when more names have come than are kept', (t) => {
  const keyed = prefixed('key ');
  const names = Array.from({ length: 1001 }, (_, index) => `app-${index}`);
  for (const name of [...names, ...names]) if (keyed(name) !== `key ${name}`) t.fail(name);
  t.equal(keyed('app'), 'key app');
  t.end();
});
