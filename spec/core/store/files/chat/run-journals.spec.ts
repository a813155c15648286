// Journals of runs on the disk: what is there after a crash, a full disk, two writers, and an odd id.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { RunJournals } from '../../../../../core/store/files/chat/run-journals.ts';
import { MAX_RESULT_BYTES } from '../../../../../core/store/parts/run-lines.ts';
import { parseRunLines, runLine } from '../../../../../core/store/parts/run-lines.ts';
import type { RunRecord } from '../../../../../core/types.ts';
import { hookJournals } from '../../../../support/tools/journal-hooks.ts';
import { answerRecord, callRecord, modelRecord, runRecord } from '../../../../support/tools/records.ts';

const RECORDS = [runRecord(), modelRecord(1), answerRecord(1, []), callRecord('1.1')] as [RunRecord, RunRecord, RunRecord, RunRecord];

t.test('records are appended, read again, and private', async (t) => {
  const folder = t.testdir();
  const runs = new RunJournals(`${folder}/runs`);
  t.strictSame(await runs.read('m1'), []);
  t.notOk(existsSync(`${folder}/runs`), 'nothing is made before the first record');
  await runs.append('m1', 0, RECORDS.slice(0, 2));
  await runs.append('m1', 2, RECORDS.slice(2), { quiet: true });
  t.strictSame(await runs.read('m1'), RECORDS);
  t.strictSame(await new RunJournals(`${folder}/runs`).read('m1'), RECORDS);
  t.equal(statSync(`${folder}/runs/m1.jsonl`).mode & 0o777, 0o600);
  t.equal(statSync(`${folder}/runs`).mode & 0o777, 0o700);
});

t.test('same-number-same-record: again changes nothing, another one is refused, and none may be left out', async (t) => {
  const folder = t.testdir();
  const runs = new RunJournals(`${folder}/runs`);
  await runs.append('m1', 0, RECORDS.slice(0, 3));
  await runs.append('m1', 1, RECORDS.slice(1));
  t.strictSame(await runs.read('m1'), RECORDS);
  await t.rejects(runs.append('m1', 3, [callRecord('1.2')]), { code: 'REVISION_MISMATCH' });
  await t.rejects(runs.append('m1', 9, [callRecord('1.2')]), /none can be number 9/);
  const other = new RunJournals(`${folder}/runs`);
  await other.append('m1', 4, [callRecord('1.2')]);
  await t.rejects(runs.append('m1', 4, [callRecord('1.3')]), { code: 'REVISION_MISMATCH' }, 'also where somebody else wrote it');
  t.equal((await runs.read('m1')).length, 5);
});

t.test('a torn line was not written: it is not read, and the next record takes its place', async (t) => {
  const folder = t.testdir();
  await new RunJournals(`${folder}/runs`).append('m1', 0, RECORDS.slice(0, 2));
  const whole = JSON.stringify(RECORDS[2]);
  for (const torn of [whole.slice(0, 30), whole, '{']) {
    appendFileSync(`${folder}/runs/m1.jsonl`, torn);
    const runs = new RunJournals(`${folder}/runs`);
    t.strictSame(await runs.read('m1'), RECORDS.slice(0, 2));
  }
  await new RunJournals(`${folder}/runs`).append('m1', 2, RECORDS.slice(2));
  t.equal(readFileSync(`${folder}/runs/m1.jsonl`, 'utf8'), RECORDS.map(runLine).join(''));
});

t.test('damage has its place: a broken line, a record without its fields, a link', async (t) => {
  const folder = t.testdir({ runs: {} });
  const path = `${folder}/runs/m1.jsonl`;
  for (const [line, problem] of [
    ['{"t":"mod', /line 2: it is not valid JSON/],
    ['{"t":"call","call":"1.1"}', /line 2: at is required/],
    ['5', /line 2: it is not a record/],
  ] as const) {
    writeFileSync(path, `${runLine(RECORDS[0])}${line}\n${runLine(RECORDS[1])}`);
    await t.rejects(new RunJournals(`${folder}/runs`).read('m1'), { code: 'BLOCK_DAMAGED', message: problem });
    await t.rejects(new RunJournals(`${folder}/runs`).append('m1', 0, RECORDS), { code: 'BLOCK_DAMAGED' });
  }
  writeFileSync(path, `${runLine(RECORDS[0])}{"t":"of a later version","x":1}\n`);
  t.equal((await new RunJournals(`${folder}/runs`).read('m1')).length, 2, 'a kind that is not known is kept');
  symlinkSync(path, `${folder}/runs/m2.jsonl`);
  await t.rejects(new RunJournals(`${folder}/runs`).read('m2'), { code: 'BLOCK_DAMAGED', message: /it is a link/ });
  t.strictSame(await parseRunLines(Buffer.from('')), { records: [], size: 0 });
});

t.test('undone-when-failed: after ENOSPC and EIO the file is as it was, and the next append goes on', async (t) => {
  for (const [code, says] of [
    ['ENOSPC', 'STORAGE_FULL'],
    ['EIO', 'STORAGE_FAILED'],
  ] as const) {
    const folder = t.testdir();
    const runs = new RunJournals(`${folder}/runs`);
    await runs.append('m1', 0, RECORDS.slice(0, 2));
    const unhook = await hookJournals({
      onSync: () => {
        throw Object.assign(new Error(code), { code, syscall: 'fsync' });
      },
    });
    await t.rejects(runs.append('m1', 2, RECORDS.slice(2)), {
      code: says,
      message: says === 'STORAGE_FAILED' ? /runs\/m1\.jsonl can't be written \(EIO\)/ : /full/,
    });
    unhook();
    t.strictSame(await new RunJournals(`${folder}/runs`).read('m1'), RECORDS.slice(0, 2));
    await runs.append('m1', 2, RECORDS.slice(2));
    t.strictSame(await runs.read('m1'), RECORDS);
  }
});

t.test('an id that a person wrote leads nowhere else', async (t) => {
  const folder = t.testdir();
  const runs = new RunJournals(`${folder}/runs`);
  await runs.append('../../evil', 0, RECORDS);
  await runs.keepResult('../../evil', '1.1', Buffer.from('{}'));
  t.strictSame(await runs.read('../../evil'), RECORDS);
  t.ok(readdirSync(`${folder}/runs`).every((name) => /^x-[0-9a-f]{40}(\.1\.1\.json|\.jsonl)$/.test(name)));
  t.strictSame(readdirSync(folder), ['runs']);
});

t.test('whole results are kept, up to a size for all of a block: the oldest go first', async (t) => {
  const folder = t.testdir();
  const runs = new RunJournals(`${folder}/runs`);
  const third = Buffer.alloc(Math.floor(MAX_RESULT_BYTES / 3), 'x');
  for (const [index, ref] of ['1.1', '1.2', '2.1'].entries()) {
    await runs.keepResult('m1', ref, third);
    utimesSync(`${folder}/runs/m1.${ref}.json`, index, index);
  }
  await runs.keepResult('m1', '2.2', Buffer.from('{"a":1}'));
  t.equal(await runs.result('m1', '1.1'), undefined);
  t.equal((await runs.result('m1', '1.2'))?.length, third.length);
  t.equal(Buffer.from((await runs.result('m1', '2.2')) ?? []).toString(), '{"a":1}');
  t.equal(await runs.result('m1', '../m1'), undefined);
});

t.test('clear leaves the messages that wait', async (t) => {
  const folder = t.testdir();
  const runs = new RunJournals(`${folder}/runs`);
  t.equal(await runs.clear([]), 0);
  for (const id of ['m1', 'm2']) await runs.append(id, 0, RECORDS);
  await runs.keepResult('m1', '1.1', Buffer.from('{}'));
  t.equal(await runs.clear(['m2']), 2);
  t.strictSame(readdirSync(`${folder}/runs`), ['m2.jsonl']);
});

t.test('a folder in place of a journal, and a file in place of the folder, are refused', async (t) => {
  const folder = t.testdir({ a: { runs: { 'm1.jsonl': {} } }, b: { runs: 'x' } });
  mkdirSync(`${folder}/c`);
  await t.rejects(new RunJournals(`${folder}/a/runs`).append('m1', 0, RECORDS), { code: 'BLOCK_DAMAGED' });
  await t.rejects(new RunJournals(`${folder}/b/runs`).keepResult('m1', '1.1', Buffer.from('{}')), { code: 'STORAGE_FAILED' });
});
