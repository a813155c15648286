import t from 'tap';
import { partsOf, textOf } from '../../../core/gateway/parts.ts';

t.test('the text of a content is its text parts, a line for each', async (t) => {
  t.equal(textOf(undefined), '');
  t.equal(textOf('one'), 'one');
  t.equal(
    textOf([
      { type: 'text', text: 'one' },
      { type: 'text', text: '' },
      { type: 'image', url: 'https://x' },
      { type: 'text', text: 'two' },
    ]),
    'one\ntwo',
  );
});

t.test('parts are kept only if their text does not say everything', async (t) => {
  t.equal(partsOf('one', 'user', 'content'), undefined);
  t.equal(partsOf([{ type: 'text', text: 'one' }], 'user', 'content'), undefined);
  for (const part of [
    { type: 'text', text: 'one', cache: '5m' },
    { type: 'text', text: 'one', providerMetadata: { x: {} } },
    { type: 'document', text: 'a file', name: 'a.txt' },
  ] as const)
    t.strictSame(partsOf([part], 'user', 'content'), [part]);
});
