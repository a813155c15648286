// Journals and results as files, there and back.
import t from 'tap';
import { addRunFile, runFilesOf } from '../../../../core/store/postgres/run-files.ts';
import { runLine } from '../../../../core/store/parts/run-lines.ts';
import type { RunRecord } from '../../../../core/types.ts';
import { blockIn, migrated } from '../../../support/migrated.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { answerRecord, approvalOf, AT, modelRecord, resultRecord, runRecord } from '../../../support/tools/records.ts';

const file = (name: string, text: string, at?: Date) => ({ file: name, at, bytes: async () => Buffer.from(text) });
const ask = (id: string, call: string): RunRecord => ({ t: 'ask', call, approval: approvalOf(id) });
const decision: RunRecord = { t: 'decision', approval: 'a1', decision: 'deny', by: { channel: 'cli', name: 'token' }, at: AT };

t.test('a journal and a result come back as they were, and what waits in them is listed', { skip: noPostgres }, async (t) => {
  const world = await migrated(t);
  const block = await blockIn(world, 'ada');
  const records = [runRecord(), modelRecord(1), answerRecord(1, []), ask('a1', '1.1'), decision, ask('a2', '1.2'), ask('a3', '1.3'), resultRecord('1.3')];
  const journal = records.map(runLine).join('').replace('{"t":"model"', '{ "t":"model"');
  const at = new Date(AT);
  for (const one of [
    file('m1.jsonl', `${journal}{"torn`),
    file('m1.2.1.json', 'NUL \0', at),
    file('m0.jsonl', runLine(runRecord())),
    file('notes.txt', 'mine'),
  ])
    await addRunFile(world.database.query, block, one);
  const files = await runFilesOf(world.database.query, block);
  t.same(await Promise.all(files.map(async (one) => [one.file, one.at, (await one.bytes()).toString()])), [
    ['m0.jsonl', undefined, runLine(runRecord())],
    ['m1.2.1.json', at, 'NUL \0'],
    ['m1.jsonl', undefined, journal],
  ]);
  t.match(await world.ask('select id, decision from bh.approval order by id'), [
    { id: 'a1', decision: 'deny' },
    { id: 'a2', decision: null },
  ]);
  await t.rejects(addRunFile(world.database.query, block, file('m2.jsonl', '{}\n')), { message: /line 1/ });
});

t.test('a long journal goes in pieces', { skip: noPostgres }, async (t) => {
  const world = await migrated(t);
  const block = await blockIn(world, 'ada');
  const long = [runRecord(), ...Array.from({ length: 5 }, (_, n) => resultRecord(`1.${n + 1}`, { text: 'x'.repeat(2_000_000) }))].map(runLine).join('');
  await addRunFile(world.database.query, block, file('m1.jsonl', long));
  const [only] = await runFilesOf(world.database.query, block);
  t.ok((await only?.bytes())?.equals(Buffer.from(long)));
});
