import t from 'tap';
import { Circuit, Turns } from '../../../core/gateway/circuit.ts';
import { FailingCallers } from '../../../core/gateway/failing-callers.ts';
import { BlockhouseError } from '../../../core/index.ts';

function callersAt() {
  const turns = new Turns();
  const tellNobody = (): void => undefined;
  const callers = new FailingCallers(
    ({ model }, since) =>
      new Circuit({ now: () => 0, turns, since, opensForMember: model !== undefined, roundMs: () => 0, opened: tellNobody, closed: tellNobody }),
  );
  const pause = (circuit: Circuit): void => {
    for (let n = 0; n < 20; n += 1) circuit.fail({ turn: turns.current }, () => '', new BlockhouseError('UPSTREAM_FAILED', 'x'));
  };
  return { callers, pause };
}
const call = (client: string, model: string) => ({ client: `key ${client}`, key: client, model });

t.test('made-up models of one caller push out models of that caller alone, and paused ones last', async (t) => {
  const { callers, pause } = callersAt();
  const [own, other] = [callers.modelOf(call('a', 'paused'), 0, 0), callers.modelOf(call('b', 'm'), 0, 0)];
  pause(own);
  for (let n = 0; n < 1000; n += 1) callers.modelOf(call('a', `made up ${n}`), 0, 0);
  t.equal(callers.get('key a')?.models.size, 16);
  t.equal(callers.modelOf(call('a', 'paused'), 0, 0), own);
  t.equal(callers.modelOf(call('b', 'm'), 0, 0), other);
  for (let n = 0; n < 1000; n += 1) pause(callers.modelOf(call('a', `all paused ${n}`), 0, 0));
  t.equal(callers.get('key a')?.models.size, 16);
  t.not(callers.modelOf(call('a', 'paused'), 0, 0), own, 'the oldest, if all are paused');
});

t.test('at most 1,024 callers are remembered, those that are paused for longest', async (t) => {
  const { callers, pause } = callersAt();
  pause(callers.of(call('paused', 'm'), 0).circuit);
  pause(callers.modelOf(call('paused for a model', 'm'), 0, 0));
  for (let n = 0; n < 3000; n += 1) callers.of(call(`${n}`, 'm'), 0);
  t.equal(callers.size, 1024);
  t.equal(callers.paused, 2);
  t.ok(callers.get('key paused'));
  t.ok(callers.get('key paused for a model'));
});

t.test('a caller of whom nothing is known any more is forgotten', async (t) => {
  const { callers, pause } = callersAt();
  const caller = callers.of(call('a', 'm'), 0);
  callers.modelOf(call('a', 'm'), 0, 0);
  const paused = callers.modelOf(call('a', 'paused'), 0, 0);
  pause(paused);
  callers.forgetBlank('key a', caller);
  t.same([...caller.models.keys()], ['paused']);
  t.equal(callers.size, 1);
  caller.models.clear();
  callers.forgetBlank('key a', caller);
  t.equal(callers.size, 0);
});
