import t from 'tap';
import { ROUTES } from '../../../../transports/http/routes.ts';
import { tags } from '../../../../transports/http/wire/route-tags.ts';

t.test('every group has a route, and the gateway comes first, because a new integration uses nothing else', async (t) => {
  const used = new Set<string>(ROUTES.map(({ tag }) => tag));
  const names = tags().map(({ name }) => name);
  t.equal(names[0], 'Gateway');
  t.strictSame([...names].sort(), [...used].sort());
});
