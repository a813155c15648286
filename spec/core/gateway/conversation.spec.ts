// Which conversation a request belongs to.
import t from 'tap';
import { conversationOf } from '../../../core/gateway/conversation.ts';

const user = (content: unknown) => ({ role: 'user', content });
const of = (body: Record<string, unknown>, headers = {}) => conversationOf(headers, body);

t.test('what a client says comes in a fixed order, and wins over the beginning', (t) => {
  const body = { prompt_cache_key: 'key', metadata: { user_id: 'x_session_1' }, conversation: 'conv', messages: [user('hi')] };
  const headers = { 'x-blockhouse-session': 'own', 'session-id': 'sdk' };
  t.equal(of(body, headers), 'own');
  t.equal(of(body, { 'session-id': 'sdk' }), 'key');
  t.equal(of({ ...body, prompt_cache_key: '' }, { 'session-id': 'sdk' }), 'sdk');
  t.equal(of({ ...body, prompt_cache_key: undefined }), 'x_session_1');
  t.equal(of({ conversation: { id: 'conv' } }), 'conv');
  t.equal(of({ config: { user: 'session 1' } }), 'session 1');
  t.equal(of({ config: { cacheKey: 'mine' } }), 'mine');
  t.equal(of({}), undefined);
  t.equal(of({ messages: [] }), undefined);
  t.equal(of({}, { 'x-blockhouse-session': 'x'.repeat(4000) })?.length, 28, 'a long one is kept short');
  t.end();
});

t.test('the beginning stays the same while the conversation grows, in each protocol', (t) => {
  const system = { role: 'system', content: 'Be terse.' };
  const more = [{ role: 'assistant', content: 'yes' }, user('and now?')];
  const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
  for (const [before, after] of [
    [
      { messages: [system, user('a')], tools },
      { messages: [system, user('a'), ...more], tools },
    ],
    [
      { system: 'Be terse.', messages: [user('a')] },
      { system: 'Be terse.', messages: [user('a'), ...more] },
    ],
    [
      { instructions: 'x', input: [user('a')] },
      { instructions: 'x', input: [user('a'), ...more] },
    ],
    [{ messages: [user([{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }])] }, { messages: [user([{ type: 'text', text: 'a' }]), ...more] }],
  ] as const)
    t.equal(of(before), of(after), JSON.stringify(before));
  t.end();
});

t.test('another tool, system text or first turn is another conversation, also where only a late character differs', (t) => {
  const long = 'x'.repeat(50_000);
  const bodies = [
    { messages: [user('a')] },
    { messages: [user('b')] },
    { messages: [user('a')], tools: [{ name: 'f' }] },
    { system: 's', messages: [user('a')] },
    { messages: [user(`${long}a`)] },
    { messages: [user(`${long}b`)] },
    { messages: [user(`${long}${long}a`)] },
    { messages: [user(`${long}${long}aa`)] },
    { input: 'a' },
    { prompt: ['a', 'b'] },
  ];
  t.equal(new Set(bodies.map((body) => of(body))).size, bodies.length);
  t.end();
});

t.test('a hostile beginning costs no more than a large one', (t) => {
  let deep: unknown = 'end';
  for (let depth = 0; depth < 5000; depth += 1) deep = [deep];
  t.type(of({ messages: [user(deep)] }), 'string');
  t.type(of({ messages: [user(Array.from({ length: 200_000 }, (_, index) => index))] }), 'string');
  t.type(of({ messages: [null, 7, user('a')], tools: 'none' }), 'string');
  t.end();
});
