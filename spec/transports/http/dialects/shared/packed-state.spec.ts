import t from 'tap';
import { packState, unpackState, withState } from '../../../../../transports/http/dialects/shared/packed-state.ts';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const call = { id: 'a', name: 'look', arguments: {} };

t.test('the state of a message and of its calls comes back as it was', async (t) => {
  const packed = packState({
    usage,
    stopReason: 'tool_use',
    providerMetadata: { one: { signature: 'ü' } },
    toolCalls: [{ ...call, providerMetadata: { one: { mark: 1 } } }],
  });
  t.match(packed, /^bh1\.[A-Za-z0-9_-]+$/);
  const state = unpackState(packed);
  t.same(withState({ role: 'assistant', toolCalls: [call, { ...call, id: 'b' }] }, state ?? {}), {
    role: 'assistant',
    providerMetadata: { one: { signature: 'ü' } },
    toolCalls: [
      { ...call, providerMetadata: { one: { mark: 1 } } },
      { ...call, id: 'b' },
    ],
  });
});

t.test('an answer without state is not packed', async (t) => {
  t.equal(packState({ usage, stopReason: 'end_turn' }), undefined);
});

t.test('the id of a call is the one that the client knows', async (t) => {
  const packed = packState({ usage, stopReason: 'tool_use', toolCalls: [{ ...call, providerMetadata: { one: 1 } }] }, (id) => `theirs_${id}`);
  t.same(unpackState(packed)?.calls, { theirs_a: { one: 1 } });
});

t.test('a state of more than 64 KiB is left out', async (t) => {
  t.equal(packState({ usage, stopReason: 'end_turn', providerMetadata: { text: 'x'.repeat(65_536) } }), undefined);
});

t.test('what is not a state of ours is nothing', async (t) => {
  for (const text of [undefined, 7, '', 'EqQBCgIYAhIM', 'bh1.', 'bh1.%%%', `bh1.${Buffer.from('[1]').toString('base64url')}`])
    t.equal(unpackState(text), undefined);
  const odd = `bh1.${Buffer.from('{"message":1,"calls":{"a":2}}').toString('base64url')}`;
  t.same(unpackState(odd), {});
});

t.test('a call whose id every object inherits has no state', async (t) => {
  for (const id of ['constructor', '__proto__', 'toString']) {
    const [given] = withState({ role: 'assistant', toolCalls: [{ ...call, id }] }, { calls: { a: { one: 1 } } }).toolCalls ?? [];
    t.strictSame(given, { ...call, id }, id);
  }
});
