// How calls are made, and what each failure of what makes them is written down as.
import t from 'tap';
import { type CallOptions, callTools } from '../../../../../core/block/reply/run/call-tools.ts';
import { RunJournal } from '../../../../../core/block/reply/run/run-journal.ts';
import { BlockhouseError } from '../../../../../core/errors.ts';
import type { Conversation } from '../../../../../core/store/port.ts';
import { offerFor } from '../../../../../core/tools/offer.ts';
import type { ToolHost } from '../../../../../core/tools/port.ts';
import { type ToolSettings, toolSettings } from '../../../../../core/tools/settings.ts';
import type { RunRecord } from '../../../../../core/types.ts';
import { BANK, TRUSTED } from '../../../../support/tools/payment-host.ts';
import { AT, answerRecord, modelRecord, runRecord } from '../../../../support/tools/records.ts';
import { kindsOf, pay, RULES } from '../../../../support/tools/tool-core.ts';

/** Calls of one answer before this host; resolves with what was written, in groups, and whether each waited for the disk. */
async function made(
  count: number,
  call: ToolHost['call'],
  {
    settings = {},
    again = {},
    ...options
  }: Partial<CallOptions> & { readonly settings?: object; readonly again?: Readonly<Record<number, () => Promise<boolean>>> } = {},
) {
  const records: RunRecord[] = [
    runRecord(),
    modelRecord(1),
    answerRecord(
      1,
      Array.from({ length: count }, (_, index) => pay(`p${index}`)),
    ),
  ];
  const appends: { kinds: string[]; quiet: boolean }[] = [];
  const conversation = {
    steps: async () => records,
    appendSteps: async (_claim: unknown, _id: string, _from: number, added: RunRecord[], { quiet = false } = {}) =>
      void appends.push({ kinds: kindsOf(added), quiet }),
  } as unknown as Conversation;
  const journal = await RunJournal.open({ conversation, claim: undefined, messageId: 'm1' });
  const { tools } = offerFor(
    { tools: BANK, settings: { bank: { ...TRUSTED, callTimeoutMs: 77, maxResultBytes: 99, ...settings } }, problems: [] },
    toolSettings({ tools: RULES }) as ToolSettings,
  );
  const tool = tools.find(({ id }) => id === 'bank/pay');
  if (tool === undefined) throw new Error('no tool');
  const causes = new Map<string, string>();
  const host = { call } as ToolHost;
  const ready = journal.state.calls.map((one, index) => ({ call: one, tool, ...(again[index] !== undefined && { isStillAllowed: again[index] }) }));
  const work = callTools(ready, {
    block: 'ada',
    messageId: 'm1',
    host,
    journal,
    parallel: 2,
    resultTokens: 100,
    signal: new AbortController().signal,
    causes,
    lost: new Set(),
    mayCall: () => true,
    at: () => AT,
    onCall: () => undefined,
    keep: async () => true,
    ...options,
  });
  return { work, appends, causes, journal };
}

const paid: ToolHost['call'] = async () => ({ kind: 'result', isError: false, parts: [{ type: 'text', text: 'Paid.' }], ms: 1.4 });

t.test('intent-first: the records of a group are one append, before its calls; only its last result waits for the disk', async (t) => {
  const seen: number[] = [];
  const { work, appends } = await made(3, async (call, signal) => {
    seen.push(appends.length);
    return paid(call, signal);
  });
  await work;
  t.strictSame(appends, [
    { kinds: ['call 1.1', 'call 1.2'], quiet: false },
    { kinds: ['result 1.1'], quiet: true },
    { kinds: ['result 1.2'], quiet: false },
    { kinds: ['call 1.3'], quiet: false },
    { kinds: ['result 1.3'], quiet: false },
  ]);
  t.strictSame(seen, [1, 1, 4]);
});

t.test('a call has the id of its place, and the limits of its server', async (t) => {
  let sent: unknown;
  const { work } = await made(1, (call, signal) => {
    sent = call;
    return paid(call, signal);
  });
  await work;
  t.match(sent, {
    block: 'ada',
    server: 'bank',
    tool: 'pay',
    arguments: { to: 'p0', amount: 5 },
    pin: 'pin-of-pay',
    timeoutMs: 77,
    maxBytes: 99,
    callId: 'ada/m1/1.1',
  });
});

t.test('not begun is refused, unknown is left open with its cause, and a defect says nothing of itself', async (t) => {
  const fails = (error: Error) => made(1, () => Promise.reject(error));
  const notBegun = await fails(new BlockhouseError('TOOL_NOT_BEGUN', 'bank does not start.'));
  await notBegun.work;
  t.match(notBegun.journal.state.callAt('1.1')?.outcome, {
    t: 'refused',
    code: 'server-failed',
    note: 'The call was not made: bank does not start.',
    open: false,
  });
  const ofOpenWorld = await made(1, () => Promise.reject(new BlockhouseError('TOOL_NOT_BEGUN', 'bank does not start.')), { settings: { marks: {} } });
  await ofOpenWorld.work;
  t.match(ofOpenWorld.journal.state.callAt('1.1')?.outcome, { t: 'refused', open: true }, 'what the server said last may be of anybody');
  for (const [error, cause] of [
    [new BlockhouseError('TOOL_OUTCOME_UNKNOWN', 'bank has ended.'), 'bank has ended'],
    [new Error('secret'), 'the program that makes the calls has failed'],
  ] as const) {
    const one = await fails(error);
    await one.work;
    t.equal(one.causes.get('1.1'), cause);
    t.equal(one.journal.state.callAt('1.1')?.outcome, undefined);
  }
});

t.test('after an abort, or at a halt, no further group is called', async (t) => {
  const controller = new AbortController();
  const abortsAndPays: ToolHost['call'] = (call, signal) => {
    controller.abort();
    return paid(call, signal);
  };
  const aborted = await made(3, abortsAndPays, { signal: controller.signal });
  await aborted.work;
  t.strictSame(
    aborted.journal.state.calls.map(({ tries }) => tries),
    [1, 1, 0],
  );
  const halted = await made(1, paid, { mayCall: () => false });
  await halted.work;
  t.strictSame(halted.appends, []);
});

t.test('a result that can not be written ends the step, after all calls have ended', async (t) => {
  let ended = 0;
  const one = await made(2, async (call, signal) => {
    await new Promise((resolve) => setImmediate(resolve));
    ended += 1;
    return paid(call, signal);
  });
  const { append } = one.journal;
  one.journal.append = (records, options) =>
    records[0]?.t === 'result' ? Promise.reject(new BlockhouseError('STORAGE_FULL', 'full')) : append.call(one.journal, records, options);
  await t.rejects(one.work, { code: 'STORAGE_FULL' });
  t.equal(ended, 2);
});

t.test('task-first: a task is on disk before its host goes on, and where it can not be written, that is the fault', async (t) => {
  const seen: number[] = [];
  const task = { taskId: 'k1', ttlMs: 5, pollMs: 100 };
  const one = await made(1, async (call, signal) => {
    await call.onTask?.(task);
    seen.push(one.appends.length);
    return paid(call, signal);
  });
  await one.work;
  t.strictSame(one.appends[1], { kinds: ['task 1.1'], quiet: false });
  t.strictSame(seen, [2]);
  t.match(one.journal.state.callAt('1.1')?.task, { ...task, at: AT });
  const full = await made(1, async (call, signal) => {
    await call.onTask?.(task);
    return paid(call, signal);
  });
  const { append } = full.journal;
  full.journal.append = (records, options) =>
    records[0]?.t === 'task' ? Promise.reject(new BlockhouseError('STORAGE_FULL', 'full')) : append.call(full.journal, records, options);
  await t.rejects(full.work, { code: 'STORAGE_FULL' });
  t.strictSame(full.causes.size, 0);
});

t.test('a result that was cut is named only where the whole of it is kept', async (t) => {
  const long: ToolHost['call'] = async () => ({ kind: 'result', isError: true, parts: [{ type: 'text', text: 'x'.repeat(9000) }], ms: 1 });
  for (const keep of [true, false]) {
    const one = await made(1, long, { keep: async () => keep });
    await one.work;
    const { outcome } = one.journal.state.callAt('1.1') ?? {};
    t.match(outcome, {
      t: 'result',
      isError: true,
      chars: 9000,
      notice: keep ? /are left out .*block__read_result reads on, ref 1\.1/ : /are left out after character 300\.\)/,
    });
    t.notMatch(outcome, { text: /left out/ });
    t.equal((outcome as { ref?: string }).ref, keep ? '1.1' : undefined);
  }
});

t.test('the journal keeps of images how many there are, and of what nests too deep that the call ran', async (t) => {
  const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
  const kept: string[] = [];
  const shown = await made(1, async () => ({ kind: 'result', isError: false, parts: [image, image], ms: 1 }), {
    keep: async (place, bytes) => kept.push(`${place} ${Buffer.from(bytes).toString()}`) > 0,
  });
  await shown.work;
  t.strictSame(shown.journal.state.callAt('1.1')?.outcome, {
    ...{ t: 'result', call: '1.1', at: AT, ms: 1, isError: false },
    text: '[image: image/png, 3 bytes]\n[image: image/png, 3 bytes]',
    ref: '1.1',
    images: 2,
    open: false,
  });
  t.match(kept, [/^1\.1 \{"isError":false,"parts":\[\{"type":"image"/]);
  let deep: object = {};
  for (let level = 0; level < 200; level += 1) deep = { deep };
  const failed = await made(1, async () => ({ kind: 'result', isError: false, parts: [], structuredContent: deep, ms: 1 }));
  await failed.work;
  t.match(failed.journal.state.callAt('1.1')?.outcome, { t: 'result', isError: true, text: /^The call ran, and its result can't be shown: it nests deeper/ });
});

t.test(
  'where-again: a call that is allowed because of a path is judged again once those before it have ended, made alone, and not made if that has changed',
  async (t) => {
    const order: string[] = [];
    const host: ToolHost['call'] = async ({ callId }) => {
      order.push(`${callId.slice(-3)} begins`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push(`${callId.slice(-3)} ends`);
      return { kind: 'result', isError: false, parts: [], ms: 1 };
    };
    const judged = (place: string, isAllowed: boolean) => async () => {
      order.push(`${place} is judged`);
      return isAllowed;
    };
    const { work, appends } = await made(5, host, { parallel: 4, again: { 1: judged('1.2', true), 3: judged('1.4', false) } });
    await work;
    t.strictSame(order, [
      ...['1.1 begins', '1.1 ends', '1.2 is judged', '1.2 begins', '1.2 ends', '1.3 begins', '1.3 ends'],
      ...['1.4 is judged', '1.5 begins', '1.5 ends'],
    ]);
    t.ok(
      appends.some(({ kinds }) => kinds.join() === 'refused 1.4'),
      'nothing says that it was sent',
    );
  },
);
