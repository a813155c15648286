import t from 'tap';
import { styleFor } from '../../../cli/terminal/output.ts';
import { conversationText, entriesAfter, newestEntries, shortConversation, timeOf } from '../../../cli/views/conversation-text.ts';
import { searchLines } from '../../../cli/views/search-text.ts';
import type { ChatEntry } from '../../../core/index.ts';
import type { SearchHit } from '../../../core/types.ts';
import { answer, startFakeBlockServer } from '../../support/fake-block-server.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const entry = (index: number, more: object = {}): ChatEntry => ({
  id: `m${index}`,
  role: 'user',
  content: `text ${index}`,
  timestamp: new Date(NOW - (1000 - index) * 1000).toISOString(),
  processed: true,
  status: 'done',
  channel: 'cli',
  ...more,
});
const view = { now: NOW, width: 80, style: styleFor(false) };

t.test('a time is a span before now or a date', async (t) => {
  t.equal(timeOf('2h', NOW), NOW - 7_200_000);
  t.equal(timeOf('2026-11-22T11:00:00Z', NOW), NOW - 3_600_000);
  t.equal(timeOf('m0abc', NOW), undefined);
  t.equal(timeOf('2026-99-99', NOW), undefined);
});

t.test('what a search has found has its block, its time and its words in bold, and nothing that a terminal would obey', async (t) => {
  const at = new Date(NOW - 60_000).toISOString();
  const hit: SearchHit = { block: 'one', archive: null, by: 'message', id: 'm1', at, excerpt: 'a \x1b[2Jneedle\nhere', marks: [[6, 12]] };
  const hits: SearchHit[] = [hit, { ...hit, archive: 'one_x', by: 'summary', id: null, at: null }];
  t.same(searchLines({ hits }, view), ['one (archived)  summary', 'a needle here', '', 'one  you  1m ago  m1', 'a needle here']);
  t.equal(searchLines({ hits: [hit] }, { ...view, style: styleFor(true) })[1], 'a \x1b[1mneedle\x1b[0m here');
});

t.test('entries come from as many pages as it takes', async (t) => {
  const all = Array.from({ length: 1000 }, (_, index) => entry(index));
  const { api, calls } = await startFakeBlockServer(t, ({ path }, res) => {
    const { searchParams: query } = new URL(path, 'http://x');
    const place = (name: string): number => all.findIndex(({ id }) => id === query.get(name));
    const limit = Math.min(Number(query.get('limit')), 300); // fewer than were asked for, as with large entries
    const end = query.has('before') ? place('before') : all.length;
    const begin = place('since') + 1;
    answer(res, { messages: query.has('since') ? all.slice(begin, begin + limit) : all.slice(Math.max(end - limit, 0), end) });
  });
  t.equal((await newestEntries(api, 'b', 2))[0]?.id, 'm998');
  t.equal(calls.length, 1, 'no more is asked than is wanted');
  t.equal((await newestEntries(api, 'b', 700)).length, 700);
  t.equal((await newestEntries(api, 'b', 5000)).length, 1000);
  t.same((await newestEntries(api, 'b', Number.POSITIVE_INFINITY, NOW - 400_000)).map(({ id }) => id)[0], 'm600');
  t.same(
    (await entriesAfter(api, 'b', 2, 'm100')).map(({ id }) => id),
    ['m998', 'm999'],
  );
  t.equal((await entriesAfter(api, 'b', Number.POSITIVE_INFINITY, 'm100')).length, 899);
});

t.test('what was said is folded between words, and code and tables keep their lines', async (t) => {
  const content =
    'A sentence that is longer than the terminal.\n```js\nconst text = "code that is longer than the terminal";\n```\n| a table | that is longer than the terminal |\nEnd.';
  const code = ['```js', 'const text = "code that is longer than the terminal";', '```', '| a table | that is longer than the terminal |', 'End.'];
  t.same(conversationText('b', [entry(0, { content })], { ...view, width: 30 }).slice(1), ['A sentence that is longer than', 'the terminal.', ...code]);
  t.same(conversationText('b', [entry(0, { content })], { ...view, width: Number.POSITIVE_INFINITY })[1], 'A sentence that is longer than the terminal.');
});

t.test('what a schedule, a hook or a program with a key has sent is not shown as what you have', async (t) => {
  const who = (more: object): string | undefined => conversationText('ada', [entry(1, more)], view)[0]?.split('  ')[0];
  t.equal(who({}), 'you');
  t.equal(who({ channel: 'schedule', clientId: 'schedule:brief:2026-11-22T08:00:00.000Z' }), 'schedule brief');
  t.equal(who({ channel: 'hook', chain: [{ via: 'hook', hook: 'issues' }] }), 'hook issues');
  t.equal(who({ channel: 'mcp', chain: [{ via: 'mcp' }] }), 'MCP');
  t.equal(who({ channel: 'mcp', chain: [{ via: 'mcp', key: 'agent' }] }), 'MCP, key agent');
  t.equal(who({ channel: 'api', chain: [{ via: 'key', key: 'my-app' }] }), 'key my-app');
  t.equal(who({ channel: 'api', chain: [{ via: 'api' }] }), 'you');
});

t.test('an answer that does not stand right below its message says which one it answers', async (t) => {
  const reply = (index: number, replyTo: string | undefined): ChatEntry => entry(index, { role: 'assistant', replyTo });
  const messages = [entry(1, { content: 'First\nof three?' }), entry(2, { content: 'Second?' }), entry(3)];
  const lines = (entries: readonly ChatEntry[], width = 80): readonly string[] =>
    conversationText('ada', entries, { ...view, width }).filter((line) => line.startsWith('answers'));
  t.same(lines([messages[0] as ChatEntry, reply(4, 'm1')]), [], 'one after the other');
  t.same(lines([...messages, reply(4, 'm1'), reply(5, 'm2'), reply(6, 'm3')]), ['answers m1: First of three?', 'answers m2: Second?', 'answers m3: text 3']);
  t.same(lines([reply(4, 'm1'), reply(5, undefined)]), ['answers m1'], 'of an older message the id is known');
  t.same(lines([...messages, reply(4, 'm1')], 20), ['answers m1: First o…']);
  t.ok((lines([entry(1, { content: 'x'.repeat(5000) }), entry(2), reply(4, 'm1')], Number.POSITIVE_INFINITY)[0] ?? '').length < 200);
  t.same(shortConversation('ada', [...messages, reply(4, 'm1')], 2, view).slice(-4), ['ada  16m ago  m4', 'answers m1: First of three?', 'text 4', '']);
});

t.test('each entry has a heading that fits, and a failed one says why', async (t) => {
  const failed = entry(1, { status: 'failed', error: { code: 'X', message: 'no\x1b[2J way', retryable: false } });
  const reply = entry(2, { role: 'assistant', provider: 'ollama', model: 'x'.repeat(100), content: 'a\nb\nc\n' });
  t.same(conversationText('b', [entry(0), failed], view), ['you  16m ago  m0', 'text 0', '', 'you  16m ago  failed  m1', 'text 1', 'no way']);
  const [heading, ...lines] = shortConversation('b', [reply], 2, view);
  t.equal(heading?.length, 80);
  t.same(lines, ['a', 'b', '… 1 more line', '']);
});
