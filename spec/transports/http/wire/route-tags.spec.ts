import t from 'tap';
import { tags } from '../../../../transports/http/wire/route-tags.ts';

t.test('the gateway comes first, because a new integration uses nothing else', async (t) => {
  t.strictSame(
    tags().map(({ name }) => name),
    ['Gateway', 'Compatible', 'Clients', 'Blocks', 'Chat', 'Memory', 'Archive', 'Workspace', 'Server'],
  );
});
