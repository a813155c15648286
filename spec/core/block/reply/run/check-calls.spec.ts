// What becomes of the calls of one answer, by the records before it.
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { checkCalls, MAX_TRIES } from '../../../../../core/block/reply/run/check-calls.ts';
import { digestOf } from '../../../../../core/tools/canonical.ts';
import { RunState } from '../../../../../core/tools/journal.ts';
import { offerAgain, recordOf } from '../../../../../core/tools/offer.ts';
import { type ToolSettings, toolSettings } from '../../../../../core/tools/settings.ts';
import type { RunRecord } from '../../../../../core/types.ts';
import { BANK, TRUSTED } from '../../../../support/tools/payment-host.ts';
import { AT, answerRecord, approvalOf, callRecord, modelRecord, resultRecord, runRecord } from '../../../../support/tools/records.ts';
import { pay, RULES } from '../../../../support/tools/tool-core.ts';

const BY = { channel: 'cli', name: 'x' } as const;
const LIST = { name: 'bank__list', arguments: {} };

function check(
  records: readonly RunRecord[],
  rules: object = {},
  causes: ReadonlyMap<string, string> = new Map(),
  real: (path: string) => Promise<string> = async (path) => path,
) {
  const settings = toolSettings({ tools: { ...RULES, ...rules } }) as ToolSettings;
  const { tools } = offerAgain({ tools: BANK, settings: { bank: TRUSTED }, problems: [] }, BANK.map(recordOf));
  return checkCalls({
    block: 'ada',
    messageId: 'm1',
    state: new RunState(records),
    settings,
    tools: new Map(tools.map((tool) => [tool.id, tool])),
    causes,
    lost: new Set(),
    taint: [],
    now: Date.parse(AT),
    real,
  });
}

const begun = (...calls: { name: string; arguments: object }[]): RunRecord[] => [runRecord(), modelRecord(1), answerRecord(1, calls)];

t.test('if one call waits for a person, none is ready; what is refused is refused at once', async (t) => {
  const all = await check(begun(pay('bob'), LIST, { name: 'bank__none', arguments: {} }), { ask: ['bank/pay'] });
  t.match(all.records, [
    { t: 'ask', call: '1.1', approval: { expiresAt: '2026-11-29T12:00:00.000Z', digest: digestOf('bank/pay', pay('bob').arguments, 'pin-of-pay') } },
    { t: 'refused', call: '1.3', code: 'not-offered' },
  ]);
  t.strictSame(all.ready, []);
  const none = await check(begun(pay('bob'), LIST));
  t.strictSame(
    none.ready.map(({ call }) => call.place),
    ['1.1', '1.2'],
  );
  t.strictSame(none.records, []);
});

t.test('bound: what was approved is this call, and no other', async (t) => {
  const approved = (digest: string, decision: 'approve' | 'expire' = 'approve'): RunRecord[] => [
    ...begun(pay('bob')),
    { t: 'ask', call: '1.1', approval: approvalOf('a1', { digest }) },
    { t: 'decision', approval: 'a1', decision, by: BY, at: AT },
  ];
  const right = digestOf('bank/pay', pay('bob').arguments, 'pin-of-pay');
  t.equal((await check(approved(right), { ask: ['*'] })).ready.length, 1);
  t.match((await check(approved('another'), { ask: ['*'] })).records, [{ t: 'refused', code: 'changed' }]);
  t.match((await check(approved(right, 'expire'), { ask: ['*'] })).records, [{ t: 'refused', code: 'expired' }]);
  t.match((await check(approved(right), { deny: ['*'] })).records, [{ t: 'refused', code: 'denied' }], 'a rule of today that denies wins');
});

t.test('in-turns: while many calls are checked, others have turns', async (t) => {
  const wrong = { name: 'bank__pay', arguments: { to: Array.from({ length: 200 }, (_, at) => ({ at })) } };
  const records = begun(...Array.from({ length: 3000 }, () => wrong));
  let turns = 0;
  let isDone = false;
  const checked = check(records).finally(() => {
    isDone = true;
  });
  for (; !isDone; turns += 1) await setImmediate();
  t.equal((await checked).records.length, 3000);
  t.ok(turns > 5, `${turns} turns`);
});

t.test('no-silent-repeat: by what the tool is, and how often it was sent', async (t) => {
  const limit = { name: 'bank__set_limit', arguments: { limit: 1 } };
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const { ready, records } = await check([...begun(limit), callRecord('1.1', 'set_limit', tries)]);
    t.equal(ready.length, tries < MAX_TRIES ? 1 : 0);
    if (tries === MAX_TRIES) t.match(records, [{ t: 'unknown', why: 'the server ended while it ran' }]);
  }
  t.match((await check([...begun(pay('bob')), callRecord('1.1')], {}, new Map([['1.1', 'bank has ended']]))).records, [
    { t: 'unknown', why: 'bank has ended', open: false },
  ]);
  t.match(
    (await check([...begun(limit), { ...callRecord('1.1', 'set_limit'), pin: 'old' } as RunRecord])).records,
    [{ t: 'unknown' }],
    'another definition may be another tool',
  );
});

t.test('a decision about one try says nothing of the next', async (t) => {
  const asked = { t: 'ask', call: '1.1', approval: approvalOf('a1', { kind: 'unknown' }) } as const;
  const decided = { t: 'decision', approval: 'a1', decision: 'not-ran', by: BY, at: AT } as const;
  const once: RunRecord[] = [...begun(pay('bob')), callRecord('1.1'), asked, decided];
  t.equal((await check(once, { onUnknown: 'ask' })).ready.length, 1);
  const later = { ...callRecord('1.1', 'pay', 2), at: '2026-11-28T12:00:01.000Z' } as RunRecord;
  t.match((await check([...once, later], { onUnknown: 'ask' })).records, [{ t: 'ask', approval: { kind: 'unknown' } }]);
});

t.test('wrong arguments are explained twice, and equal calls are refused from the third on', async (t) => {
  const wrong = { name: 'bank__pay', arguments: { to: 5 } };
  const refused = (place: string): RunRecord => ({ t: 'refused', call: place, code: 'invalid-arguments', note: '' });
  t.match((await check(begun(wrong))).records, [{ note: /must have required property 'amount'/ }]);
  const third = [...begun(wrong), refused('1.1'), modelRecord(2), answerRecord(2, [wrong]), refused('2.1'), modelRecord(3), answerRecord(3, [wrong])];
  t.match((await check(third)).records, [{ code: 'invalid-arguments', note: 'The call was not made: its arguments are wrong again.' }]);
  const equal = (step: number): RunRecord[] => [modelRecord(step), answerRecord(step, [LIST]), callRecord(`${step}.1`, 'list'), resultRecord(`${step}.1`)];
  const again = [runRecord(), ...equal(1), ...equal(2), modelRecord(3), answerRecord(3, [LIST])];
  t.match((await check(again)).records, [{ code: 'same-call' }]);
  t.equal(
    (
      await check(
        again
          .slice(0, 5)
          .concat(again.slice(9))
          .map((record) => record),
      )
    ).ready.length,
    1,
  );
});

t.test('a tool whose definition has changed since the run began is not called', async (t) => {
  const settings = toolSettings({ tools: RULES }) as ToolSettings;
  const checked = await checkCalls({
    block: 'ada',
    messageId: 'm1',
    state: new RunState(begun(pay('bob'))),
    settings,
    tools: new Map(),
    causes: new Map(),
    lost: new Set(),
    taint: [],
    now: 0,
    real: async () => undefined,
  });
  t.match(checked.records, [{ t: 'refused', code: 'changed' }]);
});

t.test('where-again: of a call that a path allows, it can be asked again where the path leads; of others it is not asked', async (t) => {
  const to = (path: string) => ({ name: 'bank__pay', arguments: { to: path, amount: 5 } });
  const links = new Map<string, string>();
  const rules = { allow: ['bank/list', { tool: 'bank/pay', where: { to: '/out/**' } }] };
  const { ready } = await check(begun(LIST, to('/out/a')), rules, new Map(), async (path) => links.get(path) ?? path);
  t.strictSame(
    ready.map(({ isStillAllowed }) => isStillAllowed === undefined),
    [true, false],
  );
  t.equal(await ready[1]?.isStillAllowed?.(), true);
  links.set('/out/a', '/secret');
  t.equal(await ready[1]?.isStillAllowed?.(), false);
});

t.test('few-asked: of ten thousand calls in one answer no more wait for a person than the run may make, and the others are refused at once', async (t) => {
  const calls = Array.from({ length: 10_000 }, (_, at) => pay(`b${at}`));
  const { records, ready } = await check(begun(...calls), { ask: ['bank/pay'] });
  t.equal(records.filter((record) => record.t === 'ask').length, 50);
  t.equal(records.filter((record) => record.t === 'refused' && record.code === 'limit').length, 9950);
  t.strictSame(ready, []);
});
