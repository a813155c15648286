// Which account a call is in: a block keeps its own, and the gateway keeps those of clients. All calls take the same way.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BlockhouseError } from '../../../core/errors.ts';
import type { CallAccounts, Hold } from '../../../core/gateway/account.ts';
import { createCore } from '../../../core/runtime.ts';
import { startCore } from '../../support/blocks.ts';
import { Random } from '../../support/crash/random.ts';
import { HELLO, passingFault, type Step, steppedAdapter, untilAborted } from '../../support/stepped-adapter.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';

const SEED = 20261124;
const BLOCKS = ['ada', 'bob', 'eve'];
const MESSAGES = 8;
const CLIENT_CALLS = 60;
const REQUEST = { adapter: 'stepped', model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] } as const;

const half: Step = async (call) => {
  call.sink.emit([{ type: 'text', text: 'Half' }]);
  throw new BlockhouseError('UPSTREAM_REJECTED', 'broken', { upstreamStatus: 400, mayHaveRun: true });
};
const untouched = new BlockhouseError('UPSTREAM_REJECTED', 'no', { upstreamStatus: 400 });
const counted = new BlockhouseError('UPSTREAM_REJECTED', 'no', { upstreamStatus: 400, usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 } });

/** The step for a call follows from its number. */
function mixed(random: Random): Step {
  return (call) => {
    const step = random.pick<Step>([HELLO, HELLO, half, untouched, counted, untilAborted]);
    if (step instanceof Error) return Promise.reject(step);
    return typeof step === 'function' ? step(call) : Promise.resolve(void call.sink.emit(step));
  };
}

t.test(
  "however calls end, a block's call that has used something has one line in the ledger of blocks, and a client's call one in that of the gateway",
  async (t) => {
    const random = new Random(SEED);
    const adapter = steppedAdapter([mixed(random)], { missingCredential: () => undefined, pricesAs: 'openai' });
    const one = await startCore(t, { adapters: [adapter], retries: 0, timeouts: {} });
    for (const name of BLOCKS) {
      await one.create(name, { adapter: { provider: 'stepped', model: 'gpt-4o' }, budget: { dailyTokens: 1_000_000 } });
      await one.blocks.start(name);
      for (let n = 0; n < MESSAGES; n += 1) await one.blocks.post(name, { message: `${name} ${n}` }, 'api');
    }
    const clients = Array.from({ length: CLIENT_CALLS }, (_, n) =>
      one.core.chat(REQUEST, { requestId: `client ${n}`, signal: AbortSignal.timeout(20) }).catch((error: unknown) => error),
    );
    const cancelled = setInterval(async () => {
      for (const { messageId, caller } of one.core.liveCalls()) if (caller && messageId) await one.blocks.cancel(caller, messageId).catch(() => undefined);
    }, 20);
    await Promise.all(clients);
    await until('every message is over', () => one.factsOf('message.finished').length === BLOCKS.length * MESSAGES);
    clearInterval(cancelled);
    await one.core.close();

    const ended = one.factsOf('call.finished');
    const lines = readLines(join(one.workspace, 'ledger.jsonl'));
    const used = ended.filter(({ caller, usage }) => caller !== undefined && usage !== undefined);
    t.same(counts(lines, 'block'), counts(used, 'caller'));
    t.same(lines.map(({ usage }) => JSON.stringify(usage)).sort(), used.map(({ usage }) => JSON.stringify(usage)).sort());
    t.equal(new Set(lines.map(({ id }) => id)).size, lines.length);
    t.same(counts(one.factsOf('call.billed'), 'block'), counts(lines, 'block'));
    const ofClients = ended.filter(({ caller }) => caller === undefined);
    t.equal(ofClients.length, CLIENT_CALLS);
    const clientLines = readLines(join(one.workspace, 'gateway-ledger.jsonl'));
    t.same(clientLines.map(({ requestId }) => requestId).sort(), ofClients.map(({ requestId }) => requestId).sort());
    t.ok(new Set(ended.map(({ code }) => code)).size >= 3, 'answered, failed and cancelled');
  },
);

t.test('a call with an account of its own asks that account before each attempt, and settles it once', async (t) => {
  const told: unknown[] = [];
  const adapter = steppedAdapter([passingFault(), HELLO]);
  const hold: Hold = { readsOn: false, reserve: async () => void told.push(`reserve before ${adapter.calls.length + 1}`) };
  const accounts: CallAccounts = {
    accept: ({ model }) => {
      told.push(`accept ${model}`);
      return hold;
    },
    settle: ({ attempts, code }, _call, held) => void told.push(['settle', attempts, code, held === hold]),
  };
  const core = createCore({ workspace: testFolder(t), adapters: [adapter], env: { STEPPED_API_KEY: 'k' }, random: () => 0 });
  t.teardown(() => core.close());
  await core.start();
  await core.chat(REQUEST, { accounts });
  t.strictSame(told, ['accept gpt-4o-mini', 'reserve before 1', 'reserve before 2', ['settle', 2, undefined, true]]);
  t.same((await core.accounts?.costs('model'))?.rows, [], 'the gateway has no line of it');
  const full = { ...accounts, accept: () => ({ ...hold, reserve: () => Promise.reject(new BlockhouseError('QUEUE_FULL', 'no room')) }) };
  told.length = 0;
  await t.rejects(core.chat(REQUEST, { accounts: full }), { code: 'QUEUE_FULL', message: 'no room' });
  t.match(told, [['settle', 0, 'QUEUE_FULL', false]]);
  t.equal(adapter.calls.length, 2, 'it was not sent');
});

type Row = Readonly<Record<string, unknown>>;

function readLines(path: string): Row[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function counts(rows: readonly Row[], field: string): Record<string, number> {
  const sums: Record<string, number> = Object.fromEntries(BLOCKS.map((name) => [name, 0]));
  for (const row of rows) sums[`${row[field]}`] = (sums[`${row[field]}`] ?? 0) + 1;
  return sums;
}
