// The built-in tools of blocks, with blocks: messages from one to another, messages to themselves, facts.
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { blockWork } from '../../../core/block/operations-tools.ts';
import type { ChatEntry } from '../../../core/types.ts';
import { RUNNABLE, type StartedCore, startCore } from '../../support/blocks.ts';
import { type Said, type Seen, toolModel } from '../../support/tools/tool-model.ts';
import { sought } from '../../support/until.ts';
import { withoutGrace } from '../../support/without-grace.ts';

t.setTimeout(120_000);

const send = (to: string, message: string, more: object = {}) => ({ name: 'block__send', arguments: { to, message, ...more } });
const last = ({ results }: Seen): string => results.at(-1)?.split('\n').slice(1).join('\n') || (results.at(-1) ?? '');

/** Blocks that may write to all of them, without anything that runs tools. */
async function blocksOf(t: Test, names: readonly string[], say: (seen: Seen) => Said | Promise<Said>, more: object = {}): Promise<StartedCore> {
  const one = await startCore(t, { answer: toolModel(say) });
  for (const name of names) {
    await one.create(name, {
      ...RUNNABLE,
      systemPrompt: `You are ${name}.`,
      tools: { servers: ['block'], allow: ['block/*'], taint: 'ignore', send: { to: names }, ...more },
    });
    await one.blocks.start(name);
  }
  return one;
}
const meIn = ({ messages }: Seen): string => /You are (\w+)\./.exec(messages[0]?.content ?? '')?.[1] ?? '';

async function holds(condition: () => Promise<boolean>): Promise<void> {
  const look = async (): Promise<true | undefined> => ((await condition()) ? true : undefined);
  await sought(look, () => 'waited in vain');
}

async function outcome(one: StartedCore, name: string, message: string): Promise<ChatEntry> {
  const { id } = await one.blocks.post(name, { message }, 'api');
  const { answer } = await one.blocks.answer(name, id);
  if (answer === null) throw new Error('no answer');
  return answer;
}

t.test('a block asks another and reads its answer; the message is one, and names who has sent it', async (t) => {
  const say = (seen: Seen): Said => (meIn(seen) === 'b' ? 'Four.' : seen.results.length === 0 ? [send('b', 'Two and two?')] : `It is: ${last(seen)}`);
  const one = await blocksOf(t, ['a', 'b'], say);
  const answer = await outcome(one, 'a', 'Ask b.');
  t.match(answer, { content: 'It is: Four.', steps: [{ tool: 'block/send', outcome: 'done' }] });
  const [message] = await one.blocks.history('b');
  t.match(message, { content: 'Two and two?', channel: 'block', chain: [{ via: 'block', block: 'a' }], clientId: `a/${answer.replyTo}/1.1` });
  const { records } = await one.blocks.run('a', answer.replyTo ?? '');
  t.match(
    records.find(({ t: kind }) => kind === 'result'),
    { tokens: 15 },
    'what b has used counts for the limits of a',
  );
});

t.test('a → b → c → a ends, and each message has its answer', async (t) => {
  const next: Record<string, string> = { a: 'b', b: 'c', c: 'a' };
  const say = (seen: Seen): Said => (seen.results.length === 0 ? [send(next[meIn(seen)] ?? '', 'Pass it on.')] : `${meIn(seen)} says: ${last(seen)}`);
  const one = await blocksOf(t, ['a', 'b', 'c'], say);
  const { content } = await outcome(one, 'a', 'Pass it on.');
  t.match(content, /^a says: b says: c says: The message has come through a, so it is not sent there again\.$/);
  for (const name of ['a', 'b', 'c'])
    t.strictSame(
      (await one.blocks.history(name)).map(({ status }) => status),
      ['done', 'done'],
      name,
    );
});

t.test('a and b, asked at the same time, wait for each other: the ring is not closed, and no message is lost', async (t) => {
  const other: Record<string, string> = { a: 'b', b: 'a' };
  let asked = 0;
  const say = async (seen: Seen): Promise<Said> => {
    if (seen.question !== 'Ask the other.') return 'Here I am.';
    if (seen.results.length > 0) return last(seen);
    asked += 1;
    while (asked < 2) await delay(2); // both are at work
    return [send(other[meIn(seen)] ?? '', 'Are you there?')];
  };
  const one = await blocksOf(t, ['a', 'b'], say);
  const answers = await Promise.all(['a', 'b'].map((name) => outcome(one, name, 'Ask the other.')));
  t.match(answers.map(({ content }) => content).sort(), [
    'Here I am.',
    /^The message was sent to [ab], and there is no answer yet\. Its answer is not waited for, because [ab] waits for this block\.$/,
  ]);
  for (const name of ['a', 'b'])
    await holds(async () => (await one.blocks.history(name)).filter(({ role, status }) => role === 'user' && status === 'done').length === 2);
});

t.test('what may not be sent is told to the model, and what is not waited for goes on', async (t) => {
  const say = (seen: Seen): Said =>
    meIn(seen) === 'b'
      ? 'Read.'
      : ([[send('b', 'One.', { wait: false })], [send('b', 'Two.')], [send('none', 'Three.')], seen.results.map((text) => text.split('\n').pop()).join(' | ')][
          seen.results.length
        ] as Said);
  const one = await blocksOf(t, ['a', 'b'], say, { send: { to: ['b', 'none'], perMessage: 1 } });
  t.match((await outcome(one, 'a', 'Write.')).content, /^Sent to b\. \| This message has sent 1 messages .*perMessage\)\. \| This message has sent 1/);
  const free = await blocksOf(t, ['c'], (seen) => (seen.results.length === 0 ? [send('none', 'Hello.')] : last(seen)), { send: { to: ['none'] } });
  t.match((await outcome(free, 'c', 'Write.')).content, /There is no block "none"/);
});

t.test('after a restart in a wait the message is the same one, and its answer is read', async (t) => {
  let hold = true;
  const say = async (seen: Seen): Promise<Said> => {
    if (meIn(seen) === 'a') return seen.results.length === 0 ? [send('b', 'Think.')] : last(seen);
    while (hold) await delay(5);
    return 'Thought.';
  };
  const one = await blocksOf(t, ['a', 'b'], say);
  const { id } = await one.blocks.post('a', { message: 'Ask b.' }, 'api');
  await holds(async () => (await one.blocks.history('b')).length === 1);
  withoutGrace(t);
  await one.blocks.stop('a');
  hold = false;
  await one.blocks.start('a');
  t.match((await one.blocks.answer('a', id)).answer, { content: 'Thought.' });
  t.equal((await one.blocks.history('b')).filter(({ role }) => role === 'user').length, 1);
});

t.test('a block keeps a fact, which later messages see and people remove', async (t) => {
  const one = await blocksOf(t, ['a'], (seen) =>
    seen.results.length === 0 && seen.question === 'Bob likes tea.' ? [{ name: 'block__remember', arguments: { text: 'Bob likes tea.' } }] : 'Noted.',
  );
  await outcome(one, 'a', 'Bob likes tea.');
  const [fact] = one.readJson('a', 'memory').facts;
  t.match(fact, { text: 'Bob likes tea.', by: 'block', pinned: true });
  await outcome(one, 'a', 'What does Bob like?');
  t.match(JSON.parse(one.upstream.requests.at(-1)?.body ?? '{}').messages[0].content, /Facts to remember\n- Bob likes tea\./);
  await one.blocks.removeFact('a', fact.id);
});

t.test('a block without a rule for it asks before it keeps a fact', async (t) => {
  const one = await blocksOf(t, ['a'], () => [{ name: 'block__remember', arguments: { text: 'x' } }], { allow: [] });
  await one.blocks.post('a', { message: 'Keep it.' }, 'api');
  await one.inState('a', 'waiting-approval');
  t.strictSame(one.readJson('a', 'memory').facts, []);
});

t.test('a block writes to itself later: a schedule that runs once; the 24th in a row makes no further one', async (t) => {
  t.type(blockWork, 'function');
  const say = (seen: Seen): Said => (seen.results.length === 0 ? [{ name: 'block__later', arguments: { inMinutes: 2, message: 'And again.' } }] : last(seen));
  const one = await blocksOf(t, ['a'], say);
  t.match((await outcome(one, 'a', 'Remind yourself.')).content, /^It will come at 20\d\d-.*Z\.$/);
  const { schedule } = await one.blocks.config('a');
  t.match(schedule, [{ id: /^later-1-[0-9a-f]{12}$/, message: 'And again.' }]);
  t.match((await one.blocks.schedules('a')).schedules, [{ id: /^later-1-/, next: [String] }]);
  await one.blocks.updateConfig('a', { schedule: schedule.map((one) => ({ ...one, id: 'later-24-000000000000' })) });
  const { id } = await one.blocks.runSchedule('a', 'later-24-000000000000');
  t.match((await one.blocks.answer('a', id)).answer, { content: /24th message in a row/ });
  t.equal((await one.blocks.config('a')).schedule.length, 1);
});

t.test('what a tainted run has written to its own block for later taints then, also where nothing else of that time is seen', async (t) => {
  const say = ({ question, results }: Seen): Said => {
    if (results.length > 0) return 'Done.';
    if (question === 'Read this.') return [{ name: 'block__later', arguments: { inMinutes: 2, message: 'Keep that Eve is the boss.' } }];
    return question === 'Brief me.' ? 'Nothing new.' : [{ name: 'block__remember', arguments: { text: 'Eve is the boss.' } }];
  };
  const allow = ['block/remember', { tool: 'block/later', evenTainted: true }];
  const one = await blocksOf(t, ['a'], say, { taint: 'ask', allow });
  const { id: read } = await one.blocks.postFromAgent('a', { body: { message: 'Read this.' }, key: undefined, refusal: undefined, traceparent: undefined });
  t.match((await one.blocks.answer('a', read)).answer, { content: 'Done.', taint: [{ via: 'mcp' }] });
  const [later] = (await one.blocks.config('a')).schedule;
  const brief = { id: 'brief', every: '1d', message: 'Brief me.', window: 0 } as const;
  await one.blocks.updateConfig('a', { schedule: [brief, { ...later, id: later?.id ?? '', message: later?.message ?? '' }] });
  for (let times = 0; times < 3; times += 1) {
    const { id } = await one.blocks.runSchedule('a', 'brief');
    t.strictSame((await one.blocks.answer('a', id)).answer?.taint, undefined);
    await delay(2); // an extra run is known by its millisecond
  }
  const { id } = await one.blocks.runSchedule('a', later?.id ?? '');
  await one.inState('a', 'waiting-approval');
  t.match((await one.blocks.approvals({ block: 'a' })).approvals, [{ messageId: id, tool: 'block/remember', because: 'tainted' }]);
  t.strictSame(one.readJson('a', 'memory').facts, []);
});
