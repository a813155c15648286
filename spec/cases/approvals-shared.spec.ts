// What waits for people in a database, attacked: decisions at two servers at once, other names, forged ids, copies, and notices that never come.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type ChatEntry, connectStore, type ShownApproval } from '../../core/index.ts';
import { compareWorkspaces, copyWorkspace } from '../../core/store/copy.ts';
import { RUNNABLE, type StartedCore, type StartOptions, startCore } from '../support/blocks.ts';
import { migratedStore } from '../support/migrated.ts';
import { ask, noPostgres } from '../support/postgres.ts';
import { type StoreProxy, storeProxy } from '../support/store-proxy.ts';
import { sweep } from '../support/sweep.ts';
import { testFolder } from '../support/test-folder.ts';
import { pay } from '../support/tools/calls.ts';
import { PaymentHost } from '../support/tools/payment-host.ts';
import { type Said, type Seen, toolModel } from '../support/tools/tool-model.ts';
import { untilSo } from '../support/until.ts';
import { followSteps, type RunFrame } from '../../transports/run-steps.ts';

const BY = { channel: 'cli', name: 'token' } as const;
const RULES = { servers: ['bank'], ask: ['bank/*'] };
const PAYS = ({ results }: Seen): Said => (results.length === 0 ? [pay('bob')] : `Bank: ${results.join(' ')}`);
const ROUNDS = sweep(6, 2);

t.setTimeout(300_000);

/** A bank, and servers before it. */
function bankOf(t: Test) {
  const folder = testFolder(t, { a: {}, b: {}, c: {}, d: {} });
  const book = `${folder}/book`;
  const start = (options: StartOptions): Promise<StartedCore> => startCore(t, { tools: new PaymentHost({ book }), answer: toolModel(PAYS), ...options });
  return {
    folder,
    start,
    /** How many payments of a block took effect. */
    effects: (block: string): number => {
      const lines = existsSync(book) ? readFileSync(book, 'utf8').trim().split('\n') : [];
      return lines.filter((line) => (JSON.parse(line) as { callId: string }).callId.startsWith(`${block}/`)).length;
    },
  };
}

async function servers(t: Test, direct?: (store: string) => Promise<string>) {
  const store = await migratedStore(t);
  const { folder, start, effects } = bankOf(t);
  const options = direct === undefined ? {} : { direct: await direct(store) };
  const a = await start({ workspace: `${folder}/a`, store: await connectStore(store, options) });
  const b = await start({ workspace: `${folder}/b`, store: await connectStore(store, options) });
  /** A block that runs, and the number of its payments, also under its later name. */
  const begin = async (name: string, later = name): Promise<() => number> => {
    await a.create(name, { ...RUNNABLE, tools: RULES });
    await a.blocks.start(name);
    return () => effects(name) + (later === name ? 0 : effects(later));
  };
  return { a, b, begin, look: (text: string) => ask(store, text) };
}

/** The one that waits. */
async function asked({ blocks }: StartedCore, block?: string): Promise<ShownApproval> {
  const all = async (): Promise<readonly ShownApproval[]> => (await blocks.approvals(block === undefined ? {} : { block })).approvals;
  await untilSo('a call waits', async () => (await all()).length === 1);
  const [one] = await all();
  if (one === undefined) throw new Error('nothing waits');
  await untilSo('its message waits', async () =>
    (await blocks.history(one.block)).some(({ status, waitingFor }) => status === 'waiting-approval' && waitingFor?.includes(one.id)),
  );
  return one;
}

async function outcome({ blocks }: StartedCore, block: string, id: string): Promise<ChatEntry> {
  const entry = async (): Promise<ChatEntry | undefined> => (await blocks.history(block)).find((one) => one.id === id);
  await untilSo('it has its outcome', async () => ['done', 'failed', 'cancelled'].includes((await entry())?.status ?? ''));
  return (await entry()) as ChatEntry;
}

const codesOf = (results: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  results.flatMap((one) => (one.status === 'rejected' ? [(one.reason as { code?: unknown }).code] : []));

t.test('a database', { skip: noPostgres }, async (t) => {
  t.test('two servers', async (t) => {
    const { a, b, begin, look } = await servers(t);

    t.test('of an approval and a denial at two servers at once one holds, and the other hears that it was decided', async (t) => {
      const effects = await begin('race');
      let paid = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const { id } = await a.blocks.post('race', { message: `Pay ${round}.` }, 'api');
        const { id: approval, digest } = await asked(b);
        const [first, second] = round % 2 === 0 ? [a, b] : [b, a];
        const both = await Promise.allSettled([
          first.blocks.decideApproval(approval, { decision: 'approve', digest }, BY),
          second.blocks.decideApproval(approval, { decision: 'deny', digest }, BY),
        ]);
        t.same(codesOf(both), ['APPROVAL_DECIDED']);
        if (both[0]?.status === 'fulfilled') paid += 1;
        t.match(await outcome(b, 'race', id), { status: 'done' });
        t.equal(effects(), paid);
        t.match(await look(`select count(*)::int as count from bh.run_record where record like '%"decision"%' and record like '%${approval}%'`), [
          { count: 1 },
        ]);
      }
      t.same(await look('select name from bh.block where queued + processing + held + failed <> 0'), []);
      t.same((await a.core.check()).findings, []);
    });

    t.test('a call that is decided in the moment in which it is told, at either server, does not wait on', async (t) => {
      const effects = await begin('told');
      let decider = a;
      const decide = async ({ approval }: { readonly approval: string }): Promise<void> => {
        const { digest } = await decider.blocks.approval(approval);
        await decider.blocks.decideApproval(approval, { decision: 'approve', digest }, BY);
      };
      for (const { core } of [a, b]) {
        core.events.on('approval.requested', decide);
        t.teardown(() => core.events.off('approval.requested', decide));
      }
      for (let round = 1; round <= ROUNDS; round += 1) {
        decider = round % 2 === 0 ? a : b;
        const { id } = await a.blocks.post('told', { message: `Pay ${round}.` }, 'api');
        t.match(await outcome(a, 'told', id), { status: 'done' });
        t.equal(effects(), round);
      }
    });

    t.test('who follows a run sees its steps at any server, once each, whichever one makes its calls and whichever one is asked to decide', async (t) => {
      await begin('steps');
      const frames: RunFrame[][] = [[], []];
      for (const [index, { blocks }] of [a, b].entries()) t.teardown(followSteps(blocks, 'steps', (frame) => frames[index]?.push(frame)));
      for (const decider of [a, b]) {
        const { id } = await a.blocks.post('steps', { message: 'Pay.' }, 'api');
        const { id: approval, digest } = await asked(a);
        await decider.blocks.decideApproval(approval, { decision: 'approve', digest }, BY);
        await outcome(b, 'steps', id);
      }
      const shown = (all: readonly RunFrame[]): string[] =>
        all.map((frame) => (frame.type === 'approval' ? frame.state : frame.event === 'step' ? `step ${frame.n}` : frame.state)).sort();
      const once = ['approved', 'called', 'done', 'pending', 'step 1'];
      await untilSo('the other one has heard all', async () => frames.every((all) => all.length >= 2 * once.length));
      for (const all of frames) t.strictSame(shown(all), [...once, ...once].sort());
    });

    t.test('a cancel at one server and an approval at the other at once: one holds, and nothing is paid that nobody has approved', async (t) => {
      const effects = await begin('cancelled');
      let approvals = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const { id } = await a.blocks.post('cancelled', { message: `Pay ${round}.` }, 'api');
        const { id: approval, digest } = await asked(b);
        const [first, second] = round % 2 === 0 ? [a, b] : [b, a];
        const [approved] = await Promise.allSettled([
          first.blocks.decideApproval(approval, { decision: 'approve', digest }, BY),
          second.blocks.cancel('cancelled', id),
        ]);
        const { status } = await outcome(b, 'cancelled', id);
        if (approved?.status === 'rejected') {
          t.match(approved.reason, { code: /^(APPROVAL_DECIDED|WRONG_STATE|APPROVAL_NOT_FOUND)$/ });
          t.equal(status, 'cancelled');
        } else approvals += 1;
        // A call that had begun may pay after its message was cancelled, and so in the next round.
        t.ok(effects() <= approvals, 'nothing is paid that nobody approved');
      }
      t.same(await look('select name from bh.block where queued + processing + held + failed <> 0'), []);
      t.match(await look('select count(*)::int as count from bh.approval where decided_at is null'), [{ count: 0 }]);
      t.same((await a.core.check()).findings, []);
    });

    t.test('what waits in a block that gets another name is shown and decided under that name, at any server', async (t) => {
      const effects = await begin('ada', 'zoe');
      const { id } = await a.blocks.post('ada', { message: 'Pay bob.' }, 'api');
      const { id: approval, digest } = await asked(b);
      await b.blocks.rename('ada', { name: 'zoe' });
      for (const { blocks } of [a, b]) {
        t.match((await blocks.approvals()).approvals, [{ id: approval, block: 'zoe' }]);
        t.match(await blocks.approval(approval), { id: approval, block: 'zoe', state: 'pending' });
      }
      t.match(await a.blocks.decideApproval(approval, { decision: 'approve', digest }, BY), { block: 'zoe', state: 'approved' });
      t.match(await outcome(b, 'zoe', id), { status: 'done' });
      t.equal(effects(), 1);
    });

    t.test('an id of another block decides nothing there, also where a bundle was made to name it', async (t) => {
      const effects = await begin('bob');
      const { id } = await a.blocks.post('bob', { message: 'Pay bob.' }, 'api');
      const { id: approval, digest } = await asked(b);
      await b.create('eve', { ...RUNNABLE, tools: RULES });
      const decision = { decision: 'approve', digest } as const;
      await t.rejects(b.blocks.decide('eve', approval, decision, BY), { code: 'APPROVAL_NOT_FOUND' });
      // A message of eve that says that it waits for the call of ada, as a forged bundle could bring it.
      await a.blocks.post('eve', { message: 'forged' }, 'api');
      await look(
        `update bh.message set status = 'waiting-approval', waiting_for = '["${approval}"]' where block_id = (select id from bh.block where name = 'eve') and role = 'user'`,
      );
      await untilSo('the other one reads it', async () => (await b.blocks.history('eve')).some(({ waitingFor }) => waitingFor?.includes(approval)));
      await t.rejects(b.blocks.decide('eve', approval, decision, BY), { code: 'APPROVAL_NOT_FOUND' });
      t.match(await a.blocks.approval(approval), { block: 'bob', state: 'pending' });
      t.equal(effects(), 0);
      await a.blocks.decide('bob', approval, decision, BY);
      t.match(await outcome(a, 'bob', id), { status: 'done' });
      t.equal(effects(), 1);
      for (const odd of ["'", 'a\0', 'x'.repeat(5000), '%']) await t.rejects(b.blocks.decideApproval(odd, decision, BY), { code: 'APPROVAL_NOT_FOUND' });
    });
  });

  t.test('a decision at one server is found by the other within seconds where no notice ever comes', async (t) => {
    let proxy: StoreProxy | undefined;
    const { a, b, begin } = await servers(t, async (store) => {
      proxy = await storeProxy(t, store);
      return proxy.store;
    });
    const effects = await begin('ada');
    proxy?.swallow();
    const { id } = await a.blocks.post('ada', { message: 'Pay bob.' }, 'api');
    const { id: approval, digest } = await asked(b);
    await b.blocks.decideApproval(approval, { decision: 'approve', digest }, BY);
    t.match(await outcome(b, 'ada', id), { status: 'done' });
    t.equal(effects(), 1);
    t.match(await a.blocks.approval(approval), { state: 'approved' });
  });

  t.test('what waits is copied with its id and its deadline, into a folder and a database, and is decided once where it is then', async (t) => {
    const { folder, start, effects } = bankOf(t);
    const first = await start({ workspace: `${folder}/a` });
    await first.create('ada', { ...RUNNABLE, tools: RULES });
    await first.blocks.start('ada');
    const { id } = await first.blocks.post('ada', { message: 'Pay bob.' }, 'api');
    const waiting = await asked(first);
    await first.core.close();
    const [one, two] = [await migratedStore(t), await migratedStore(t)];
    const back = join(folder, 'back');
    for (const [from, to] of [
      [`${folder}/a`, one],
      [one, back],
      [back, two],
    ] as const) {
      await copyWorkspace({ from, to });
      t.same((await compareWorkspaces({ from, to })).differences, []);
    }
    const last = await start({ workspace: `${folder}/d`, store: await connectStore(two) });
    t.match((await last.blocks.approvals()).approvals, [{ id: waiting.id, digest: waiting.digest, expiresAt: waiting.expiresAt, state: 'pending' }]);
    t.match(await last.blocks.details('ada'), { pulse: { queue: { processing: 1 } } });
    await last.blocks.decideApproval(waiting.id, { decision: 'approve', digest: waiting.digest }, BY);
    t.match(await outcome(last, 'ada', id), { status: 'done' });
    t.equal(effects('ada'), 1);
    t.same((await last.core.check()).findings, []);
  });
});
