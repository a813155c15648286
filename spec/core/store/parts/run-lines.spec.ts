// The lines of a journal.
import t from 'tap';
import { MAX_ARCHIVED_LINES, parseRunLines, runFile, runFileOf, runLine, runName } from '../../../../core/store/parts/run-lines.ts';
import { callRecord, modelRecord } from '../../../support/tools/records.ts';

t.test('what follows the last newline is not there', async (t) => {
  const lines = runLine(modelRecord(1)) + runLine(callRecord('1.1'));
  t.strictSame(await parseRunLines(Buffer.from(`${lines}{"t":"resu`)), { records: [modelRecord(1), callRecord('1.1')], size: lines.length });
});

t.test('a wrong line is named by its number, and an unknown kind is kept', async (t) => {
  await t.rejects(parseRunLines(Buffer.from(`${runLine(modelRecord(1))}x\n`)), { message: /^line 2: it is not valid JSON/ });
  await t.rejects(parseRunLines(Buffer.from('{"t":5}\n')), { message: /line 1: it is not a record/ });
  await t.rejects(parseRunLines(Buffer.from('{"t":"unknown","call":"1.1"}\n')), { message: /line 1: why is required/ });
  await t.rejects(parseRunLines(Buffer.from(runLine(modelRecord(2 ** 53)))), { message: /line 1: its step is above 999999999/ }, 'no step comes after it');
  t.match((await parseRunLines(Buffer.from('{"t":"later"}\n'))).records, [{ t: 'later' }]);
});

t.test('in-turns: others are served while a long journal is read, and one of an archive has no more lines than can be read', async (t) => {
  const lines = (count: number): Buffer => Buffer.from('{"t":"later"}\n'.repeat(count));
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const { records } = await parseRunLines(lines(MAX_ARCHIVED_LINES), MAX_ARCHIVED_LINES);
  isDone = true;
  t.equal(records.length, MAX_ARCHIVED_LINES);
  t.ok(turns > 1, `${turns} turns`);
  await t.rejects(parseRunLines(lines(MAX_ARCHIVED_LINES + 1), MAX_ARCHIVED_LINES), { message: 'it has more than 250000 lines' });
});

t.test('in-turns: others are also served between many short journals', async (t) => {
  const journal = Buffer.from('{"t":"later"}\n'.repeat(100));
  let turns = 0;
  let turn = setImmediate(function next() {
    turns += 1;
    turn = setImmediate(next);
  });
  t.teardown(() => clearImmediate(turn));
  for (const until = performance.now() + 100; performance.now() < until; ) await parseRunLines(journal, 100);
  t.ok(turns > 2, `${turns} turns`);
});

t.test('a journal has the name of its message, whatever a person has written as its id', async (t) => {
  t.equal(runName('msg_1-a'), 'msg_1-a');
  for (const id of ['../../etc/passwd', 'a/b', '', 'ä', 'x'.repeat(500)]) t.match(runName(id), /^x-[0-9a-f]{40}$/, id);
  t.not(runName('a/b'), runName('a/c'));
});

t.test('a file in runs/ is a journal or a whole result, and any other name is none of ours', async (t) => {
  for (const ref of [undefined, '1.2', '12.1p']) t.strictSame(runFileOf(runFile('m', ref)), { run: 'm', ref });
  for (const name of ['m.json', 'm.1.json', '../m.jsonl', 'm.jsonl.tmp', '.jsonl', 'm.1.2q.json']) t.equal(runFileOf(name), undefined, name);
});
