// The calls of the model in a run: what they are sent, what they reserve, and what is recorded.
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { waitFor } from '../../../../../core/block/reply/run/parts.ts';
import { ResultImages } from '../../../../../core/block/reply/run/result-images.ts';
import { RunState } from '../../../../../core/tools/journal.ts';
import { pulseIn } from '../../../../support/held-daemon.ts';
import { answerRecord, modelRecord, resultRecord, runRecord } from '../../../../support/tools/records.ts';
import { pay, RULES, toolCore } from '../../../../support/tools/tool-core.ts';
import type { Said, Seen } from '../../../../support/tools/tool-model.ts';

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

t.test('paid-once: an answer whose bill could not be written is kept for its step, and the run goes on with it', async (t) => {
  const one = await toolCore(t, { rules: RULES, say: ({ results }) => (results.length === 0 ? [pay('bob')] : 'Paid.') });
  const ledger = join(one.workspace, 'ledger.jsonl');
  mkdirSync(ledger);
  const id = await one.post('Pay bob.');
  t.match((await pulseIn(one, 'ada', 'backoff')).reason, { code: 'STORAGE_FAILED', message: /The answer is kept/ });
  for (let again = 0; again < 3; again += 1) {
    await one.blocks.start('ada');
    await one.inState('ada', 'backoff');
  }
  t.equal(one.prompts().length, 1);
  rmdirSync(ledger);
  await one.blocks.start('ada');
  t.match(await one.outcome(id), { status: 'done' });
  t.equal(one.prompts().length, 2, 'the second step is a call of its own');
  t.match(await one.answerTo(id), { content: 'Paid.' });
  t.match(one.readJson('ada', 'costs'), { calls: 2 });
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

t.test('a model sees the images of a result beside its text, each estimated at 1,600 tokens; one that takes none sees a line', async (t) => {
  const image = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
  const bank = { answer: () => ({ kind: 'result', isError: false, parts: [{ type: 'text', text: 'A plot.' } as const, image], ms: 1 }) as const };
  const say = ({ results }: Seen): Said => (results.length === 0 ? [{ name: 'bank__list', arguments: {} }] : 'Seen.');
  const one = await toolCore(t, { bank, say });
  const id = await one.post('Plot it.');
  await one.outcome(id);
  const result = one.prompts()[1]?.messages.at(-1) as { content: string; images?: string[] };
  t.match(result, { content: /^Output of bank\/list\. .*\nA plot\.\n\[image: image\/png, 9 bytes\]$/s, images: [image.data] });
  const [first = 0, second = 0] = (await one.records(id)).flatMap((record) => (record.t === 'model' ? [record.tokens] : []));
  t.ok(second - first > 1600 && second - first < 1800, `${second - first}`);
  await one.core.credentials?.update('blind', { adapter: 'ollama', baseURL: one.upstream.url, models: { m: { images: false } } });
  await one.blocks.updateConfig('ada', { adapter: { provider: 'blind', model: 'm' } });
  const again = await one.post('Plot it again.');
  t.match(await one.outcome(again), { status: 'done' });
  t.notOk('images' in (one.prompts().at(-1)?.messages.at(-1) ?? {}));
});

t.test('newest-first: images of results that are too large together are shown from the newest on, and those of a dropped result are not', async (t) => {
  const image = (size: number) => ({ type: 'image', mediaType: 'image/png', data: 'A'.repeat(size) });
  const whole: Record<string, object[] | undefined> = {
    '1.1': [image(4)],
    '1.2': [image(6_000_000), image(6_000_000), image(6_000_000)],
    '1.3': undefined,
    '1.4': [image(4_000_000)],
  };
  const places = Object.keys(whole);
  const state = new RunState([
    runRecord(),
    modelRecord(1),
    answerRecord(
      1,
      places.map(() => pay('bob')),
    ),
    ...places.map((place) => resultRecord(place, { ref: place, images: 1 })),
  ]);
  const result = async (_id: string, ref: string) =>
    whole[ref] === undefined ? undefined : Buffer.from(JSON.stringify({ isError: false, parts: whole[ref] }));
  const context = { files: { conversation: { result } }, world: { gateway: { takesImages: () => true } } };
  const images = new ResultImages(context as never, 'm1', { provider: 'p', model: 'm', config: {} });
  await images.load(state);
  t.strictSame(
    [...images.shown].map(([place, shown]) => [place, shown.length]),
    [
      ['1.4', 1],
      ['1.3', 0],
    ],
  );
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
