import t from 'tap';
import { dropExtraMarks, markForCaching, setMarks } from '../../../adapters/anthropic/caching.ts';
import type { AnthropicRequest } from '../../../adapters/anthropic/schema.ts';

const texts = (...list: string[]) => list.map((text) => ({ type: 'text' as const, text }));
const body = (): AnthropicRequest => ({ model: 'm', max_tokens: 1, system: texts('s'), messages: [{ role: 'user', content: texts('a', 'b', 'c', 'd', 'e') }] });

t.test('the end of the system text and of the last message of the user are marked, and a mark that is there stays', async (t) => {
  const given = body();
  const [first] = given.messages[0]?.content ?? [];
  setMarks([{ target: first as object, cache: '1h' }]);
  markForCaching(given);
  t.match(first, { cache_control: { type: 'ephemeral', ttl: '1h' } });
  t.match(given.system, [{ cache_control: { type: 'ephemeral' } }]);
  t.match(given.messages[0]?.content.at(-1), { text: 'e', cache_control: { type: 'ephemeral' } });
});

t.test('of more than four marks the last four stay', async (t) => {
  const given = body();
  setMarks([...(given.system ?? []), ...(given.messages[0]?.content ?? [])].map((target) => ({ target, cache: '5m' as const })));
  dropExtraMarks(given);
  t.equal(given.system?.[0]?.cache_control, undefined);
  t.same(
    given.messages[0]?.content.map((block) => block['cache_control'] !== undefined),
    [false, true, true, true, true],
  );
});
