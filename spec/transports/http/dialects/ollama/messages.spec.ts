import t from 'tap';
import type { Message } from '../../../../../core/index.ts';
import { imagesOf, readMessages } from '../../../../../transports/http/dialects/ollama/messages.ts';
import { ToolNames } from '../../../../../transports/http/dialects/shared/conversation.ts';
import { Sources } from '../../../../../transports/http/dialects/shared/sources.ts';

const read = (...messages: object[]) => readMessages(messages, new ToolNames(), new Sources());
const call = (name: string, id?: string) => ({ ...(id !== undefined && { id }), function: { name, arguments: {} } });
const resultIds = (...messages: object[]) =>
  read(...messages).flatMap((message) => (message.role === 'tool' ? message.toolResults.map(({ toolCallId }) => toolCallId) : []));
const callsOf = (message: Message | undefined) => (message?.role === 'assistant' ? message.toolCalls : undefined);

t.test('ids-by-place: calls without ids have the same ids in every request', async (t) => {
  const asked = { role: 'assistant', tool_calls: [call('a'), call('b')] };
  t.match(callsOf(read({ role: 'user', content: 'x' }, asked)[1]), [{ id: 'call_1_0' }, { id: 'call_1_1' }]);
  t.match(callsOf(read({ role: 'assistant', tool_calls: [call('a', 'mine')] })[0]), [{ id: 'mine' }]);
});

t.test('ids-by-place: a result finds its call by id, by name, or by order', async (t) => {
  const asked = { role: 'assistant', tool_calls: [call('a'), call('b', 'id_b'), call('a')] };
  const result = (fields: object) => ({ role: 'tool', content: 'r', ...fields });
  t.same(resultIds(asked, result({ tool_name: 'a' }), result({ tool_name: 'a' }), result({ tool_call_id: 'id_b' })), ['call_0_0', 'call_0_2', 'id_b']);
  t.same(resultIds(asked, result({}), result({}), result({ name: 'a' })), ['call_0_0', 'id_b', 'call_0_2']);
  t.same(resultIds(asked, result({ tool_name: 'other' })), ['unknown_1'], 'a result of another tool is not forced on a call');
});

t.test('ids-by-place: the calls of messages in a row are open together, and results end the row', async (t) => {
  const asks = (...calls: object[]) => ({ role: 'assistant', tool_calls: calls });
  const result = (fields: object) => ({ role: 'tool', content: 'r', ...fields });
  t.same(resultIds(asks(call('a')), asks(call('a'), call('b')), result({ tool_name: 'b' }), result({ tool_name: 'a' }), result({ tool_name: 'a' })), [
    'call_1_1',
    'call_0_0',
    'call_1_0',
  ]);
  t.same(resultIds(asks(call('a')), result({ tool_name: 'a' }), asks(call('a')), result({ tool_name: 'a' }), result({ tool_name: 'a' })), [
    'call_0_0',
    'call_2_0',
    'unknown_4',
  ]);
});

t.test('ids-by-place: an id is never that of another call', async (t) => {
  const asked = { role: 'assistant', tool_calls: [call('a', 'one'), call('a', 'two')] };
  const result = (fields: object) => ({ role: 'tool', content: 'r', ...fields });
  t.same(resultIds(asked, result({ tool_call_id: 'two' }), result({ tool_name: 'a' })), ['two', 'one']);
  t.same(resultIds(asked, result({ tool_call_id: 'three' })), ['unknown_1']);
  t.same(resultIds(asked, result({ tool_call_id: '' })), ['one'], 'no id at all');
});

t.test('more calls than the gateway takes are refused before their results are looked for', async (t) => {
  const calls = (count: number) => ({ role: 'assistant', tool_calls: Array.from({ length: count }, () => call('a')) });
  t.equal(callsOf(read(calls(256))[0])?.length, 256);
  t.throws(() => read(calls(257)), { message: /messages\[0\]\.tool_calls/ });
});

t.test('arguments may be an object or its text', async (t) => {
  const args = (given: unknown) => callsOf(read({ role: 'assistant', tool_calls: [{ function: { name: 'a', arguments: given } }] })[0])?.[0]?.arguments;
  t.same(
    [args({ a: 1 }), args('{"a":1}'), args(undefined), args(''), args('[1]'), args('{broken')],
    [{ a: 1 }, { a: 1 }, {}, {}, { value: [1] }, { value: '{broken' }],
  );
});

t.test('an image has the type of its first bytes, and what is no image is refused by its place', async (t) => {
  const types = ['iVBORw0KGgoAAA', '/9j/4AAQ', 'R0lGODlh', 'UklGRiQA', 'data:image/png;base64,iVBORw0KGgoAAA'];
  t.same(
    imagesOf({ images: types }, 'images').map(({ mediaType }) => mediaType),
    ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/png'],
  );
  t.match(imagesOf({ images: types }, 'images').at(-1), { data: 'iVBORw0KGgoAAA' });
  for (const wrong of ['QUJD', 7]) t.throws(() => imagesOf({ images: ['/9j/', wrong] }, 'images'), { message: /images\[1\]/ });
});
