import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import type { LedgerLine } from '../../../core/store/port.ts';
import { Metrics } from '../../../transports/metrics/metrics.ts';
import { ToolFigures } from '../../../transports/metrics/tool-figures.ts';
import { readScrape, sumOf } from '../../support/observability/scrape.ts';
import { BANK, TRUSTED } from '../../support/tools/payment-host.ts';
import { pay, toolCore } from '../../support/tools/tool-core.ts';
import type { Seen, WireCall } from '../../support/tools/tool-model.ts';

const call = (tool: string) => ({ block: 'ada', id: 'm1', call: '1.1', tool });

t.test('calls, their durations, starts and ends are counted by server, and never by tool', async (t) => {
  const events = createBus();
  const figures = new ToolFigures(events);
  for (const tool of ['bank/pay', 'bank/read', 'files/read']) events.emit('tool.called', call(tool));
  events.emit('tool.finished', { ...call('bank/pay'), outcome: 'done', isError: false, ms: 1500 });
  events.emit('tool.finished', { ...call('bank/read'), outcome: 'denied', isError: false, ms: null });
  events.emit('server.started', { server: 'files' });
  events.emit('server.exited', { server: 'files', reason: 'the words of an error' });
  t.strictSame(Object.fromEntries(figures.counts('sent')), { bank: 2, files: 1 });
  t.strictSame(Object.fromEntries(figures.counts('started')), { bank: 0, files: 1 });
  t.strictSame(Object.fromEntries(figures.counts('exited')), { bank: 0, files: 1 });
  const seconds = Object.fromEntries([...figures.seconds()].map(([[server], histogram]) => [server, histogram.sum]));
  t.strictSame(seconds, { bank: 1.5, files: 0 });
  t.strictSame(
    [...figures.calls.entries()],
    [
      ['unknown', 0],
      ['done', 1],
      ['denied', 1],
    ],
    'that there is no unknown one is said, so that an alert sees the first',
  );
});

/** Calls of two servers, of which some are answered, fail by their own words, are refused, were not made, or may have run. */
const ANSWERS: readonly (readonly WireCall[])[] = [
  [pay('bob'), { name: 'shop__list', arguments: {} }],
  [{ name: 'bank__fail', arguments: {} }, pay('eve', { amount: 'much' })],
  [
    { name: 'shop__list', arguments: {} },
    { name: 'bank__list', arguments: {} },
  ],
  [{ name: 'shop__set_limit', arguments: { limit: 1 } }],
  [pay('bob', { break: 'away' })],
];

t.test('what tools cost is what the ledger says, call by call, by the server of each', async (t) => {
  const shop = BANK.map((definition) => ({ ...definition, server: 'shop' }));
  const done = { kind: 'result', isError: false, parts: [], ms: 1 } as const;
  const one = await toolCore(t, {
    say: ({ question, results }: Seen) => (results.length === 0 ? (ANSWERS[Number(question)] ?? 'Hello.') : 'Done.'),
    rules: { servers: ['bank', 'shop'], allow: ['*'], deny: ['shop/set_limit'] },
    bank: {
      tools: [...BANK, ...shop],
      settings: { ...TRUSTED, usdPerCall: { pay: 0.25, fail: 0.01 } },
      others: { shop: { ...TRUSTED, usdPerCall: { '*': 0.1 } } },
      answer: ({ server, tool, arguments: { to, break: kind } }) => {
        if (kind !== undefined) throw new BlockhouseError(to === 'bob' ? 'TOOL_OUTCOME_UNKNOWN' : 'TOOL_NOT_BEGUN', 'The server has ended.');
        return server === 'bank' && tool === 'fail' ? { ...done, isError: true } : done;
      },
    },
  });
  const metrics = new Metrics(one.core);
  const outcomes: string[] = [];
  one.core.events.on('tool.finished', ({ outcome, isError }) => void outcomes.push(isError ? 'error' : outcome));
  for (const index of ANSWERS.keys()) await one.outcome(await one.post(String(index)));
  const lines = readFileSync(join(one.workspace, 'ledger.jsonl'), 'utf8').trim().split('\n');
  const paid = lines.map((line) => JSON.parse(line) as LedgerLine).filter(({ purpose }) => purpose === 'tool');
  const scraped = readScrape(await metrics.text('prometheus'));
  for (const server of ['bank', 'shop']) {
    const sum = paid.filter(({ model }) => model.startsWith(`${server}/`)).reduce((total, { costUsd }) => total + (costUsd ?? 0), 0);
    t.ok(sum > 0, server);
    t.equal(sumOf(scraped, 'blockhouse_tool_cost_usd_total', { server }), sum, server);
  }
  t.equal(scraped.get('blockhouse_tool_cost_usd_total')?.samples.length, 2);
  t.same(new Set(outcomes), new Set(['done', 'error', 'invalid-arguments', 'not-offered', 'unknown']));
  t.equal(sumOf(scraped, 'blockhouse_cost_usd_total'), 0, 'models have their own');
});

t.test('servers are bounded, whatever they are called', async (t) => {
  const events = createBus();
  const figures = new ToolFigures(events);
  for (let index = 0; index < 1000; index += 1) events.emit('tool.called', call(`s${index}/x`));
  events.emit('tool.called', call('without'));
  const sent = Object.fromEntries(figures.counts('sent'));
  t.equal(Object.keys(sent).length, 201);
  t.equal(sent['other'], 801);
});
