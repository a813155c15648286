// costs.json follows from the ledger.
import { mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { RUNNABLE, type StartedCore, startCore } from '../../../support/blocks.ts';
import { until } from '../../../support/until.ts';

const ledgerOf = ({ workspace }: StartedCore): string => join(workspace, 'ledger.jsonl');

/** A stopped block that has answered `count` messages. */
async function answered(t: Parameters<typeof startCore>[0], count: number, config: object = RUNNABLE): Promise<StartedCore> {
  const one = await startCore(t);
  await one.create('ada', config);
  await one.blocks.start('ada');
  for (let n = 0; n < count; n += 1) await one.ask('ada', `${n}`);
  await one.blocks.stop('ada');
  return one;
}

const totalsOf = (one: StartedCore) => {
  const { calls, totalInput, totalOutput, failedCalls, byModel, byDay, byPurpose, budget } = one.readJson('ada', 'costs');
  return { calls, totalInput, totalOutput, failedCalls, byModel, byDay, byPurpose, budget };
};

t.test('a costs.json that is older than the ledger is updated at the next start, and no call counts twice', async (t) => {
  const one = await answered(t, 1);
  const old = one.readText('ada', 'costs');
  await one.blocks.start('ada');
  for (const message of ['a', 'b']) await one.ask('ada', message);
  await one.blocks.stop('ada');
  const totals = totalsOf(one);
  one.write('ada', 'costs', old);
  for (const what of ['brought up', 'left alone']) {
    await one.blocks.start('ada');
    t.match({ ...totalsOf(one), budget: null }, { ...totals, budget: null }, what);
    t.match(one.readJson('ada', 'costs'), { calls: 3, sessionInput: 0, lastCall: { at: String, model: 'm', usage: { totalTokens: 5 } } });
    await one.blocks.stop('ada');
  }
  const logs = (await one.blocks.logs('ada')).map(({ content }) => content).join('');
  t.equal(logs.match(/WARN costs\.recovered calls=2/g)?.length, 1);
});

t.test('a lost costs.json is rebuilt from the ledger', async (t) => {
  const one = await answered(t, 3);
  const totals = totalsOf(one);
  unlinkSync(one.folder('ada', 'costs.json'));
  await one.blocks.start('ada');
  t.match({ ...totalsOf(one), budget: null }, { ...totals, budget: null });
  await one.ask('ada', 'another');
  t.match(one.readJson('ada', 'costs'), { calls: 4, totalInput: 12, budget: { day: { tokens: 20 } } });
});

t.test('a costs.json that is lost while the block runs is rebuilt at the next call', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'a');
  unlinkSync(one.folder('ada', 'costs.json'));
  await one.ask('ada', 'b');
  t.match(one.readJson('ada', 'costs'), { calls: 2, totalInput: 6, budget: { day: { tokens: 10 } } });
});

t.test('calls before a reset are not counted again', async (t) => {
  const one = await answered(t, 2);
  await one.blocks.reset('ada');
  const fresh = one.readText('ada', 'costs');
  await one.blocks.start('ada');
  t.match(one.readJson('ada', 'costs'), { calls: 0, totalInput: 0 });
  await one.ask('ada', 'another');
  await one.blocks.stop('ada');
  one.write('ada', 'costs', fresh);
  await one.blocks.start('ada');
  t.match(one.readJson('ada', 'costs'), { calls: 1, totalInput: 3 });
});

t.test('a block restored under another name keeps its calls, and a new block with the old name has none of them', async (t) => {
  const one = await answered(t, 2);
  const { archiveName } = await one.blocks.archive('ada');
  await one.blocks.restore(archiveName, { name: 'bob' });
  await one.create('ada');
  for (const name of ['ada', 'bob']) {
    unlinkSync(one.folder(name, 'costs.json'));
    await one.blocks.start(name);
  }
  t.match(one.readJson('bob', 'costs'), { calls: 2, totalInput: 6 });
  t.match(one.readJson('ada', 'costs'), { calls: 0 });
});

t.test('an unreadable ledger does not prevent a start', async (t) => {
  const one = await answered(t, 1);
  await one.core.close();
  renameSync(ledgerOf(one), `${ledgerOf(one)}.away`);
  mkdirSync(ledgerOf(one));
  const next = await startCore(t, { workspace: one.workspace });
  await next.blocks.start('ada');
  t.match(next.readJson('ada', 'costs'), { calls: 1 });
  await until('it is in the log', () => next.facts.length > 0);
  t.match((await next.blocks.logs('ada')).map(({ content }) => content).join(''), /WARN costs\.not-recovered/);
});

t.test('caps and reports use the ledger and never costs.json', async (t) => {
  const budget = { dailyTokens: 200 };
  const one = await answered(t, 2, { ...RUNNABLE, adapter: { ...RUNNABLE.adapter, maxTokens: 10 }, budget });
  for (const forged of [
    { totalInput: 1e9, calls: 1e9, budget: { day: { usd: 0, tokens: 1e9 }, month: { usd: 0, tokens: 1e9 }, state: 'exceeded' } },
    { totalInput: 0, calls: 0, budget: { day: { usd: 0, tokens: 0 }, month: { usd: 0, tokens: 0 }, state: 'ok' } },
  ]) {
    one.write('ada', 'costs', { ...one.readJson('ada', 'costs'), ...forged });
    t.match((await one.blocks.costs({ by: 'block' })).rows, [{ key: 'ada', input: readFileSync(ledgerOf(one), 'utf8').trim().split('\n').length * 3 }]);
    await one.blocks.start('ada');
    await one.ask('ada', 'x');
    await one.blocks.stop('ada');
  }
  t.match(one.readJson('ada', 'costs').budget, { day: { tokens: 20 } });
  one.write('ada', 'costs', { ...one.readJson('ada', 'costs'), budget: { day: { usd: 0, tokens: 0 }, month: { usd: 0, tokens: 0 }, state: 'ok' } });
  writeFileSync(ledgerOf(one), readFileSync(ledgerOf(one), 'utf8').replaceAll('"totalTokens":5', '"totalTokens":100'));
  await one.core.close();
  const next = await startCore(t, { workspace: one.workspace });
  await next.blocks.start('ada');
  await next.blocks.post('ada', { message: 'x' }, 'web');
  await next.told('block.transitioned', { to: 'paused', cause: 'BUDGET_REACHED' });
});
