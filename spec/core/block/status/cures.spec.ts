import t from 'tap';
import type { ToExplain } from '../../../../core/block/status/cures.ts';
import { curesOf } from '../../../../core/block/status/cures.ts';
import type { BlockState } from '../../../../core/types.ts';

const NONE = { count: 0, since: null, last: null };

function cures(
  state: BlockState,
  code?: string,
  { adapter = { provider: 'vendor', model: 'm' }, failures = NONE }: { adapter?: object | null; failures?: object } = {},
) {
  const pulse = { state, reason: code === undefined ? null : { code, message: 'x', fix: null } };
  return curesOf({ name: 'a', config: { adapter }, pulse, failures, now: 0 } as unknown as ToExplain);
}

t.test('each cause has its cure first', async (t) => {
  const first = (state: BlockState, code?: string, more?: Parameters<typeof cures>[2]) => cures(state, code, more)[0];
  t.match(first('unconfigured', 'NOT_CONFIGURED', { adapter: null }), { id: 'choose-model' });
  t.match(first('unconfigured'), { id: 'set-key', adapter: 'vendor' });
  t.match(first('failed', 'UPSTREAM_AUTH'), { id: 'set-key', adapter: 'vendor' });
  t.match(first('paused', 'ADAPTER_NOT_CONFIGURED'), { id: 'set-key' });
  t.match(first('failed', 'UPSTREAM_REJECTED'), { id: 'choose-model' });
  t.match(first('paused', 'BUDGET_REACHED'), { id: 'raise-cap' });
  t.match(first('paused', 'HALTED'), { id: 'unhalt' });
  t.match(first('paused', 'STORAGE_FULL'), { id: 'free-disk' });
  t.match(first('failed', 'BLOCK_DAMAGED'), { id: 'open-file' });
  t.match(first('failed', 'CRASH_LOOP'), { id: 'start' });
  t.match(first('stopped'), { id: 'start' });
});

t.test('a wait for the next attempt can be ended, and a refused key or model can be replaced by another model', async (t) => {
  t.same(cures('backoff', 'UPSTREAM_UNREACHABLE'), [{ id: 'start', label: 'Try now' }]);
  const other = { id: 'choose-model', label: 'Use another model…', field: 'adapter.model' };
  t.match(cures('failed', 'UPSTREAM_AUTH'), [{ id: 'set-key' }, other, { id: 'start' }]);
  t.match(cures('failed', 'UPSTREAM_REJECTED'), [other, { id: 'start' }]);
});

t.test('a block that is well has none; a failed message can be tried again in every state', async (t) => {
  for (const state of ['idle', 'working', 'starting', 'stopping', 'compacting'] as const) t.same(cures(state), []);
  const failures = { count: 1, since: 'x', last: { id: 'm1', at: 'x', code: 'X', message: 'y' } };
  t.same(cures('idle', undefined, { failures }), [{ id: 'retry-message', label: 'Try the failed message again', field: 'm1' }]);
});

t.test('what a person has to do elsewhere is not a start', async (t) => {
  t.notOk(cures('paused', 'HALTED').some(({ id }) => id === 'start'));
  t.notOk(cures('paused', 'BUDGET_REACHED').some(({ id }) => id === 'start'));
});

t.test('a code that every object inherits is a code without a cure of its own', async (t) => {
  for (const code of ['constructor', '__proto__', 'toString']) t.match(cures('failed', code), [{ id: 'start' }], code);
});
