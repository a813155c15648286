import t from 'tap';
import { Sources } from '../../../../../transports/http/dialects/shared/sources.ts';

t.test("the nearest noted place is the client's path", async (t) => {
  const sources = new Sources();
  const part = sources.note({ type: 'image' }, 'input[3].content[1]');
  const request = { messages: [sources.note({ content: [{ type: 'text' }, part] }, 'input[3]')] };
  t.equal(sources.of(request, 'messages[0].content[1].url'), 'input[3].content[1]');
  t.equal(sources.of(request, 'messages[0].content[0]'), 'input[3]');
  t.equal(sources.of(request, 'config.topP'), undefined);
  t.equal(sources.of(request, ''), undefined);
});
