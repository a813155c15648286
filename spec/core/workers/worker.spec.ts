import t from 'tap';
import type { BlockhouseError } from '../../../core/errors.ts';
import { untilAborted } from '../../support/stepped-adapter.ts';
import { until } from '../../support/until.ts';
import { startWorkers } from '../../support/workers.ts';

const REQUEST = { adapter: 'stepped', model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] } as const;

t.test('a code or a ticket of one worker opens once at another, and sessions are known to all', async (t) => {
  const { workers } = await startWorkers(t, [untilAborted]);
  const [one, two] = workers.map(({ core }) => core.sessions);
  const code = (await one?.newCode(1000, 'owner'))?.text ?? '';
  t.equal(await two?.isForOwner(code), true);
  const tries = await Promise.all([two?.exchange(code), one?.exchange(code)]);
  const keys = tries.filter((key) => key !== undefined);
  t.equal(keys.length, 1);
  t.ok(workers.every(({ core }) => core.sessions?.accepts(keys[0]?.text ?? '')));
  const ticket = (await two?.newTicket())?.text ?? '';
  t.same(await Promise.all([one?.redeem(ticket), two?.redeem(ticket)]), [true, false]);
});

t.test('a request is ended from another worker, by those who end requests of its clients', async (t) => {
  const { workers } = await startWorkers(t, [untilAborted]);
  const [one, two] = workers;
  const leaving = new AbortController();
  two.core.view.addEnd((id) => {
    if (id === 'mine') leaving.abort();
    return id === 'mine';
  });
  const ended = two.core.chat(REQUEST, { requestId: 'mine', signal: leaving.signal }).catch((error: BlockhouseError) => error.code);
  await until('it is sent', () => two.adapter.calls.length === 1);
  t.equal(await one.core.view.endElsewhere('other'), false);
  t.equal(await one.core.view.endElsewhere('mine'), true);
  t.equal(await ended, 'CANCELLED');
});

t.test('a worker has no blocks, and is open from start to stop', async (t) => {
  const { workers } = await startWorkers(t, [untilAborted]);
  const { core } = workers[0];
  t.throws(() => core.blocks, { code: 'WRONG_STATE', message: /--gateway-only/ });
  t.equal(core.started, true);
  t.match(await core.check(), { checked: Object });
  await core.stop();
  t.equal(core.started, false);
  await core.close();
  t.equal(core.accounts, undefined);
});
