import t from 'tap';
import { LastOfEach } from '../../../../core/store/parts/last-of-each.ts';
import { answerEntry, userEntry } from '../../../support/block-files.ts';

t.test('an id, a clientId and an answer that are there twice are kept where they stand last', async (t) => {
  const entries = [
    userEntry('a', { clientId: 'c' }),
    userEntry('b', { clientId: 'd' }),
    answerEntry('x', 'a'),
    userEntry('a', { clientId: 'c', content: 'again' }),
    answerEntry('y', 'a'),
    userEntry('e', { clientId: 'd' }),
  ];
  const each = new LastOfEach();
  for (const entry of entries) each.look([entry]);
  const [b, x, a, y, e] = [...each.kept(entries.slice(0, 4)), ...each.kept(entries.slice(4))];
  t.strictSame([b?.id, x?.id, a?.id, y?.id, e?.id], ['b', 'x', 'a', 'y', 'e']);
  t.strictSame([b?.clientId, x?.replyTo, a?.content, y?.replyTo, e?.clientId], [undefined, undefined, 'again', 'a', 'd']);
});

t.test('entries of which there is one are the same objects', async (t) => {
  const entries = [userEntry('a', { clientId: 'c' }), answerEntry('x', 'a'), answerEntry('z')];
  const each = new LastOfEach();
  each.look(entries);
  for (const [index, entry] of each.kept(entries).entries()) t.equal(entry, entries[index]);
});
