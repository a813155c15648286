// Entries of a chat, and the records of journals.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { ChatEntry, REFUSALS, RunRecord, USER_STATUSES } from '../../../core/schemas/chat-entry.ts';
import { compile, type Validator } from '../../../core/schemas/validate.ts';
import { AT, answerRecord, approvalOf, callRecord, modelRecord, resultRecord, runRecord } from '../../support/tools/records.ts';

t.test('a message may wait for a person, and an answer shows its calls', async (t) => {
  const check: Validator<unknown> = compile(ChatEntry);
  const entry = { id: 'm1', role: 'user', content: 'hi', timestamp: AT, processed: false, status: 'waiting-approval', channel: 'api', waitingFor: ['a1'] };
  check(entry);
  const step = { call: '1.1', tool: 'bank/pay', arguments: '{}', outcome: 'done', isError: false, ms: 1, preview: '' };
  check({ ...entry, role: 'assistant', status: 'done', run: 1, steps: [step] });
  t.throws(() => check({ ...entry, steps: [{ ...step, call: 5 }] }), { code: 'INVALID_REQUEST' });
  t.ok(USER_STATUSES.includes('waiting-approval'));
});

t.test('each kind of record has its own fields', async (t) => {
  const check: Validator<unknown> = compile(RunRecord);
  const by = { channel: 'clock', name: 'deadline' };
  for (const record of [
    runRecord(),
    modelRecord(1),
    answerRecord(1, [{ name: 'bank__pay', arguments: {} }]),
    { t: 'ask', call: '1.1', approval: approvalOf('a1') },
    { t: 'decision', approval: 'a1', decision: 'expire', by, at: AT },
    callRecord('1.1'),
    resultRecord('1.1'),
    { t: 'refused', call: '1.1', code: 'denied', note: '' },
    { t: 'unknown', call: '1.1', why: '' },
    { t: 'end', at: AT, status: 'done' },
  ]) {
    check(record);
    t.throws(() => check({ t: record.t }), { code: 'INVALID_REQUEST' }, record.t);
  }
});

t.test('each reason of a refusal is one that is written, and that the page of tools explains', async (t) => {
  const root = resolve(import.meta.dirname, '../../..');
  const folder = join(root, 'core/block/reply/run');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const writers = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  const page = readFileSync(join(root, 'docs/tools.md'), 'utf8');
  for (const code of REFUSALS) {
    t.ok(writers.includes(`'${code}'`), `${code} is written`);
    t.match(page, new RegExp(`^\\|[^|]*\`${code}\``, 'm'), `${code} is explained`);
  }
});
