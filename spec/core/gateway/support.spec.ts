import t from 'tap';
import { endpointOf } from '../../../core/auth/endpoint.ts';
import { promptFor, withinFacts } from '../../../core/gateway/support.ts';
import type { Adapter } from '../../../core/ports.ts';
import type { ChatRequest, ContentPart } from '../../../core/types.ts';

const adapter = (supports?: Adapter['supports']) =>
  ({ id: 'x', displayName: 'X', settings: {}, ...(supports !== undefined && { supports }) }) as unknown as Adapter;
const request = (fields: object, content: string | ContentPart[] = 'hi') =>
  ({ adapter: 'x', model: 'm', messages: [{ role: 'user', content }], ...fields }) as ChatRequest;
const IMAGE = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;

t.test('an option that the adapter does not support is left out with a warning that names it', async (t) => {
  const { options, warnings } = promptFor(request({ config: { topP: 0.5, seed: 1 }, toolChoice: 'auto' }), adapter({ options: ['topP'] }));
  t.same(options, { topP: 0.5 });
  t.same(
    warnings.map(({ field }) => field),
    ['config.seed', 'toolChoice'],
  );
  t.equal(promptFor(request({ config: { temperature: 0.5 } }), adapter()).options, undefined, 'no option was asked for');
});

t.test('a part that the adapter does not support is refused by its place', async (t) => {
  const content: ContentPart[] = [{ type: 'text', text: 'what is this?' }, IMAGE];
  t.throws(() => promptFor(request({}, content), adapter()), {
    code: 'INVALID_REQUEST',
    message: 'messages[0].content[1] is of type image, which X does not support.',
  });
  t.match(promptFor(request({}, content), adapter({ parts: ['image'] })).turns, [{ role: 'user', text: 'what is this?', parts: content }]);
  const results = {
    messages: [
      { role: 'user', content: 'look' },
      { role: 'assistant', toolCalls: [{ id: '1', name: 'see', arguments: {} }] },
      { role: 'tool', toolResults: [{ toolCallId: '1', content: [IMAGE] }] },
    ],
  };
  t.throws(() => promptFor(request(results), adapter()), { message: /^messages\[2\]\.toolResults\[0\]\.content\[0\] is of type image/ });
  t.match(promptFor(request(results), adapter({ parts: ['image'] })).turns[2], { role: 'tool', results: [{ content: '', parts: [IMAGE] }] });
});

t.test('one text part is the text, and several have their text beside them, so that every adapter takes them', async (t) => {
  const texts = (['one', 'two'] as const).map((text) => ({ type: 'text' as const, text }));
  t.strictSame(promptFor(request({}, texts.slice(0, 1)), adapter()).turns, [{ role: 'user', text: 'one' }]);
  t.strictSame(promptFor(request({}, texts), adapter()).turns, [{ role: 'user', text: 'one\ntwo', parts: texts }]);
});

t.test('a part with fields that are wrong is refused by its field', async (t) => {
  const all = adapter({ parts: ['image', 'document', 'audio'] });
  for (const [part, message] of [
    [{ type: 'text' }, /content\[0\] needs text/],
    [{ type: 'text', text: 'x', url: 'https://x' }, /content\[0\]\.url does not belong to a part of type text/],
    [{ type: 'image' }, /needs exactly one of data, url/],
    [{ ...IMAGE, url: 'https://x' }, /needs exactly one of data, url/],
    [{ type: 'image', data: 'AAAA' }, /mediaType is required beside data/],
    [{ type: 'document' }, /exactly one of data, url, text/],
    [{ type: 'audio', mediaType: 'audio/wav' }, /needs data/],
    [{ type: 'reasoning', text: 'hm' }, /belongs to role assistant/],
  ] as const)
    t.throws(() => promptFor(request({}, [part]), all), { code: 'INVALID_REQUEST', message }, JSON.stringify(part));
  const assistant = {
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [IMAGE] },
    ],
  };
  t.throws(() => promptFor(request(assistant), all), { message: /belongs to the roles user and tool/ });
});

t.test('options that contradict the request are refused', async (t) => {
  const all = adapter({ options: ['toolChoice', 'output'] });
  t.throws(() => promptFor(request({ toolChoice: 'required' }), all), { message: /^toolChoice/ });
  t.throws(() => promptFor(request({ toolChoice: { name: 'a' }, tools: [{ name: 'b' }] }), all), { message: /^toolChoice\.name names no tool/ });
  t.throws(() => promptFor(request({ config: { output: { type: 'json_schema' } } }), all), { message: /^config\.output\.schema is required/ });
  t.same(promptFor(request({ toolChoice: { name: 'b' }, tools: [{ type: 'function', function: { name: 'b' } }] }), all).options, { toolChoice: { name: 'b' } });
});

t.test('what another provider kept with an answer is told once when it is not sent', async (t) => {
  const hi = { role: 'user', content: 'hi' } as const;
  const call = { id: '1', name: 'a', arguments: {} };
  const answer = (metadata: object, ofCall: object = {}) => ({
    role: 'assistant' as const,
    content: 'a',
    ...metadata,
    toolCalls: [{ ...call, ...ofCall }],
  });
  const results = { role: 'tool' as const, toolResults: [{ toolCallId: '1', content: 'x' }] };
  const warningsOf = (metadata: object, ofCall?: object) =>
    promptFor(request({ messages: [hi, answer(metadata, ofCall), results, hi, answer(metadata, ofCall), results] } as never), adapter()).warnings;
  const own = adapter().id;
  t.same(warningsOf({}), []);
  t.same(warningsOf({ providerMetadata: {} }), []);
  t.same(warningsOf({ providerMetadata: { [own]: {}, other: {} } }, { providerMetadata: { [own]: {} } }), []);
  for (const [metadata, ofCall] of [[{ providerMetadata: { other: {} } }], [{}, { providerMetadata: { other: {} } }]] as const)
    t.match(warningsOf(metadata, ofCall), { length: 1, 0: { field: 'messages', message: /^What another provider kept/ } });
});

t.test('a request without a token limit gets the default, unless its caller leaves the limit to the provider', async (t) => {
  const request: ChatRequest = { adapter: 'x', model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  t.match(promptFor(request, adapter()), { maxTokens: undefined, defaultMaxTokens: 4096 });
  t.match(promptFor(request, adapter(), true), { maxTokens: undefined, defaultMaxTokens: undefined });
});

t.test('what an entry says of a model bounds its answer, and keeps images from it', async (t) => {
  const endpoint = endpointOf('gpu', true, { models: { m: { maxOutput: 100, images: false } }, quirks: { images: true } });
  const within = (fields: object, content?: string | ContentPart[], leaves = false) => {
    const asked = request(fields, content);
    return withinFacts(promptFor(asked, adapter({ parts: ['image'] }), leaves), asked, endpoint);
  };
  t.match(within({ config: { maxTokens: 500 } }), {
    maxTokens: 100,
    warnings: [{ field: 'config.maxTokens', message: /at most 100 tokens, so 100 was sent/ }],
  });
  t.match(within({}), { maxTokens: undefined, defaultMaxTokens: 100, warnings: [] });
  t.match(within({ config: { maxTokens: 5 } }), { maxTokens: 5 });
  t.match(within({}, 'hi', true), { maxTokens: undefined, defaultMaxTokens: undefined });
  t.throws(() => within({}, [{ type: 'text', text: 'a' }, IMAGE]), {
    code: 'INVALID_REQUEST',
    message: /^messages\[0\]\.content\[1\] is of type image, which m on gpu does not support/,
  });
});
