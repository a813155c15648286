import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { DoctorReport } from '../../../core/index.ts';
import { AT, answerEntry, pair, userEntry } from '../../support/block-files.ts';
import { RUNNABLE, type StartedCore, startCore } from '../../support/blocks.ts';

const problems = ({ findings }: DoctorReport, place: string): string[] => findings.filter((one) => one.place === place).map(({ problem }) => problem);

/** What is found in the chat of a block. */
async function chatProblems({ blocks, write }: StartedCore, entries: unknown): Promise<string[]> {
  write('ada', 'chat', entries);
  return problems(await blocks.check(), 'blocks/ada/chat.json');
}

t.test('a sound workspace has no findings', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.create('bob');
  await one.blocks.start('ada');
  await one.ask('ada', 'hello');
  await one.blocks.stop('ada');
  await one.blocks.archive('bob');
  t.same(await one.blocks.check(), { ok: true, checked: { blocks: 1, files: 5, messages: 2 }, findings: [] });
});

t.test('secrets that others may read are reported', async (t) => {
  const one = await startCore(t);
  for (const name of ['.api-token', 'auth.json']) {
    writeFileSync(join(one.workspace, name), '{}', { mode: 0o600 });
    t.same(problems(await one.blocks.check(), name), []);
    chmodSync(join(one.workspace, name), 0o640);
    const report = await one.blocks.check();
    t.equal(report.ok, false);
    t.match(report.findings, [{ severity: 'error', place: name, fix: `chmod 600 ${name}` }]);
    chmodSync(join(one.workspace, name), 0o600);
  }
});

t.test('a field of a config.json that has no effect is named, with the one that was meant', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  one.write('ada', 'config', one.readText('ada', 'config').replace('"memory"', '"memori"'));
  const report = await one.blocks.check();
  t.equal(report.ok, true, 'a warning alone');
  t.match(report.findings, [{ severity: 'warning', place: 'blocks/ada/config.json', problem: /^memori is unknown/, fix: /^Did you mean memory\?/ }]);
});

t.test('items that are neither a block nor an archive are reported', async (t) => {
  const one = await startCore(t);
  for (const name of ['UPPER', 'con', '.hidden']) mkdirSync(one.folder(name));
  mkdirSync(one.folder('.new.0123456789abcdef.tmp'));
  writeFileSync(one.folder('file'), '');
  symlinkSync(one.workspace, one.folder('link'));
  mkdirSync(join(one.workspace, 'archive', 'ada'));
  const report = await one.blocks.check();
  t.equal(report.ok, true, 'warnings alone');
  t.same(report.findings.map(({ place }) => place).sort(), ['archive/ada', 'blocks/.hidden', 'blocks/UPPER', 'blocks/con', 'blocks/file', 'blocks/link']);
});

t.test('damaged files and their copies are reported', async (t) => {
  const one = await startCore(t);
  for (const name of ['ada', 'bob']) await one.create(name);
  one.write('ada', 'memory', '{"half":');
  const report = await one.blocks.check();
  t.equal(report.ok, false);
  t.match(problems(report, 'blocks/ada'), [/memory\.json can't be used/]);
  one.write('ada', 'memory', one.readText('bob', 'memory'));
  const later = await one.blocks.check();
  t.equal(later.ok, true);
  t.match(later.findings, [{ severity: 'warning', place: /^blocks\/ada\/memory\.json\.corrupt-/ }]);
  t.equal(later.checked.blocks, 2);
});

t.test('a models.json that can not be used is reported with what is wrong', async (t) => {
  const one = await startCore(t);
  const path = join(one.workspace, 'models.json');
  writeFileSync(path, '{"aliases":{"a":"ollama/x"}}');
  t.same((await one.blocks.check()).findings, []);
  writeFileSync(path, '{"aliases":{"a":"x"}}');
  t.match((await one.blocks.check()).findings, [
    { severity: 'error', place: 'models.json', problem: /^aliases\["a"\] must be provider\/model.*[^.]$/, fix: /Repair/ },
  ]);
});

t.test('messages without exactly one outcome are reported', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  t.same(await chatProblems(one, pair('1')), []);
  t.same(await chatProblems(one, [...pair('1'), answerEntry('1b', '1')]), ['1: it has 2 answers']);
  t.same(
    await chatProblems(one, [...pair('1'), userEntry('1', { status: 'queued', processed: false })]),
    [],
    'a line that was copied is a message of its own, not yet looked at by a monitor',
  );
  t.same(await chatProblems(one, [userEntry('1')]), ['1: it is done but has no answer']);
  t.same(await chatProblems(one, [userEntry('1', { status: 'queued', processed: false }), answerEntry('1a', '1')]), [
    '1: it has an answer, but its status is queued',
  ]);
  t.same(await chatProblems(one, [userEntry('1', { status: 'queued', processed: true })]), ['1: processed is true, but its status is queued']);
  t.same(await chatProblems(one, [userEntry('1', { status: 'failed', processed: false })]), [
    '1: processed is false, but its status is failed',
    'message 1 has failed (UNKNOWN: The cause was not recorded.)',
  ]);
  t.same(await chatProblems(one, [{ role: 'user', content: 'by hand' }]), [], 'not yet looked at by a monitor');
});

t.test('messages that failed are listed with the command that queues them again', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const error = { code: 'UPSTREAM_REJECTED', message: 'too long', retryable: false };
  const failed = (id: string) => userEntry(id, { status: 'failed', error });
  t.same(await chatProblems(one, [failed('1'), ...pair('2')]), ['message 1 has failed (UPSTREAM_REJECTED: too long)']);
  t.match((await one.blocks.check()).findings, [{ severity: 'warning', fix: /`blockhouse queue ada --retry 1`, .*`blockhouse queue ada --cancel 1`/ }]);
  t.equal((await one.blocks.check()).ok, true);
  t.same(await chatProblems(one, [failed('1'), failed('3')]), ['2 messages have failed, most recently 3 (UPSTREAM_REJECTED: too long)']);
});

t.test('an answer in chat-archive counts as an answer', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  writeFileSync(one.folder('ada', 'chat-archive', '2026-11.jsonl'), `${JSON.stringify(answerEntry('1a', '1'))}\n{"cut sho`);
  writeFileSync(one.folder('ada', 'chat-archive', 'notes.txt'), '');
  t.same(await chatProblems(one, [userEntry('1')]), []);
  const { findings } = await one.blocks.check();
  t.match(findings, [{ severity: 'warning', place: 'blocks/ada/chat-archive/2026-11.jsonl', problem: 'one line is not a message' }]);
  writeFileSync(one.folder('ada', 'chat-archive', '2026-10.jsonl'), 'no\nmessage\n\n');
  t.same(problems(await one.blocks.check(), 'blocks/ada/chat-archive/2026-10.jsonl'), ['2 lines are not messages']);
  symlinkSync('/dev/zero', one.folder('ada', 'chat-archive', 'endless.jsonl'));
  mkdirSync(one.folder('ada', 'chat-archive', 'folder.jsonl'));
  t.same(problems(await one.blocks.check(), 'blocks/ada/chat-archive/endless.jsonl'), ['it is a link']);
  t.same(problems(await one.blocks.check(), 'blocks/ada/chat-archive/folder.jsonl'), ['it is not a regular file']);
});

t.test('the doctor only reads, and reads the present files', async (t) => {
  const one = await startCore(t, {
    files: { blocks: { ada: { 'config.json': '{"name":"ada"}', 'chat.json': `[{"role":"user","content":"x","timestamp":"${AT}"}]` } } },
  });
  await one.blocks.check();
  t.equal(one.readText('ada', 'chat'), `[{"role":"user","content":"x","timestamp":"${AT}"}]`);
  one.write('ada', 'config', '{"name":"ada","tags":5}');
  t.match(problems(await one.blocks.check(), 'blocks/ada'), [/tags must be an array/]);
  one.write('ada', 'config', '{"name":"ada","budget":{"timezone":"Europe/Berln"}}');
  t.match(problems(await one.blocks.check(), 'blocks/ada'), [
    /config\.json can't be used: budget\.timezone must be an IANA time zone such as UTC or Europe\/Berlin, not "Europe\/Berln"/,
  ]);
  one.write('ada', 'config', '{"name":"ada"}');
  one.write('ada', 'chat', [{ role: 'user', content: 'x', timestamp: 123 }]);
  t.match(problems(await one.blocks.check(), 'blocks/ada'), [/chat\.json can't be used: \[0\]: timestamp must be a string, not a number/]);
});

/** A model that the daemon passes on to its cloud has no known price. */
const PASSED_ON = { provider: 'ollama', model: 'm-cloud' };

t.test('a cap in USD that does not count the calls of a model is reported, with the cure', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { adapter: PASSED_ON, budget: { dailyUsd: 1 } });
  t.match(await one.blocks.check(), {
    ok: true,
    findings: [
      {
        severity: 'warning',
        place: 'blocks/ada/config.json',
        problem: 'the cap in USD does not count calls of ollama/m-cloud, because their price is not known',
        fix: 'Set a cap in tokens as well: `blockhouse config set ada budget.dailyTokens=<n>`.',
      },
    ],
  });
  await one.core.close();
  const unheld = await startCore(t, { workspace: one.workspace, start: false });
  t.equal(problems(await unheld.core.check(), 'blocks/ada/config.json').length, 1, 'without a server, too');
  one.write('ada', 'config', { name: 'ada', adapter: PASSED_ON, budget: { monthlyUsd: 1, dailyTokens: 1000 } });
  t.same((await unheld.core.check()).findings, []);
});

t.test('a damaged schedule.json is an error, and a schedule that does not run a warning', async (t) => {
  const one = await startCore(t);
  const schedule = [{ id: 'brief', cron: '@daily', message: 'x' }];
  await one.create('ada', { ...RUNNABLE, schedule });
  t.same((await one.blocks.check()).findings, []);
  await one.blocks.pauseSchedule('ada', 'brief');
  t.same((await one.blocks.check()).findings, [], 'somebody has paused it');
  one.write('ada', 'schedule', { brief: { ...one.readJson('ada', 'schedule').brief, pausedBecause: 'failures', failures: 5 } });
  t.match(await one.blocks.check(), {
    ok: true,
    findings: [{ severity: 'warning', place: 'blocks/ada/config.json', problem: /brief: It has paused itself/, fix: 'blockhouse schedule resume ada brief' }],
  });
  one.write('ada', 'config', { ...one.readJson('ada', 'config'), schedule: [{ ...schedule[0], cron: '0 0 30 2 *' }] });
  t.match(await one.blocks.check(), { findings: [{ problem: /the schedule brief: cron never comes/, fix: /config edit ada/ }] });
  one.write('ada', 'schedule', '{"brief": {"last": 5}}');
  t.match(await one.blocks.check(), { ok: false, findings: [{ severity: 'error', place: 'blocks/ada/schedule.json', problem: /brief\.last/ }] });
  one.write('ada', 'schedule', '{"half');
  t.match(await one.blocks.check(), { ok: false });
});
