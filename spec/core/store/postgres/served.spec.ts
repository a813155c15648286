import t from 'tap';
import { serversOf, servedText } from '../../../../core/store/postgres/served.ts';

t.test('what a server writes of its addresses is read by the others, and what has another form is left out', async (t) => {
  const served = [{ origins: ['http://10.0.0.2:8420'], paths: ['/v1/'] }];
  const read = (...texts: readonly (string | null)[]): unknown =>
    serversOf(
      texts.map((text) => ({ served: text })),
      'here',
    );
  t.strictSame(read(servedText(served, 'here'), null, servedText(served, 'there')), [
    { isSameMachine: true, served },
    { isSameMachine: false, served },
  ]);
  t.strictSame(read('{', '[]', '{"served":{}}', '{"machine":"here"}'), []);
  t.strictSame(read('{"served":[{"origins":["a"]},{"origins":[1],"paths":[]},{"origins":[],"paths":[]}]}'), [
    { isSameMachine: false, served: [{ origins: [], paths: [] }] },
  ]);
});
