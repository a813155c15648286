import t from 'tap';
import { BlockhouseError } from '../../../../core/errors.ts';
import type { EmbedBatch, EmbedCall } from '../../../../core/ports.ts';
import { createCore } from '../../../../core/runtime.ts';
import { steppedAdapter } from '../../../support/stepped-adapter.ts';

const REQUEST = { adapter: 'stepped', model: 'm' };
const vectorsOf = (call: EmbedCall): EmbedBatch => ({ vectors: call.inputs.map((input) => [input.length]), inputTokens: call.inputs.length });

function coreWith(answer: (call: EmbedCall, index: number) => EmbedBatch, takesTokenIds = false) {
  const calls: EmbedCall[] = [];
  const embed = async (call: EmbedCall): Promise<EmbedBatch> => answer(call, calls.push(call) - 1);
  const adapter = steppedAdapter([], { embedding: { batch: () => 2, takesTokenIds, embed } });
  const core = createCore({ adapters: [adapter], env: { STEPPED_API_KEY: 'k' }, random: () => 0 });
  const facts: Record<string, unknown>[] = [];
  core.events.on('call.finished', (fact) => facts.push({ ...fact }));
  return { core, calls, facts };
}

t.test('a long list is sent in batches, and the vectors come in its order with the sum of the usage', async (t) => {
  const { core, calls, facts } = coreWith(vectorsOf);
  const inputs = ['a', 'bb', 'ccc', 'dddd', 'eeeee'];
  t.same(await core.embed({ ...REQUEST, inputs, dimensions: 1, user: 'u' }, { caller: 'app' }), {
    provider: 'stepped',
    model: 'm',
    vectors: [[1], [2], [3], [4], [5]],
    usage: { inputTokens: 5, outputTokens: 0, totalTokens: 5 },
  });
  t.same(
    calls.map((call) => call.inputs),
    [['a', 'bb'], ['ccc', 'dddd'], ['eeeee']],
  );
  t.match(calls[0], { model: 'm', dimensions: 1, user: 'u' });
  t.match(facts, [{ kind: 'embeddings', caller: 'app', attempts: 1, usage: { inputTokens: 5 }, code: undefined }]);
  t.equal(facts.length, 1);
});

t.test('after a failure only what is missing is sent again, and nothing is counted twice', async (t) => {
  const { core, calls, facts } = coreWith((call, index) => {
    if (index === 1) throw new BlockhouseError('UPSTREAM_FAILED', 'Busy.');
    return vectorsOf(call);
  });
  const { vectors, usage } = await core.embed({ ...REQUEST, inputs: ['a', 'bb', 'ccc'] });
  t.same(vectors, [[1], [2], [3]]);
  t.match(usage, { inputTokens: 3 });
  t.same(
    calls.map((call) => call.inputs),
    [['a', 'bb'], ['ccc'], ['ccc']],
  );
  t.match(facts, [{ attempts: 2, usage: { inputTokens: 3 } }]);
});

t.test('what a failed request has used is known', async (t) => {
  const { core, facts } = coreWith((call, index) => {
    if (index > 0) throw new BlockhouseError('UPSTREAM_REJECTED', 'No.');
    return vectorsOf(call);
  });
  await t.rejects(core.embed({ ...REQUEST, inputs: ['a', 'bb', 'ccc'] }), { code: 'UPSTREAM_REJECTED', usage: { inputTokens: 2 } });
  t.match(facts, [{ code: 'UPSTREAM_REJECTED', usage: { inputTokens: 2 } }]);
});

t.test('usage that is not reported is estimated', async (t) => {
  const { core } = coreWith((call) => ({ vectors: call.inputs.map(() => [1]) }), true);
  t.match((await core.embed({ ...REQUEST, inputs: ['x'.repeat(40), [1, 2, 3]] })).usage, { inputTokens: 13, estimated: true });
  const nothing = coreWith((call) => ({ vectors: call.inputs.map(() => [1]), inputTokens: 0 }));
  t.match((await nothing.core.embed({ ...REQUEST, inputs: ['x'.repeat(40)] })).usage, { inputTokens: 10, estimated: true }, 'no text has no tokens');
});

t.test('no text has less than a token, however short it is', async (t) => {
  const { core } = coreWith((call) => ({ vectors: call.inputs.map(() => [1]) }));
  t.match((await core.embed({ ...REQUEST, inputs: Array.from({ length: 100 }, () => 'a') })).usage, { inputTokens: 100, estimated: true });
});

t.test('an answer without one vector of numbers for each input is malformed', async (t) => {
  for (const vectors of [undefined, [], [[1]], [[1], []], [[1], ['x']], [[1], [Number.NaN]], [[1], [2], [3]]]) {
    const { core } = coreWith(() => ({ vectors }));
    await t.rejects(core.embed({ ...REQUEST, inputs: ['a', 'b'] }), { code: 'UPSTREAM_MALFORMED', message: /2 vectors/ });
  }
});

t.test('a provider without embeddings, and one that takes no token ids, is told by the field', async (t) => {
  const none = createCore({ adapters: [steppedAdapter()], env: { STEPPED_API_KEY: 'k' } });
  await t.rejects(none.embed({ ...REQUEST, inputs: ['a'] }), {
    code: 'INVALID_REQUEST',
    message: /^adapter must be a provider of embeddings, and Stepped makes none/,
  });
  const { core } = coreWith(vectorsOf);
  await t.rejects(core.embed({ ...REQUEST, inputs: ['a', [1]] }), { message: /^inputs\[1\] must be text/ });
  await t.rejects(core.embed({ ...REQUEST, inputs: [] }), { code: 'INVALID_REQUEST' });
});

t.test('a caller that leaves ends it', async (t) => {
  const abort = new AbortController();
  const { core, calls } = coreWith((call) => {
    abort.abort();
    call.signal.throwIfAborted();
    return vectorsOf(call);
  });
  await t.rejects(core.embed({ ...REQUEST, inputs: ['a', 'b', 'c'] }, { signal: abort.signal }), { code: 'CANCELLED' });
  t.equal(calls.length, 1);
});

t.test('a batch that may have run is paid for, the others as they are reported', async (t) => {
  const { core, facts } = coreWith((call, index) => {
    if (index > 0) throw new BlockhouseError('UPSTREAM_TIMEOUT', 'Silent.', { mayHaveRun: true });
    return vectorsOf(call);
  });
  await t.rejects(core.embed({ ...REQUEST, inputs: ['a', 'bb', 'c'.repeat(400)] }), { code: 'UPSTREAM_TIMEOUT' });
  t.match(facts, [{ usage: { inputTokens: 2 + 100, outputTokens: 0, estimated: true } }]);
});
