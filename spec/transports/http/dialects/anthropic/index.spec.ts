import t from 'tap';
import { ANTHROPIC } from '../../../../../transports/http/dialects/anthropic/index.ts';

t.test('the dialect has the path by which providers say that they speak it', async (t) => {
  t.match(ANTHROPIC, { id: 'anthropic', native: { path: '/v1/messages' } });
});
