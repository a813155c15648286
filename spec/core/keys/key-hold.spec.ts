import t from 'tap';
import type { AccountedCall } from '../../../core/gateway/account.ts';
import { NO_PRICE } from '../../../core/gateway/pricing.ts';
import { finalCost, newId } from '../../../core/keys/call-note.ts';
import { HeldCalls, KeyHold } from '../../../core/keys/key-hold.ts';
import type { OpenCall } from '../../../core/store/port.ts';
import type { Usage } from '../../../core/types.ts';
import { keyWith } from '../../support/key-requests.ts';
import { until } from '../../support/until.ts';

const AT = '2026-11-22T12:00:00.000Z';
const usageOf = (inputTokens: number, outputTokens: number): Usage => ({ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens });
const aThousandth = ({ totalTokens }: Usage): number => totalTokens / 1000;
const perToken = { exact: aThousandth, least: aThousandth };

function holdOf(
  name: string,
  call: { used?: Usage; hasOutput?: boolean; choices?: number; input?: number } = {},
  group?: object,
  key = keyWith({}, group, name),
) {
  const accounted = {
    requestId: 'r',
    adapterId: 'a',
    model: 'm',
    hasOutput: call.hasOutput ?? true,
    choices: call.choices ?? 1,
    inputTokens: () => call.input ?? 10,
    usageSoFar: () => call.used,
  };
  return new KeyHold(accounted as AccountedCall, { key, places: [], taken: undefined, hasRoom: false, at: Date.parse(AT) }, async () => undefined);
}

const underWay = (calls: HeldCalls, own: KeyHold) => calls.underWay({ kind: 'key', name: own.key }, own);

function heldCalls(now = Date.now) {
  const noted: OpenCall[] = [];
  const alone: string[] = [];
  const note = (call: OpenCall): undefined => void noted.push(call);
  const calls = new HeldCalls({ note, noteAlone: ({ at }) => void alone.push(at) }, { onFault: () => undefined, now });
  return { calls, noted, alone };
}

t.test('a call that lasts has the time of the store in its note, whatever the clock of this machine says', async (t) => {
  const { calls, alone } = heldCalls(() => Date.parse('2026-12-01T00:00:01.000Z'));
  await calls.take(holdOf('app'), perToken);
  await until('it has been seen twice', () => alone.length > 0);
  t.same(alone, ['2026-12-01T00:00:01.000Z']);
  calls.close();
});

t.test('the other calls of the same key count: as expected, and with more once that is sure', async (t) => {
  const { calls } = heldCalls();
  const own = holdOf('app');
  const growing: { used?: Usage } = {};
  const terms = [perToken, undefined] as const;
  await calls.take(holdOf('app', growing), ...terms);
  await calls.take(holdOf('other'), ...terms);
  t.same(underWay(calls, own), { usd: 1.01, tokens: 1010 });
  growing.used = usageOf(10, 20);
  t.same(underWay(calls, own), { usd: 1.01, tokens: 1010 }, 'its first words say nothing of its length');
  growing.used = usageOf(10, 2000);
  t.same(underWay(calls, own), { usd: 2.01, tokens: 2010 });
  await calls.take(own, perToken, 40.4);
  t.equal(underWay(calls, holdOf('app')).tokens, 2060);
  calls.leave(own);
  calls.leave(own);
  t.same(underWay(calls, holdOf('app')), { usd: 2.01, tokens: 2010 });
  calls.close();
});

t.test('calls end in any order, and those that stay count on', async (t) => {
  const { calls } = heldCalls();
  const holds = ['app', 'app', 'other', 'app'].map((key) => holdOf(key));
  for (const hold of holds) await calls.take(hold, perToken);
  const tokens = (key: string) => underWay(calls, holdOf(key)).tokens;
  t.same([tokens('app'), tokens('other')], [3030, 1010]);
  for (const [ended, app, other] of [
    [0, 2020, 1010],
    [3, 1010, 1010],
    [1, 0, 1010],
    [2, 0, 0],
  ] as const) {
    calls.leave(holds[ended] as KeyHold);
    t.same([tokens('app'), tokens('other')], [app, other], `after call ${ended}`);
    t.equal(calls.sumOf({ kind: 'key', name: 'other' }).tokens > 0, other > 0);
  }
  calls.close();
});

t.test('a call without output is expected to have none, and one without a price counts in tokens only', async (t) => {
  const { calls, noted } = heldCalls();
  await calls.take(holdOf('app', { hasOutput: false }), NO_PRICE, 500);
  t.same(underWay(calls, holdOf('app')), { usd: 0, tokens: 10 });
  t.match(noted, [{ usage: usageOf(10, 0), costUsd: null }]);
  calls.close();
});

t.test('texts that are sent in batches count with all of them until the last one has come, however few have', async (t) => {
  const { calls } = heldCalls();
  const growing: { used?: Usage; hasOutput: boolean; input: number } = { hasOutput: false, input: 1000 };
  const texts = holdOf('app', growing);
  await calls.take(texts, perToken);
  growing.used = usageOf(10, 0);
  t.same(underWay(calls, holdOf('app')), { usd: 1, tokens: 1000 }, 'one batch says nothing of the others');
  const beside = calls.beside(texts, perToken, undefined);
  t.same(beside.exactly({ kind: 'key', name: 'app' }), { usd: 0.01, tokens: 10 }, 'and what it has used counts when it asks for the next one');
  t.same(beside.own?.(), { usd: 0.99, tokens: 990 });
  const other: { used?: Usage } = {};
  await calls.take(holdOf('app', other), perToken);
  const between = () => calls.beside(texts, perToken, undefined).exactly({ kind: 'key', name: 'app' }).tokens;
  t.equal(between(), 10, 'not what another call is expected to use: that would end one that was admitted before it');
  other.used = usageOf(10, 5);
  t.equal(between(), 25, 'but what it has used');
  growing.used = usageOf(1500, 0);
  t.equal(between(), 1515);
  t.equal(underWay(calls, holdOf('app')).tokens, 1500 + 1010, 'all of them have come, and were more than expected');
  calls.leave(texts);
  calls.close();
});

t.test('a call that asks for several answers is expected to have the output of as many', async (t) => {
  const { calls } = heldCalls();
  await calls.take(holdOf('app', { choices: 128 }), NO_PRICE, 500);
  t.same(underWay(calls, holdOf('app')), { usd: 0, tokens: 64_010 });
  calls.close();
});

t.test('a further attempt is noted under the same id, and a call whose caller has left is not noted', async (t) => {
  const { calls, noted } = heldCalls();
  const hold = holdOf('app');
  const terms = [perToken, undefined] as const;
  await calls.take(hold, ...terms);
  await calls.take(hold, ...terms);
  t.equal(noted.length, 2);
  t.equal(noted[0]?.id, noted[1]?.id);
  t.same(underWay(calls, holdOf('app')), { usd: 1.01, tokens: 1010 }, 'it counts once');
  const left = holdOf('app');
  calls.leave(left);
  await calls.take(left, ...terms);
  t.equal(noted.length, 2);
  calls.leave(hold);
  t.same(underWay(calls, holdOf('app')), { usd: 0, tokens: 0 });
});

t.test('a call without a price of its own counts with what it costs at least', async (t) => {
  const { calls, noted } = heldCalls();
  await calls.take(holdOf('app', { used: usageOf(10, 20) }), { exact: () => null, least: aThousandth });
  t.same(underWay(calls, holdOf('app')).usd, 1.01);
  t.match(noted, [{ costUsd: null, leastUsd: 1.04 }], 'with the input of a further attempt');
  calls.close();
});

t.test('the journal has the mean output of the key, so that a killed process leaves no less', async (t) => {
  const { calls, noted } = heldCalls();
  await calls.take(holdOf('app'), perToken, 20_000);
  t.match(noted, [{ usage: usageOf(10, 20_000), costUsd: 20.01 }]);
  calls.close();
});

t.test('a group has the calls under way of all its keys, each of them noted once', async (t) => {
  const { calls, noted } = heldCalls();
  const terms = [perToken, 90] as const;
  const [one, other] = [holdOf('app', {}, {}), holdOf('other', {}, {})];
  for (const hold of [one, other, holdOf('alone')]) await calls.take(hold, ...terms);
  t.match(noted, [{ key: 'app', group: 'team' }, { key: 'other', group: 'team' }, { key: 'alone' }]);
  const ofTeam = (own: KeyHold) => calls.underWay({ kind: 'group', name: 'team' }, own).tokens;
  t.same([ofTeam(holdOf('app')), ofTeam(one), underWay(calls, holdOf('app')).tokens], [200, 100, 100]);
  t.match(calls.sumOf({ kind: 'group', name: 'team' }), { usd: 2.02, tokens: 2020 }, 'the sum is what is noted of them, which is more');
  calls.leave(one);
  t.match(calls.sumOf({ kind: 'group', name: 'team' }), { tokens: 1010 });
  t.match(calls.sumOf({ kind: 'key', name: 'app' }), { usd: 0, tokens: 0 });
  t.equal(ofTeam(holdOf('app')), 100);
  calls.close();
});

t.test('the journal has what a provider tells long before the end of its answer, too: more input than was expected, and a cost', async (t) => {
  for (const [told, pricer] of [
    [usageOf(100_000, 1), perToken],
    [
      { ...usageOf(10, 1), costUsd: 7 },
      { exact: ({ costUsd = 0 }: Usage) => costUsd, least: ({ costUsd = 0 }: Usage) => costUsd },
    ],
    [usageOf(100_000, 0), perToken],
  ] as const) {
    const { calls, noted } = heldCalls();
    const growing: { used?: Usage; hasOutput: boolean } = { hasOutput: told.outputTokens > 0 };
    const hold = holdOf('app', growing);
    await calls.take(hold, pricer);
    growing.used = told;
    await until('it is noted again', () => noted.length > 1);
    const { usage, costUsd } = noted.at(-1) ?? {};
    t.ok((usage?.inputTokens ?? 0) >= told.inputTokens && (costUsd ?? 0) >= pricer.least(told), JSON.stringify([usage, costUsd]));
    const [sum, exact] = [calls.sumOf({ kind: 'key', name: 'app' }), underWay(calls, holdOf('app'))];
    t.ok(sum.tokens >= exact.tokens && sum.usd >= exact.usd, 'the sum is never less than what the calls count');
    const { looks } = hold;
    await until('it was looked at again', () => hold.looks > looks);
    t.equal(noted.length, 2, 'once');
    calls.close();
  }
});

t.test('what is noted has an id of its own, what the call counts, and what its provider may bill at least', async (t) => {
  t.not(newId(), newId());
  const { calls, noted } = heldCalls();
  const hold = holdOf('app', {}, {});
  hold.place = 'here';
  await calls.take(hold, { exact: () => null, least: aThousandth }, 5000);
  const [{ id, at, requestId, key, group, provider, model, usage, costUsd, leastUsd, error, place } = hold] = noted;
  t.equal(id, hold.id, 'the same each time');
  t.same([at, requestId, key, group, provider, model, error, place], [AT, 'r', 'app', 'team', 'a', 'm', 'SHUTTING_DOWN', 'here']);
  t.same([usage, costUsd, leastUsd], [{ ...usageOf(10, 5000), estimated: true }, null, 5.01]);
  t.same(finalCost(usageOf(10, 20), { exact: () => null, least: aThousandth }), { costUsd: null, leastUsd: 0.03 });
  t.same(finalCost(usageOf(10, 20), perToken), { costUsd: 0.03 });
  calls.close();
});

t.test('a further attempt at a part of a request is noted with the rest of it', async (t) => {
  const { calls, noted } = heldCalls();
  await calls.take(holdOf('app', { used: usageOf(4, 0), hasOutput: false }), perToken);
  t.match(noted, [{ usage: usageOf(10, 0) }]);
  calls.close();
});

t.test('a further attempt, or batch, is noted beside what was used before, since it sends about as much again', async (t) => {
  for (const [hasOutput, used, input] of [
    [true, [undefined, usageOf(100, 0), usageOf(200, 50)], [100, 200, 300]],
    [false, [undefined, usageOf(60, 0), usageOf(120, 0), usageOf(160, 0)], [100, 120, 180, 220]],
    [false, [undefined, usageOf(20, 0), usageOf(40, 0), usageOf(40, 0)], [100, 100, 100, 100]],
  ] as const) {
    const { calls, noted } = heldCalls();
    const growing: { used?: Usage; hasOutput: boolean; input: number } = { hasOutput, input: 100 };
    const hold = holdOf('app', growing);
    const inputs: number[] = [];
    for (const each of used) {
      if (each !== undefined) growing.used = each;
      await calls.take(hold, perToken);
      inputs.push(noted.at(-1)?.usage.inputTokens ?? 0);
    }
    t.same(inputs, input);
    calls.leave(hold);
    t.same(calls.sumOf({ kind: 'key', name: 'app' }), { calls: 0, usd: 0, tokens: 0 });
    calls.close();
  }
});

t.test('calls with about the same input share a note, which says no less than each of them counts and hardly more', async (t) => {
  const { calls, noted } = heldCalls();
  const inputs = [100, 90, 101, 37, 36, 36];
  const app = keyWith({}, undefined, 'app');
  const holds = inputs.map((input) => holdOf('app', { input }, undefined, app));
  for (const hold of holds) await calls.take(hold, perToken);
  t.same(
    noted.map(({ usage }) => usage.inputTokens),
    [100, 100, 101, 101, 36, 36],
  );
  await calls.take(holdOf('other', { input: 30 }), perToken);
  await calls.take(holdOf('app', { input: 30 }, undefined, app), NO_PRICE);
  await calls.take(holdOf('app', { input: 30 }, undefined, app), NO_PRICE, 2000);
  t.match(noted.slice(-3), [
    { usage: { inputTokens: 30 }, costUsd: 1.03 },
    { usage: { inputTokens: 30, outputTokens: 1000 }, costUsd: null },
    { usage: { inputTokens: 30, outputTokens: 2000 } },
  ]);
  t.same(calls.sumOf({ kind: 'key', name: 'app' }).tokens, 474 + 6 * 1000 + 60 + 3000);
  for (const hold of holds) calls.leave(hold);
  t.same(calls.sumOf({ kind: 'key', name: 'app' }).tokens, 60 + 3000, 'each takes off what was noted of it');
  calls.close();
});
