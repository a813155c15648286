import t from 'tap';
import { ownOf } from '../../../../transports/dashboard/base/own.ts';
import { patchOf, valueAt, withValue } from '../../../../transports/dashboard/data/config.ts';

t.test('a name that every object inherits is no entry', async (t) => {
  for (const name of ['constructor', '__proto__', 'toString']) t.equal(ownOf({}, name), undefined, name);
  t.equal(ownOf({ constructor: 'x' } as unknown as Record<string, string>, 'constructor'), 'x');
  t.equal(valueAt({}, 'constructor.name'), undefined);
  t.strictSame(Object.entries(withValue({}, 'toString.x', 1)), [['toString', { x: 1 }]]);
  t.strictSame(Object.entries(patchOf({ toString: 1 }, {})), [['toString', null]]);
});
