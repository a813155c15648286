import t from 'tap';
import { BlockhouseError } from '../../../core/errors.ts';
import { createCore } from '../../../core/runtime.ts';
import type { ChatRequest } from '../../../core/types.ts';
import { steppedAdapter } from '../../support/stepped-adapter.ts';

const REQUEST: ChatRequest = { adapter: 'stepped', model: 'm', messages: [{ role: 'user', content: 'x'.repeat(400) }] };
const coreWith = (countTokens?: () => Promise<number>, env: Record<string, string> = { STEPPED_API_KEY: 'k' }) =>
  createCore({ adapters: [steppedAdapter([], countTokens === undefined ? {} : { countTokens })], env });

t.test('the provider counts where it can', async (t) => {
  t.same(await coreWith(async () => 42).countTokens(REQUEST), { tokens: 42, isEstimated: false });
});

t.test('without a count of the provider, or if it refuses to count, the length and a tenth is the estimate', async (t) => {
  t.same(await coreWith().countTokens(REQUEST), { tokens: 110, isEstimated: true });
  const refuses = async (): Promise<number> => {
    throw new BlockhouseError('UPSTREAM_REJECTED', 'Not for this model.');
  };
  t.same(await coreWith(refuses).countTokens(REQUEST), { tokens: 110, isEstimated: true });
});

t.test('an estimate needs no credential; a count does', async (t) => {
  t.match(await coreWith(undefined, {}).countTokens(REQUEST), { isEstimated: true });
  await t.rejects(coreWith(async () => 1, {}).countTokens(REQUEST), { code: 'ADAPTER_NOT_CONFIGURED' });
});

t.test('another failure is one, and so is a bad request', async (t) => {
  const fails = async (): Promise<number> => {
    throw new BlockhouseError('UPSTREAM_UNREACHABLE', 'Away.');
  };
  await t.rejects(coreWith(fails).countTokens(REQUEST), { code: 'UPSTREAM_UNREACHABLE' });
  await t.rejects(coreWith().countTokens({ ...REQUEST, messages: [] }), { code: 'INVALID_REQUEST' });
});
