// Calls of servers that are late, ask back or go on for ever.
import t from 'tap';
import { ClientSession, type SessionParts } from '../../../adapters/tools/client-session.ts';
import { loadSdk } from '../../../adapters/tools/sdk.ts';
import type { ToolProgress, ToolQuestion } from '../../../core/index.ts';
import { sessionsRig, textOf } from '../../support/tools/sessions-rig.ts';
import { until } from '../../support/until.ts';

const sdk = await loadSdk();

t.test('own-turns: long results that come in the same moment are read later, each in its turn, and short ones at once', async (t) => {
  const session = (text: string) => {
    const client = { request: async () => ({ content: [{ type: 'text', text }] }), getProtocolEra: () => 'legacy' };
    const parts = { sdk, client, transport: { begun: new Set<string>() }, ending: () => undefined };
    return new ClientSession(parts as unknown as SessionParts);
  };
  const settled: number[] = [];
  const settings = { maxCallMs: 10_000 };
  const request = { block: 'ada', server: 'crm', tool: 'read', arguments: {}, pin: '', timeoutMs: 10_000, maxBytes: 1_000_000, callId: 'a' };
  const calls = [100_000, 100_000, 10, 100_000].map(async (length) => {
    const called = await session('x'.repeat(length)).call({ name: 'crm', settings } as never, request, new AbortController().signal);
    settled.push(textOf(called as never).length);
  });
  await new Promise((resolve) => process.nextTick(() => queueMicrotask(() => process.nextTick(resolve)))); // in the same turn
  t.strictSame(settled, [10]);
  await Promise.all(calls);
  t.equal(settled.length, 4);
});

t.test('progress extends a call up to a limit', async (t) => {
  const { hostile, call } = sessionsRig(t);
  t.equal(textOf(await call(hostile(), 'progress', { times: 8, everyMs: 100 }, { timeoutMs: 600 })), 'done');
  await t.rejects(call(hostile({}, { maxCallMs: 700 }), 'progress', { times: 1000, everyMs: 50 }, { timeoutMs: 600 }), { code: 'TOOL_OUTCOME_UNKNOWN' });
});

t.test('what a server says of how far it is comes as it is said, without secrets of its entry', async (t) => {
  const { hostile, call } = sessionsRig(t);
  const said: ToolProgress[] = [];
  const onProgress = (progress: ToolProgress): void => void said.push(progress);
  await call({ ...hostile(), ownSecrets: ['hunter2hunter2'] }, 'progress', { times: 3, everyMs: 50, total: 3, message: 'With hunter2hunter2' }, { onProgress });
  t.strictSame(said[0], { isTask: false, progress: 1, total: 3, message: 'With [redacted]' });
  t.notMatch(JSON.stringify(said), 'hunter2');
});

t.test('a call that is cut off is unknown, or not begun if it was not sent', async (t) => {
  const { hostile, call, told } = sessionsRig(t);
  const server = hostile({}, { concurrency: 1 });
  const first = new AbortController();
  const second = new AbortController();
  const earlier = call(server, 'hang', {}, { signal: first.signal });
  const later = call(server, 'hang', {}, { signal: second.signal });
  await until('the server runs', () => told().length > 0);
  await call({ ...server, definition: 'other', name: 'other' }, 'echo');
  second.abort();
  await t.rejects(later, { code: 'TOOL_NOT_BEGUN', message: 'The call was cut off before it was sent.' });
  first.abort();
  await t.rejects(earlier, { code: 'TOOL_OUTCOME_UNKNOWN', message: 'The call was cut off.' });
  await until('it is told to the server', () => told().includes('cancelled'));
});

t.test('what a modern server asks a person is a question, and the answer goes back in a request of its own, with the state', async (t) => {
  const { hostile, call, told } = sessionsRig(t);
  const server = hostile({ era: 'modern' });
  const question = (await call(server, 'ask')) as unknown as ToolQuestion;
  t.match(question, { kind: 'input-required', requests: { who: { method: 'elicitation/create' } }, requestState: '1 s' });
  const responses = { who: { action: 'accept', content: { name: 'Ada' } } };
  const answered = await call(server, 'ask', {}, { input: { responses, requestState: question.requestState } });
  t.equal(textOf(answered), JSON.stringify(responses));
  const asked = told().filter((line) => line.startsWith('asked'));
  t.not(asked[0]?.split(' ')[1], asked[1]?.split(' ')[1], 'its id is another one');
  t.match(asked[1], '"state":"1 s"');
});

t.test('a modern server is told of forms and tasks, a legacy one of nothing', async (t) => {
  const { hostile, call } = sessionsRig(t);
  t.strictSame(JSON.parse(textOf(await call(hostile({ era: 'modern' }), 'capabilities'))), {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  });
  t.strictSame(JSON.parse(textOf(await call(hostile({}, {}, { definition: 'legacy' }), 'capabilities'))), {});
});

t.test('ten thousand notes that the list has changed are one listing a second, and fifty pages are the most', async (t) => {
  const { hostile, call, sessions, told } = sessionsRig(t);
  const lists: number[] = [];
  sessions.onTools((_server, tools) => lists.push(tools.length));
  const server = hostile();
  await call(server, 'changed', { times: 10_000 });
  await until('it is listed', () => lists.length > 0);
  t.ok(told().filter((line) => line === 'listed').length < 100);
  const endless = hostile({ endless: true, tools: 3 }, {}, { definition: 'endless' });
  const seen = await sessions.look(endless, new AbortController().signal);
  t.ok(seen.tools.length >= 100 && seen.tools.length < 200, `${seen.tools.length}`);
});

t.test('all pages of a list together have a bound', async (t) => {
  const page = (characters: number) => ({ tools: [{ name: 'a', description: 'x'.repeat(characters) }, 'no tool'], nextCursor: 'next' });
  let pages = 0;
  const session = (characters: number) =>
    new ClientSession({
      sdk,
      client: { request: async () => (pages++ < 1000 ? page(characters) : {}) } as never,
      transport: { begun: new Set() } as never,
      ending: () => undefined,
    });
  t.equal((await session(300_000).list(1000)).length, 50, 'fifty pages of usual ones');
  pages = 0;
  await t.rejects(session(6_000_000).list(1000), { message: /lists more than 16777216 characters of tools/ });
  t.equal(pages, 3, 'and no more is asked for');
});
