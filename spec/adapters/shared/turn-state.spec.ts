import t from 'tap';
import { given, stateIn } from '../../../adapters/shared/turn-state.ts';

const turn = { role: 'assistant', text: 'a\nb', toolCalls: [] } as const;
const parts = [
  { type: 'reasoning', text: 'hm', providerMetadata: { anthropic: { model: 'm' } } },
  { type: 'text', text: 'a' },
  { type: 'text', text: 'b' },
] as const;

t.test('the state of a turn is its own, or that of a reasoning part', async (t) => {
  t.equal(stateIn(turn, 'anthropic'), undefined);
  t.same(stateIn({ ...turn, parts }, 'anthropic'), { model: 'm' });
  t.same(stateIn({ ...turn, parts, providerMetadata: { anthropic: { model: 'own' } } }, 'anthropic'), { model: 'own' });
  t.equal(stateIn({ ...turn, parts }, 'bedrock'), undefined);
});

t.test('parts that are not there are left out, and none at all is undefined', async (t) => {
  t.same(given([undefined, 1, undefined, null]), [1, null]);
  t.equal(given([undefined]), undefined);
  t.equal(given([]), undefined);
});
