import t from 'tap';
import { noBlockHere } from '../../../../transports/http/handlers/compatible-blocks.ts';

t.test('a block that is asked where blocks are not known says where they answer', async (t) => {
  const error = noBlockHere();
  t.match(error, {
    code: 'INVALID_REQUEST',
    details: [{ path: 'model' }],
    message: /\/v1\/chat\/completions, \/v1\/responses, \/v1\/messages and \/ollama\/api\/chat/,
  });
  t.ok(error.message.length < 250);
});
