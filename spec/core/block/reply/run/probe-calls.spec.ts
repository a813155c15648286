// Probes in runs: what they make of calls whose outcome is not known.
import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { type ProbeOptions, probeCalls } from '../../../../../core/block/reply/run/probe-calls.ts';
import { BlockhouseError } from '../../../../../core/errors.ts';
import type { ToolOutcome } from '../../../../../core/tools/port.ts';
import type { RunRecord } from '../../../../../core/types.ts';
import { TRUSTED } from '../../../../support/tools/payment-host.ts';
import { answerRecord, callRecord, modelRecord, runRecord } from '../../../../support/tools/records.ts';
import { crashedIn, kindsOf, pay, RULES, type ToolCore, toolCore } from '../../../../support/tools/tool-core.ts';
import type { Said, Seen } from '../../../../support/tools/tool-model.ts';

t.setTimeout(120_000);

const PROBE = { pay: { tool: 'list', with: { name: '/to' }, found: '/0' } };
const text = (said: string, isError = false): ToolOutcome => ({ kind: 'result', isError, parts: [{ type: 'text', text: said }], ms: 1 });
/** The list as JSON: what is in the book of the bank. */
function probed(book: () => string, more: object = {}, settings: object = TRUSTED) {
  const list = (): ToolOutcome => text(existsSync(book()) ? `[${readFileSync(book(), 'utf8').trim().split('\n').join(',')}]` : '[]');
  return { settings: { ...settings, probe: PROBE }, answer: ({ tool }: { tool: string }) => (tool === 'list' ? list() : undefined), ...more };
}

async function coreFor(t: Test, breaks: string, more: object = {}, settings: object = TRUSTED): Promise<ToolCore> {
  let one: ToolCore | undefined;
  const say = ({ results }: Seen): Said => (results.length === 0 ? [pay('bob', { break: breaks })] : (results[0] ?? ''));
  one = await toolCore(t, { bank: probed(() => one?.workspace.replace(/workspace$/, 'book') ?? '', more, settings), say });
  return one;
}
type Test = Parameters<typeof toolCore>[0];

t.test('found: the call ran, and the result of the probe is its result', async (t) => {
  const one = await coreFor(t, 'after');
  const id = await one.post('Pay bob.');
  await one.outcome(id);
  t.equal(one.effects().length, 1);
  const records = await one.records(id);
  t.match(
    records.find((record) => record.t === 'result' && record.call === '1.1'),
    { by: 'probe', text: /"pay":"bob"/ },
  );
  t.strictSame(kindsOf(records).slice(3, 7), ['call 1.1', 'call 1.1p', 'result 1.1p', 'result 1.1'], 'own-record');
  t.match((await one.answerTo(id))?.steps, [{ outcome: 'done' }]);
  t.match(one.host.calls.at(-1), { tool: 'list', arguments: { name: 'bob' }, callId: `ada/${id}/1.1p` });
});

t.test('not found: the call did not run, the model learns that it may call again, and Blockhouse does not', async (t) => {
  const one = await coreFor(t, 'before');
  const id = await one.post('Pay bob.');
  await one.outcome(id);
  t.strictSame(one.effects(), []);
  t.match(await one.answerTo(id), {
    content: /The call did not run: bank\/list was asked, and found nothing of it\. You may call again\./,
    steps: [{ outcome: 'not-run' }],
  });
});

t.test('without the mark, or with an answer that says nothing, the outcome stays unknown', async (t) => {
  for (const [settings, more] of [
    [{ marks: { idempotent: ['*'] } }, {}],
    [TRUSTED, { answer: ({ tool }: { tool: string }) => (tool === 'list' ? text('Closed.', true) : undefined) }],
  ]) {
    await t.test('unknown', async (t) => {
      const one = await coreFor(t, 'after', more, settings);
      const id = await one.post('Pay bob.');
      await one.outcome(id);
      t.match((await one.answerTo(id))?.steps, [{ outcome: 'unknown' }]);
    });
  }
});

t.test('after a crash in a probe it is asked again', async (t) => {
  const records: RunRecord[] = [runRecord(), modelRecord(1), answerRecord(1, [pay('bob')]), callRecord('1.1'), callRecord('1.1p', 'list')];
  const one = await toolCore(t, {
    files: crashedIn(records, RULES),
    bank: { settings: { ...TRUSTED, probe: PROBE }, answer: () => text('[{"pay":"bob"}]') },
    say: ({ results }) => (results.length === 0 ? [pay('bob')] : 'Done.'),
  });
  await one.blocks.start('ada');
  await one.outcome('m1');
  t.strictSame(
    one.host.calls.map(({ tool }) => tool),
    ['list'],
  );
  t.match((await one.answerTo('m1'))?.steps, [{ outcome: 'done' }]);
});

t.test('the probe gets the id of the call, where the tool has an argument for it that does not make it repeatable', async (t) => {
  const settings = {
    ...TRUSTED,
    keyArguments: { pay_once: { argument: 'key', repeatable: false } },
    probe: { pay_once: { tool: 'list', with: { key: '/key' }, found: '/0' } },
  };
  const say = ({ results }: Seen): Said => (results.length === 0 ? [{ name: 'bank__pay_once', arguments: { to: 'bob', amount: 5, break: 'after' } }] : 'Done.');
  const one = await toolCore(t, { bank: { settings, answer: ({ tool }) => (tool === 'list' ? text('[1]') : undefined) }, say });
  const id = await one.post('Pay bob.');
  await one.outcome(id);
  t.strictSame(
    one.host.calls.map(({ tool, arguments: args }) => [tool, args['key']]),
    [
      ['pay_once', `ada/${id}/1.1`],
      ['list', `ada/${id}/1.1`],
    ],
  );
});

t.test('late-arrival: what a remote server does not find is looked for once more; a disk that is full is no silence of the probe', async (t) => {
  const answers = ['[]', '[1]'];
  const appended: string[] = [];
  let isOpen: unknown;
  const probe = {
    call: { place: '1.1' },
    tool: { settings: { isRemote: true }, marks: { closedWorld: true } },
    probe: { definition: { server: 'bank', tool: 'list', pin: 'p' }, arguments: {}, found: '/0' },
  };
  const append = async (records: RunRecord[]): Promise<void> => {
    appended.push(...kindsOf(records));
    for (const record of records) if (record.t === 'result' && record.call === '1.1') isOpen = record.open;
  };
  const options = {
    ...{ block: 'ada', messageId: 'm1', resultTokens: 100, signal: new AbortController().signal, at: () => '', keep: async () => true, arrivalMs: 1 },
    host: { call: async () => text(answers.shift() ?? '') },
    journal: { append },
    onFailed: () => undefined,
  } as unknown as ProbeOptions;
  t.strictSame(await probeCalls([probe as never], options), []);
  t.strictSame(appended, ['call 1.1p', 'result 1.1p', 'call 1.1p', 'result 1.1p', 'result 1.1']);
  t.ok(isOpen, 'the probe has no mark, so what it has read may be of anybody, whatever the call is');
  const full = { append: async () => Promise.reject(new BlockhouseError('STORAGE_FULL', 'Full.')) };
  await t.rejects(probeCalls([probe as never], { ...options, journal: full as never }), { code: 'STORAGE_FULL' });
});
