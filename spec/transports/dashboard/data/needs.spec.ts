import t from 'tap';
import type { BlockEntry } from '../../../../core/types.ts';
import { lacksModel } from '../../../../transports/dashboard/data/fleet.ts';
import { Needed } from '../../../../transports/dashboard/data/needs.ts';
import { whyText } from '../../../../transports/dashboard/text/fleet.ts';

t.test('a block is new once, and again after it needed nobody', async (t) => {
  const needed = new Needed();
  t.same(needed.take(['a', 'b']), { begun: [], over: [] }, 'what is there at the start is not new');
  t.same(needed.take(['a', 'b', 'c']), { begun: ['c'], over: [] });
  t.same(needed.take(['b', 'c']), { begun: [], over: ['a'] });
  t.same(needed.take(['b', 'c', 'a']), { begun: ['a'], over: [] });
  needed.forget();
  t.same(needed.take(['x']), { begun: [], over: [] });
});

t.test('a message that waits for a model needs a person, and the list says why', async (t) => {
  const entry = (more: object): BlockEntry => ({ state: 'unconfigured', queue: 1, config: { adapter: null }, ...more }) as unknown as BlockEntry;
  t.ok(lacksModel(entry({})));
  t.notOk(lacksModel(entry({ queue: 0 })), 'nothing waits');
  t.notOk(lacksModel(entry({ state: 'stopped' })), 'somebody has stopped it');
  t.equal(whyText(entry({})), 'No model is set. 1 message waits.');
  t.equal(
    whyText(entry({ queue: 2, config: { adapter: { provider: 'openai', model: 'x' } } })),
    'openai, the provider of its model, is not ready. 2 messages wait.',
  );
  t.equal(whyText(entry({ state: 'failed', why: 'It gave up.' })), 'It gave up.');
  t.equal(whyText(entry({ state: 'failed' })), 'Failed');
});
