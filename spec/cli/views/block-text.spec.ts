import t from 'tap';
import { displayWidth } from '../../../cli/terminal/layout.ts';
import { styleFor } from '../../../cli/terminal/output.ts';
import { attentionLines, blockTable, blockText, memoryText, modelOf, stateCell, whyText } from '../../../cli/views/block-text.ts';
import type { BlockDetails, BlockEntry, BlockState, Explanation } from '../../../core/index.ts';

const now = Date.parse('2026-11-20T14:00:00.000Z');
const style = styleFor(false);
const view = { now, style, width: Number.POSITIVE_INFINITY };

const AT = '2026-11-20T13:00:00.000Z';

function entry(name: string, state: BlockState, more: Partial<BlockEntry> = {}): BlockEntry {
  return {
    name,
    state,
    status: 'ACTIVE',
    attention: false,
    config: { description: '', adapter: { provider: 'vendor', model: 'model-1' }, tags: [], enabled: true },
    costs: { totalInput: 1, totalOutput: 1, totalCost: 1, calls: 1, today: 0.0042 },
    pulse: { status: 'ACTIVE', state, lastPulse: null, nextWakeUp: null, error: null },
    queue: 3,
    failures: { count: 0, since: null, last: null },
    lastMessageAt: '2026-11-20T13:57:00.000Z',
    budget: { dailyUsd: null, spentUsd: 0, state: 'ok' },
    activity: [],
    ...more,
  };
}

const FAILED = { count: 2, since: AT, last: { id: 'm1', at: AT, code: 'UPSTREAM_REJECTED', message: 'It broke.' } };

const DAMAGED = entry('torn', 'failed', {
  attention: true,
  status: 'ERROR',
  configError: 'config.json is no JSON\x1b[2J',
  lastMessageAt: null,
  config: {},
});

t.test('the list shows state, model, queue, today and the last message', async (t) => {
  t.same(blockTable([entry('one', 'idle'), entry('two', 'stopped', { queue: 0 }), DAMAGED], view), [
    'NAME  STATE      MODEL           QUEUE  FAILED    TODAY  LAST',
    'one   ● idle     vendor/model-1      3       0  $0.0042  3m ago',
    'two   ○ stopped  vendor/model-1      0       0  $0.0042  3m ago',
    'torn  ! failed   -                   -       -  $0.0042  -',
  ]);
});

t.test('the list counts the messages that failed', async (t) => {
  const [title = '', line = ''] = blockTable([entry('one', 'idle', { failures: FAILED })], view);
  t.match(title, /FAILED/);
  t.match(line, / 2 {2}\$0\.0042/);
});

t.test('at 60 columns the names are whole, at 40 still', async (t) => {
  const name = 'a-rather-long-name-of-a-block-32';
  for (const width of [60, 40]) {
    const [, line = ''] = blockTable([entry(name, 'working')], { ...view, width });
    t.ok(line.startsWith(name) || width < 44, line);
    t.ok(displayWidth(line) <= width, line);
  }
});

t.test('a state has a mark of its own: running, resting, in between, a person is needed', async (t) => {
  const text = (state: BlockState, attention = false): string => stateCell({ state, attention }, style).text;
  t.same(
    [text('working'), text('unconfigured'), text('backoff'), text('stopping'), text('paused', true), text('failed')],
    ['● working', '○ unconfigured', '◐ backoff', '◐ stopping', '! paused', '! failed'],
  );
  const colored = styleFor(true);
  t.equal(stateCell({ state: 'failed', attention: true }, colored).paint, colored.bad);
  t.equal(stateCell({ state: 'idle', attention: false }, colored).paint('x'), '\x1b[32mx\x1b[0m');
});

t.test('blocks that need a person are named with what helps, made harmless', async (t) => {
  const poor = entry('poor', 'paused', { attention: true });
  const lines = (blocks: BlockEntry[], width: number) => attentionLines(blocks, width, (...words) => words.join(' '));
  t.same(lines([entry('one', 'idle'), DAMAGED, poor], 80), ['! torn: config.json is no JSON', '! poor: paused', '`doctor` says what to do.']);
  t.same(lines([DAMAGED], 20), ['! torn: config.json…', '`doctor` says what to do.']);
  t.same(lines([poor], 80), ['! poor: paused', '`why poor` says what to do.']);
  t.same(lines([poor, { ...poor, name: 'poorer' }], 80).at(-1), '`why <block>` says what to do.');
  t.same(lines([entry('one', 'idle')], 80), []);
  t.same(lines([entry('one', 'idle', { failures: FAILED })], 80), ['! one: 2 messages failed: It broke.', '`why one` says what to do.']);
});

const DETAILS = {
  name: 'one',
  config: {
    description: 'Answers\nmail',
    adapter: { provider: 'vendor', model: 'm' },
    fallbacks: [{ provider: 'other', model: 'n' }],
    goals: ['be brief'],
    tags: ['mail'],
    budget: { dailyUsd: 5, monthlyUsd: null, dailyTokens: 1000, warnAt: 0.8, timezone: 'UTC' },
    rev: 3,
    updatedAt: '2026-11-20T12:00:00.000Z',
  },
  memory: {
    summary: 'They met.\n\x1b[2JThey parted.\n',
    facts: [
      { id: 'f1', text: 'closed on Friday', pinned: true },
      { id: 'f2', text: 'x', pinned: false },
    ],
    window: { firstKeptId: null, messages: 4, tokens: 1200, maxTokens: 100_000, percent: 1.2 },
    compactions: [{ id: 'c', at: '2026-11-20T13:00:00.000Z', trigger: 'manual', outcome: 'summarized' }],
    compactionCount: 1,
  },
  costs: { totalCost: 1.25, calls: 2, budget: { day: { usd: 0.5, tokens: 1 }, month: { usd: 1, tokens: 1 }, state: 'ok' } },
  pulse: {
    state: 'paused',
    attention: true,
    reason: { code: 'BUDGET', message: 'The daily cap is reached.', fix: 'raise budget.dailyUsd' },
    queue: { queued: 2, processing: 1, failed: 4, oldestQueuedAt: null },
    lastRun: '2026-11-20T13:59:00.000Z',
    nextWakeUp: '2026-11-21T00:00:00.000Z',
  },
} as unknown as BlockDetails;

t.test('a block is described in labelled lines', async (t) => {
  t.same(blockText(DETAILS, { now, style }), [
    'one  ! paused',
    'Answers mail',
    '',
    'Why       The daily cap is reached.',
    'Fix       raise budget.dailyUsd',
    'Model     vendor/m, else other/n',
    'Queue     3 waiting, 4 failed',
    'Last      reply ended 1m ago',
    'Next      in 10h',
    'Memory    1.2 % of 100,000 tokens, 2 facts',
    'Cost      $1.25 in 2 calls; today $0.50',
    'Budget    $5.00 a day, 1,000 tokens a day (ok)',
    'Goals     be brief',
    'Tags      mail',
    'Config    revision 3, changed 2h ago',
  ]);
});

t.test('what is not known is not told as nothing', async (t) => {
  const cost = (costs: object): string | undefined =>
    blockText({ ...DETAILS, costs: { ...DETAILS.costs, ...costs } }, { now, style }).find((line) => line.startsWith('Cost'));
  t.equal(cost({ totalCost: null }), 'Cost      2 calls, price unknown');
  t.equal(cost({ totalCost: null, calls: 0 }), 'Cost      no calls yet');
});

t.test('a budget in USD that does not hold a call without a price says so', async (t) => {
  const budget = (unpricedCalls: number, caps: object = {}): string | undefined =>
    blockText(
      { ...DETAILS, config: { ...DETAILS.config, budget: { ...DETAILS.config.budget, ...caps } }, costs: { ...DETAILS.costs, unpricedCalls } },
      { now, style },
    ).find((line) => line.startsWith('Budget'));
  t.equal(budget(2), 'Budget    $5.00 a day, 1,000 tokens a day (ok; the price of 2 calls is unknown, so they do not count towards the caps in USD)');
  t.equal(budget(2, { dailyUsd: null }), 'Budget    1,000 tokens a day (ok)');
  t.equal(budget(0), 'Budget    $5.00 a day, 1,000 tokens a day (ok)');
});

t.test('why has the reason, what comes next, what helps, and how it came to this', async (t) => {
  const explanation = {
    name: 'one',
    state: 'failed',
    attention: true,
    why: 'The key was refused.',
    next: 'Nothing by itself.',
    failed: '1 message has failed.',
    fix: 'blockhouse auth set x',
    since: '2026-11-20T13:00:00.000Z',
    lastTransitions: [{ at: '2026-11-20T13:00:00.000Z', from: 'working', to: 'failed', cause: 'UPSTREAM_AUTH', actor: 'monitor' }],
  } as unknown as Explanation;
  t.same(whyText(explanation, { now, style }), [
    'one  ! failed, 1h ago',
    '',
    'Why       The key was refused.',
    'Next      Nothing by itself.',
    'Failed    1 message has failed.',
    'Fix       blockhouse auth set x',
    'Before    1h ago: working → failed (UPSTREAM_AUTH, by monitor)',
  ]);
  t.equal(whyText({ ...explanation, since: null, failed: null, fix: null, lastTransitions: [] }, { now, style }).length, 4);
  const long = {
    ...explanation,
    why: 'The provider refuses the key of this block, and nothing is asked until another is stored.',
    fix: 'blockhouse auth set vendor --key another-key-of-theirs',
  };
  const narrow = whyText(long, { now, style, width: 50, own: (text) => text.replace('blockhouse', './blockhouse') });
  t.same(narrow.slice(2, 5), ['Why       The provider refuses the key of this', '          block, and nothing is asked until', '          another is stored.']);
  t.ok(narrow.includes('Fix       ./blockhouse auth set vendor --key another-key-of-theirs'), 'a command stays on its line');
});

t.test('memory shows facts with their ids, and the summary, made harmless', async (t) => {
  t.same(memoryText(DETAILS, { now, style }), [
    'Window    4 messages, 1,200 of 100,000 tokens (1.2 %)',
    'Compacted 1 time, last 1h ago: summarized',
    'Facts     2 facts',
    '  f1  closed on Friday',
    '  f2  x (not pinned)',
    '',
    'Summary',
    'They met.',
    'They parted.',
  ]);
});

t.test('a model is told with its provider', async (t) => {
  t.equal(modelOf(null), '-');
  t.equal(modelOf({ provider: 'p', model: 'm' }), 'p/m');
});

t.test('thousands are marked in the list', async (t) => {
  const costs = { totalInput: 1, totalOutput: 1, totalCost: 1, calls: 1, today: 1234.5 };
  const [, row] = blockTable([entry('one', 'idle', { queue: 12_345, failures: { ...FAILED, count: 6789 }, costs })], view);
  t.match(row, /12,345 +6,789 +\$1,234\.50 /);
});
