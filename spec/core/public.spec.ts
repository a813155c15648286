import t from 'tap';
import * as internal from '../../core/index.ts';
import * as core from '../../core/public.ts';

t.test('the package has two values; all else that it exports are types', async (t) => {
  t.strictSame(Object.keys(core).sort(), ['BlockhouseError', 'connectStore', 'createCore']);
});

t.test('an error is of the same class in both entry points', async (t) => {
  t.equal(core.BlockhouseError, internal.BlockhouseError);
});
