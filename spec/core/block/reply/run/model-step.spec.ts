// The calls of the model in a run: what they are sent, what they reserve, and what is recorded.
import t from 'tap';
import { waitFor } from '../../../../../core/block/reply/run/parts.ts';
import { pay, RULES, toolCore } from '../../../../support/tools/tool-core.ts';

t.setTimeout(60_000);

t.test('the model gets the definitions, is asked to conclude at a limit, and the lines of the ledger have the step', async (t) => {
  const one = await toolCore(t, { rules: { ...RULES, limits: { steps: 1 } }, say: ({ results }) => (results.length === 0 ? [pay('bob')] : 'Paid.') });
  const id = await one.post('Pay bob.');
  await one.outcome(id);
  t.equal(one.prompts()[0]?.tools?.length, 6, 'the second one may call none, which this provider can only be told by sending none');
  t.match(one.prompts()[1]?.messages.at(-1), { role: 'user', content: 'You have used all steps; answer with what you have.' });
  t.match(
    (await one.records(id)).filter(({ t: kind }) => kind === 'model' || kind === 'answer'),
    [{ step: 1 }, { step: 1, stopReason: 'tool_use' }, { step: 2 }, { step: 2, text: 'Paid.' }],
  );
  t.match(one.readJson('ada', 'costs'), { calls: 2, totalInput: 20, totalOutput: 10 });
});

t.test('a prompt that grows too long shows far results by their beginnings, and then concludes', async (t) => {
  const long = (characters: number) => ({ name: 'bank__long', arguments: { characters } });
  const one = await toolCore(t, {
    config: { memory: { maxContextTokens: 4000 }, adapter: { provider: 'ollama', model: 'm', maxTokens: 200 } },
    say: ({ results, messages }) => {
      if (messages.at(-1)?.content.startsWith('You have used all steps')) return 'Enough.';
      return [long(4000 + results.length)];
    },
  });
  const id = await one.post('Read on.');
  await one.outcome(id);
  t.match(await one.answerTo(id), { content: 'Enough.' });
  const lengths =
    one
      .prompts()
      .at(-1)
      ?.messages.flatMap(({ role, content }) => (role === 'tool' ? [content.length] : [])) ?? [];
  t.ok(lengths.length >= 3 && (lengths[0] ?? 0) < 300 && (lengths.at(-1) ?? 0) > 4000, lengths.join(' '));
});

t.test('always-an-end: a call must leave room under the caps for one that concludes', async (t) => {
  const one = await toolCore(t, { config: { budget: { dailyTokens: 1100 }, adapter: { provider: 'ollama', model: 'm', maxTokens: 100 } }, say: () => 'Hi.' });
  await one.post('Hello.');
  await one.outcome((await one.blocks.history('ada'))[0]?.id ?? '').catch(() => undefined);
  t.match(one.prompts().length, 1, 'two calls of this size fit');
  await one.blocks.updateConfig('ada', { budget: { dailyTokens: 700 } });
  await one.post('Again.');
  await one.inState('ada', 'paused');
  t.equal(one.prompts().length, 1, 'one would fit, two do not');
});

t.test('a message without a run waits for nobody', async (t) => {
  const context = { name: 'ada', world: { now: () => 0 }, files: { conversation: { steps: async () => [] } } };
  t.equal(await waitFor(context as never, 'm1'), undefined);
});
