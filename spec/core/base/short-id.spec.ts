import t from 'tap';
import { shortId } from '../../../core/base/short-id.ts';

t.test('an id is shown by its first nine characters, and a short one whole', async (t) => {
  t.equal(shortId('a3f9c2b1d0e4a7586'), 'a3f9c2b1d');
  t.equal(shortId('a3'), 'a3');
});
