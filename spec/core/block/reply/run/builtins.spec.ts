// The built-in tools that read: what they give, and what the list of tools has after them, also after a crash.
import t from 'tap';
import { replyOf } from '../../../../../core/block/reply/run/block-reply.ts';
import { Builtins } from '../../../../../core/block/reply/run/builtins.ts';
import { BlockhouseError } from '../../../../../core/errors.ts';
import { RunSkills } from '../../../../../core/block/reply/run/run-skills.ts';
import { RunTools } from '../../../../../core/block/reply/run/run-tools.ts';
import type { ToolDefinition } from '../../../../../core/tools/port.ts';
import { answerRecord, callRecord, modelRecord, resultRecord, runRecord } from '../../../../support/tools/records.ts';
import { RunState } from '../../../../../core/tools/journal.ts';
import { type ToolSettings, toolSettings } from '../../../../../core/tools/settings.ts';
import type { RunRecord } from '../../../../../core/types.ts';
import { crashedIn, kindsOf, RULES, toolCore } from '../../../../support/tools/tool-core.ts';
import type { Said, Seen } from '../../../../support/tools/tool-model.ts';

t.setTimeout(60_000);

const text = (said: string) => ({ kind: 'result', isError: false, parts: [{ type: 'text', text: said }], ms: 1 }) as const;
const issues = (name: string): ToolDefinition => ({
  server: 'github',
  tool: name,
  pin: `pin-of-${name}`,
  description: `Works on ${name}. ${'x'.repeat(800)}`,
  inputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true, openWorldHint: false },
});
const GITHUB = Array.from({ length: 20 }, (_, index) => issues(`issues_${index}`));
const TRUSTED = { marks: { readOnly: ['*'], closedWorld: ['*'] } };
const FINDING = { servers: ['github'], allow: ['github/*'], limits: { definitionTokens: 2000 } };
const bank = { tools: GITHUB, others: { github: TRUSTED }, answer: ({ tool }: { tool: string }) => text(`Ran ${tool}.`) };
const find = (query: string) => ({ name: 'block__find_tool', arguments: { query, limit: 1 } });
const call = (name: string) => ({ name: `github__${name}`, arguments: {} });

t.test('what is not in the list is not called, what was found is in the list at its end, and its call is judged by the rules', async (t) => {
  const say = ({ results }: Seen): Said => [[call('issues_7')], [find('issues_7')], [call('issues_7')], 'Done.'][results.length] as Said;
  const one = await toolCore(t, { rules: FINDING, bank, say });
  const id = await one.post('Look.');
  await one.outcome(id);
  const records = await one.records(id);
  t.match(
    records.find(({ t: kind }) => kind === 'refused'),
    {
      code: 'not-offered',
      note: 'There is no tool of this name. The tools are block__find_tool. Others are found with block__find_tool.',
    },
  );
  t.match(
    records.find(({ t: kind }) => kind === 'found'),
    { call: '2.1', query: 'issues_7', tools: ['github/issues_7#pin-of-issues_7'] },
  );
  t.strictSame(
    one.prompts().map(({ tools = [] }) => tools.map((tool) => (tool as { function: { name: string } }).function.name)),
    [['block__find_tool'], ['block__find_tool'], ['block__find_tool', 'github__issues_7'], ['block__find_tool', 'github__issues_7']],
  );
  t.match((await one.answerTo(id))?.steps, [{ outcome: 'not-offered' }, { outcome: 'done' }, { outcome: 'done', preview: 'Ran issues_7.' }]);
});

t.test('same-list: after a crash the list is the same, with what was found at its end', async (t) => {
  const first = await toolCore(t, { rules: FINDING, bank, say: ({ results }) => (results.length === 0 ? [find('issues_3')] : 'Done.') });
  const id = await first.post('Look.');
  await first.outcome(id);
  const written = await first.records(id);
  const upTo = written.findIndex(({ t: kind }) => kind === 'result') + 1;
  await t.test('the next start', async (t) => {
    const next = await toolCore(t, { files: crashedIn(written.slice(0, upTo), FINDING), bank, say: () => 'Done.' });
    await next.blocks.start('ada');
    await next.outcome('m1');
    t.strictSame(next.prompts()[0]?.tools, first.prompts()[1]?.tools);
    t.equal(next.prompts()[0]?.tools?.length, 2);
  });
});

t.test('a new run begins with the tools whose calls its model sees', async (t) => {
  const files = crashedIn(
    [
      runRecord(),
      modelRecord(1),
      answerRecord(1, [call('issues_9')]),
      callRecord('1.1'),
      resultRecord('1.1'),
      { t: 'end', at: '2026-11-28T12:00:00.000Z', status: 'failed', code: 'TOOL_LIMIT' },
    ],
    FINDING,
    { run: 1 },
  );
  const one = await toolCore(t, { files, bank, say: () => 'Done.' });
  await one.blocks.start('ada');
  await one.outcome('m1');
  t.match(one.prompts()[0]?.tools, [{ function: { name: 'block__find_tool' } }, { function: { name: 'github__issues_9' } }]);
});

const LONG = `${'a'.repeat(5000)} the needle ${'b'.repeat(5000)}`;

t.test('block__read_result is offered once a result was cut, needs no rule, and reads on', async (t) => {
  const list = { name: 'bank__list', arguments: {} };
  const read = (more: object) => ({ name: 'block__read_result', arguments: { ref: '1.1', ...more } });
  const say = ({ results }: Seen): Said =>
    [[list], [read({ offset: 4000, limit: 20 })], [read({ find: 'NEEDLE' })], [read({ ref: '9.9' })], 'Done.'][results.length] as Said;
  const one = await toolCore(t, { rules: { ...RULES, default: 'deny', limits: { resultTokens: 100 } }, bank: { answer: () => text(LONG) }, say });
  const id = await one.post('Read.');
  await one.outcome(id);
  const names = one.prompts().map(({ tools = [] }) => tools.some((tool) => (tool as { function: { name: string } }).function.name === 'block__read_result'));
  t.strictSame(names, [false, true, true, true, true]);
  t.match(one.prompts()[1]?.tools?.at(-1), { function: { name: 'block__read_result' } }, 'at the end of the list');
  const texts = (await one.records(id)).flatMap((record) => (record.t === 'result' ? [record.text] : []));
  t.equal(texts[1], `(Characters 4,000 to 4,020 of 10,012; offset 4020 reads on.)\n${'a'.repeat(20)}`);
  t.match(texts[2], /^\("NEEDLE" is at these characters\.\)\n- 5005: a+ the needle b+$/);
  t.match(texts[3], /There is no such result/);
  t.match((await one.answerTo(id))?.steps, [{}, { outcome: 'done' }, { outcome: 'done' }, { isError: true }]);
  t.strictSame(
    kindsOf(await one.records(id)).filter((kind) => kind === 'ask 2.1'),
    [],
  );
});

t.test('a built-in tool that is not there is not begun', async (t) => {
  const builtins = new Builtins({} as never);
  await t.rejects(builtins.call({ tool: 'other', arguments: {}, callId: 'ada/m1/1.1' } as never, new AbortController().signal), { code: 'TOOL_NOT_BEGUN' });
});

const NO_SKILLS = await RunSkills.open({ host: undefined, owners: [] }, { skills: [] });

t.test('the list of a run grows with its journal', async (t) => {
  const catalogue = { tools: GITHUB, settings: { github: TRUSTED }, problems: [] };
  const state = new RunState([{ ...runRecord(), tools: ['github/issues_1#pin-of-issues_1'] } as RunRecord]);
  const list = new RunTools({ catalogue, settings: toolSettings({ tools: FINDING }) as ToolSettings, state, offer: undefined, skills: NO_SKILLS });
  t.strictSame(
    list.offered.map(({ id }) => id),
    ['github/issues_1'],
  );
  state.apply({ t: 'found', call: '1.1', query: 'x', tools: ['github/issues_0#pin-of-issues_0', 'github/issues_1#pin-of-issues_1'] });
  t.strictSame(
    list.offered.map(({ id }) => id),
    ['github/issues_1', 'github/issues_0'],
  );
  t.equal(list.offered, list.offered);
});

t.test('a block that is gone, or that does not answer now, is told with what is known', async (t) => {
  const signal = new AbortController().signal;
  const wait = { from: 'a', to: 'b', messageId: 'm1', signal };
  const conversation = async () => ({ entries: async () => [], steps: async () => [] });
  const saying = (answer: object) => ({ answer: async () => answer, conversation }) as never;
  t.match(await replyOf(saying({ entry: { status: 'queued' }, answer: null, note: 'It is stopped.' }), wait), {
    text: undefined,
    isFailed: false,
    note: 'It is stopped.',
  });
  t.match(await replyOf(saying({ entry: { status: 'failed', error: { message: 'No key.' } }, answer: null, note: null }), wait), {
    isFailed: true,
    note: 'No key.',
  });
  t.match(await replyOf(saying({ entry: { status: 'expired' }, answer: null, note: null }), wait), { isFailed: true, note: 'It is expired.' });
  const gone = { answer: async () => Promise.reject(new BlockhouseError('BLOCK_NOT_FOUND', 'There is no block b.')), conversation } as never;
  t.match(await replyOf(gone, wait), { isFailed: true, note: 'There is no block b.' });
  const cut = { answer: async () => Promise.reject(new BlockhouseError('CANCELLED', 'Left.')), conversation } as never;
  await t.rejects(replyOf(cut, wait), { code: 'CANCELLED' });
});
