import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BlockhouseError } from '../../../../../core/errors.ts';
import type { LedgerLine } from '../../../../../core/store/port.ts';
import type { RunRecord } from '../../../../../core/types.ts';
import { answerRecord, AT, callRecord, modelRecord, runRecord } from '../../../../support/tools/records.ts';
import { crashedIn, pay, RULES, type ToolCore, toolCore } from '../../../../support/tools/tool-core.ts';
import { TRUSTED } from '../../../../support/tools/payment-host.ts';
import type { Said, Seen } from '../../../../support/tools/tool-model.ts';

const PRICED = { settings: { ...TRUSTED, usdPerCall: { pay: 0.25, 'pay_*': 0.5 } } };
const say = ({ results }: Seen): Said => (results.length === 0 ? [pay('bob')] : 'Done.');
const twice = ({ results }: Seen): Said => [[pay('bob')], [pay('eve')], 'Done.'][results.length] as Said;

function toolLines({ workspace }: Pick<ToolCore, 'workspace'>): LedgerLine[] {
  const lines = readFileSync(join(workspace, 'ledger.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as LedgerLine).filter(({ purpose }) => purpose === 'tool');
}

t.test('a call of a tool with a price is in the ledger, the report, costs.json and the cost of its answer', async (t) => {
  const one = await toolCore(t, { say, bank: PRICED });
  const id = await one.post('Pay bob.');
  await one.outcome(id);
  t.match(toolLines(one), [
    { id: `ada/${id}/1.1`, block: 'ada', provider: 'tool', model: 'bank/pay', costUsd: 0.25, messageId: id, usage: { totalTokens: 0 } },
  ]);
  t.equal(toolLines(one).length, 1);
  const rows = (await one.blocks.costs({ by: 'purpose' })).rows;
  t.match(
    rows.find(({ key }) => key === 'tool'),
    { calls: 1, costUsd: 0.25 },
  );
  t.match(one.readJson('ada', 'costs'), {
    totalCost: 0.25,
    byPurpose: { tool: { calls: 1 } },
    byModel: { 'tool/bank/pay': { costUsd: 0.25 } },
    lastCall: { provider: 'ollama' },
  });
  t.equal((await one.answerTo(id))?.costUsd, 0.25);
  t.match(await one.records(id), [{}, {}, {}, { t: 'call', usd: 0.25 }]);
});

for (const [title, code, count] of [
  ['an outcome that is not known costs', 'TOOL_OUTCOME_UNKNOWN', 1],
  ['a call that was not made costs nothing', 'TOOL_NOT_BEGUN', 0],
] as const) {
  t.test(title, async (t) => {
    const answer = (): never => {
      throw new BlockhouseError(code, 'bank has ended.');
    };
    const one = await toolCore(t, { say, bank: { ...PRICED, answer } });
    await one.outcome(await one.post('Pay bob.'));
    t.equal(toolLines(one).length, count);
  });
}

const priced = (call: string, tool: string): RunRecord => ({ ...callRecord(call, tool), usd: 0.5 }) as RunRecord;
const LINE = { id: 'ada/m1/1.1', at: AT, block: 'ada', provider: 'tool', model: 'bank/pay_once', purpose: 'tool', usage: null, costUsd: 0.5, messageId: 'm1' };

for (const [title, name, ledger] of [
  ['that was killed before its outcome is paid once, when it is repeated', 'bank__pay_once', ''],
  ['that was killed between its line and its outcome is not paid again', 'bank__pay_once', `${JSON.stringify(LINE)}\n`],
  ['whose outcome is never known is paid once', 'bank__pay', ''],
  ['whose outcome is never known, and which was paid, is not paid again', 'bank__pay', `${JSON.stringify(LINE)}\n`],
] as const) {
  t.test(`paid-once: a call ${title}`, async (t) => {
    const records = [runRecord(), modelRecord(1), answerRecord(1, [{ ...pay('bob'), name }]), priced('1.1', name.slice('bank__'.length))];
    const files = { ...crashedIn(records, RULES), ...(ledger !== '' && { 'ledger.jsonl': ledger }) };
    const one = await toolCore(t, { say: ({ results }) => (results.length === 0 ? [] : 'Done.'), bank: PRICED, files });
    await one.blocks.start('ada');
    await one.outcome('m1');
    t.match(toolLines(one), [{ id: 'ada/m1/1.1', costUsd: 0.5 }]);
    t.equal(toolLines(one).length, 1);
  });
}

t.test('paid-once: a message that is cancelled while nobody answers it pays for the call that may have run', async (t) => {
  const records = [runRecord(), modelRecord(1), answerRecord(1, [pay('bob')]), priced('1.1', 'pay')];
  const one = await toolCore(t, { say, bank: PRICED, files: crashedIn(records, RULES) });
  await one.blocks.cancel('ada', 'm1');
  t.match(await one.records('m1'), [{}, {}, {}, {}, { t: 'unknown' }, { t: 'end' }]);
  t.match(toolLines(one), [{ id: 'ada/m1/1.1', costUsd: 0.5 }]);
  t.equal(toolLines(one).length, 1);
});

t.test('a run with tools counts for the key with which its message was sent', async (t) => {
  const one = await toolCore(t, { say, bank: PRICED, rules: { ...RULES, taint: 'ignore' } });
  await one.blocks.start('ada');
  const { id } = await one.blocks.ask('ada', { message: 'Pay bob.', conversation: '[]', key: { name: 'app', hash: 'h-app' } });
  await one.outcome(id);
  const report = await one.core.accounts?.costs('key');
  t.match(report?.rows, [{ key: 'app', calls: 3, costUsd: 0.25 }]);
  t.equal(report?.total.input, 20, 'both calls of the model');
});

t.test('what tools cost counts towards the caps: a call that does not fit waits, and is made when the cap is raised', async (t) => {
  const one = await toolCore(t, { say: twice, bank: PRICED, config: { budget: { dailyUsd: 0.4 } } });
  const id = await one.post('Pay both.');
  await one.inState('ada', 'paused');
  t.equal(one.effects().length, 1);
  t.match(await one.blocks.explain('ada'), { why: /dailyUsd \(\$0\.40\) is reached: \$0\.25 spent today, and the next call may need \$0\.25/ });
  await one.blocks.updateConfig('ada', { budget: { dailyUsd: 5 } });
  await one.outcome(id);
  t.equal(one.effects().length, 2);
  t.strictSame(
    toolLines(one).map((line) => line.id),
    [`ada/${id}/1.1`, `ada/${id}/2.1`],
  );
});

t.test('tools.limits.usd counts the calls of tools', async (t) => {
  const one = await toolCore(t, { say: twice, bank: PRICED, rules: { ...RULES, limits: { usd: 0.2 } } });
  await one.outcome(await one.post('Pay both.'));
  t.equal(one.effects().length, 1, 'the model had to conclude after the first');
});

for (const [title, code, count] of [
  ['without an answer costs what it costs', 'TOOL_OUTCOME_UNKNOWN', 1],
  ['that was not sent costs nothing', 'TOOL_NOT_BEGUN', 0],
] as const) {
  t.test(`a probe ${title}`, async (t) => {
    const settings = { ...TRUSTED, probe: { pay: { tool: 'list', with: {}, found: '/0' } }, usdPerCall: { list: 0.125 } };
    const answer = ({ tool }: { readonly tool: string }): undefined => {
      if (tool === 'list') throw new BlockhouseError(code, 'bank has ended.');
    };
    const one = await toolCore(t, { say: ({ results }) => (results.length === 0 ? [pay('bob', { break: 'after' })] : 'Done.'), bank: { settings, answer } });
    const id = await one.post('Pay bob.');
    await one.outcome(id);
    t.match((await one.answerTo(id))?.steps, [{ outcome: 'unknown' }]);
    t.match(toolLines(one), count === 0 ? [] : [{ id: `ada/${id}/1.1p`, costUsd: 0.125 }]);
    t.equal(toolLines(one).length, count);
  });
}
