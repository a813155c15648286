// Tools of blocks in a database: servers decide for each other, and what one began another knows.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type ChatEntry, connectStore, type RunRecord } from '../../core/index.ts';
import { createHttpTransport } from '../../transports/http/index.ts';
import { RUNNABLE, type StartedCore, startCore } from '../support/blocks.ts';
import { migratedStore } from '../support/migrated.ts';
import { ask, noPostgres } from '../support/postgres.ts';
import { testFolder } from '../support/test-folder.ts';
import { pay } from '../support/tools/calls.ts';
import { PaymentHost } from '../support/tools/payment-host.ts';
import { kindsOf } from '../support/tools/tool-core.ts';
import { type Said, type Seen, toolModel } from '../support/tools/tool-model.ts';
import { untilSo } from '../support/until.ts';

interface Servers {
  readonly a: StartedCore;
  readonly b: StartedCore;
  /** What the bank has done, one line for each effect. */
  effects(): { readonly callId: string }[];
  ask(text: string): Promise<Record<string, unknown>[]>;
}

const BY = { channel: 'cli', name: 'token' } as const;
/** Pays bob, and for a message that asks for both eve after him. */
const PAYS = ({ results, question }: Seen): Said => {
  if (results.length === 0) return [pay('bob')];
  return question === 'Pay both.' ? [pay('eve')] : `Bank: ${results.join(' ')}`;
};

/** Two servers of one database before the same bank; the block `ada` asks before each call. */
async function servers(
  t: Test,
  { say = PAYS, tools = { servers: ['bank'], ask: ['bank/*'] } }: { say?: (seen: Seen) => Said; tools?: object } = {},
): Promise<Servers> {
  const store = await migratedStore(t);
  const folder = testFolder(t, { a: {}, b: {} });
  const book = `${folder}/book`;
  const start = async (name: string): Promise<StartedCore> =>
    startCore(t, { workspace: `${folder}/${name}`, store: await connectStore(store), tools: new PaymentHost({ book }), answer: toolModel(say) });
  const [a, b] = [await start('a'), await start('b')];
  await a.create('ada', { ...RUNNABLE, tools });
  await a.blocks.start('ada');
  return {
    a,
    b,
    ask: (text) => ask(store, text),
    effects: () => (existsSync(book) ? readFileSync(book, 'utf8').trim().split('\n') : []).map((line) => JSON.parse(line)),
  };
}

/** Undefined where the server has read the conversation in the last tenth of a second before the message came. */
const entryOf = async ({ blocks }: StartedCore, id: string): Promise<ChatEntry | undefined> => (await blocks.history('ada')).find((one) => one.id === id);
const recordsOf = async ({ blocks }: StartedCore, id: string): Promise<readonly RunRecord[]> => (await blocks.run('ada', id)).records;

async function asked(server: StartedCore, id: string) {
  await untilSo('it waits for a person', async () => (await entryOf(server, id))?.status === 'waiting-approval');
  const [record] = (await recordsOf(server, id)).filter(({ t: kind }) => kind === 'ask').slice(-1);
  if (record?.t !== 'ask') throw new Error('nothing is asked');
  return record.approval;
}

async function outcome(server: StartedCore, id: string): Promise<ChatEntry> {
  await untilSo('it has its outcome', async () => ['done', 'failed', 'cancelled'].includes((await entryOf(server, id))?.status ?? ''));
  return (await entryOf(server, id)) as ChatEntry;
}

/** Calls of a server over HTTP, with the token of the workspace. */
async function served(t: Test, { core }: StartedCore, token: string) {
  const transport = createHttpTransport(core, {});
  const url = await transport.listen(0, '127.0.0.1');
  t.teardown(() => transport.close());
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' };
  return async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
}

/** As after a kill of the server that has it: its row is gone, and nobody has heard of it. */
const givenUp = ({ ask }: Servers): Promise<unknown> => ask('delete from bh.node where id = (select owner from bh.block)');

t.test('a database', { skip: noPostgres }, async (t) => {
  t.test('two servers', async (t) => {
    const all = await servers(t);
    const { a, b } = all;

    t.test('what waits at one server is listed and decided over HTTP at the other, and both list what was decided', async (t) => {
      const { id } = await a.blocks.post('ada', { message: 'Pay bob.' }, 'api');
      const { id: approval, digest } = await asked(b, id);
      const token = (await a.core.token?.renew()) ?? '';
      const [first, second] = [await served(t, a, token), await served(t, b, token)];
      await untilSo('the other one has the token', async () => (await second('GET', '/api/approvals')).status === 200);
      t.match(await second('GET', '/api/approvals'), {
        status: 200,
        body: { approvals: [{ id: approval, block: 'ada', state: 'pending', digest }], cursor: null },
      });
      t.match(await second('GET', `/api/approvals/${approval}`), { status: 200, body: { approval: { id: approval } } });
      t.match(await second('GET', '/api/approvals?block=eve'), { body: { approvals: { length: 0 } } });
      const decision = { decision: 'approve', digest };
      t.match(await second('POST', `/api/approvals/${approval}`, decision), { status: 200, body: { approval: { id: approval, state: 'approved' } } });
      t.match(await outcome(b, id), { status: 'done' });
      t.equal(all.effects().length, 1);
      for (const call of [first, second]) {
        t.match(await call('GET', '/api/approvals'), { body: { approvals: { length: 0 } } });
        t.match(await call('GET', '/api/approvals?state=approved'), {
          body: { approvals: [{ id: approval, decision: 'approve', decidedBy: { channel: 'api' } }] },
        });
        t.match(await call('POST', `/api/approvals/${approval}`, decision), {
          status: 409,
          body: { code: 'APPROVAL_DECIDED', approval: { state: 'approved' } },
        });
      }
    });

    t.test('a call that waits at one server is decided at the other, and made once', async (t) => {
      const paid = all.effects().length;
      const { id } = await a.blocks.post('ada', { message: 'Pay bob.' }, 'api');
      const approval = await asked(b, id);
      await untilSo('the other one shows it', async () => (await b.blocks.details('ada')).pulse.state === 'waiting-approval');
      t.match((await b.blocks.details('ada')).pulse, { attention: true, queue: { queued: 0, processing: 1 } });
      t.match((await b.core.check()).findings, []);
      await t.rejects(b.blocks.decide('ada', 'a0', { decision: 'approve', digest: approval.digest }, BY), { code: 'APPROVAL_NOT_FOUND' });
      // Of two people, because the same decision of one person in the same millisecond is one decision.
      const decisions = await Promise.allSettled([
        a.blocks.decide('ada', approval.id, { decision: 'approve', digest: approval.digest }, BY),
        b.blocks.decide('ada', approval.id, { decision: 'approve', digest: approval.digest }, { ...BY, channel: 'api' }),
      ]);
      t.same(decisions.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'of two decisions one holds');
      t.match(await outcome(b, id), { status: 'done' });
      t.equal(all.effects().length, paid + 1);
      t.same(kindsOf(await recordsOf(a, id)), kindsOf(await recordsOf(b, id)));
      t.match((await b.blocks.history('ada')).at(-1), { content: /^Bank: /, steps: [{ call: '1.1', outcome: 'done' }] });
      t.same((await b.core.check()).findings, []);
    });

    t.test('a message that waits is cancelled at any server, and what was done is told', async (t) => {
      const paid = all.effects().length;
      const { id } = await a.blocks.post('ada', { message: 'Pay both.' }, 'api');
      const first = await asked(b, id);
      await b.blocks.decide('ada', first.id, { decision: 'approve', digest: first.digest }, BY);
      await untilSo('the second call waits', async () => {
        const asks = (await recordsOf(b, id)).filter(({ t: kind }) => kind === 'ask');
        return asks.length === 2 && (await entryOf(b, id))?.status === 'waiting-approval';
      });
      const [row] = await all.ask('select owner from bh.block');
      const other = row?.['owner'] === a.core.storeHealth?.node ? b : a;
      t.match(await other.blocks.cancel('ada', id), { id, status: 'cancelled' });
      t.match(
        (await recordsOf(a, id)).slice(-3).map(({ t: kind }) => kind),
        ['decision', 'refused', 'end'],
      );
      const last = async (): Promise<ChatEntry | undefined> => (await a.blocks.history('ada')).at(-1);
      await untilSo('all servers show it', async () => (await last())?.replyTo === id);
      t.match(await last(), { status: 'interrupted', content: /bank\/pay/ });
      t.equal(all.effects().length, paid + 1);
      const { id: next } = await b.blocks.post('ada', { message: 'Next.' }, 'api');
      await asked(b, next);
      t.equal(first.block, 'ada');
    });
  });

  t.test('a block that waits is given back, and a decision, or its deadline, finds a server that goes on', async (t) => {
    const all = await servers(t, { tools: { servers: ['bank'], ask: ['bank/*'], approvals: { timeoutMs: 60_000 } } });
    const { a, b } = all;
    const { id } = await a.blocks.post('ada', { message: 'Pay bob.' }, 'api');
    const approval = await asked(b, id);
    const [{ id: owner } = { id: '' }] = (await all.ask('select owner as id from bh.block')) as { id: string }[];
    const nodes = (await a.core.nodes()).map(({ id: node }) => node);
    await untilSo('its server is at rest', async () => (await b.blocks.details('ada')).pulse.state === 'waiting-approval');
    for (const node of nodes) await a.core.drain(node, true);
    await untilSo('it is given back', async () => (await all.ask('select owner from bh.block'))[0]?.['owner'] === null);
    t.match(await all.ask('select state, due_at from bh.block'), [{ state: 'waiting-approval', due_at: new Date(approval.expiresAt) }]);
    t.match(await b.blocks.details('ada'), { pulse: { state: 'waiting-approval' } });
    await b.blocks.post('ada', { message: 'Behind it.' }, 'api');
    t.match(await b.blocks.decide('ada', approval.id, { decision: 'deny', digest: approval.digest, note: 'not on a Friday' }, BY), { id: approval.id });
    for (const node of nodes.filter((one) => one !== owner)) await a.core.drain(node, false);
    t.match(await outcome(b, id), { status: 'done' });
    t.match(
      (await recordsOf(b, id)).find(({ t: kind }) => kind === 'refused'),
      { code: 'denied', note: /not on a Friday/ },
    );
    t.equal(all.effects().length, 0);
    const second = (await b.blocks.history('ada')).find(({ content }) => content === 'Behind it.')?.id ?? '';
    const late = await asked(b, second);
    await all.ask(`update bh.run_record set record = replace(record, '${late.expiresAt}', '2026-01-01T00:00:00.000Z')`);
    await all.ask("update bh.block set due_at = '2026-01-01', owner = null, decided = true");
    t.match(await outcome(b, second), { status: 'done' });
    t.match(
      (await recordsOf(b, second)).find(({ t: kind }) => kind === 'decision'),
      { decision: 'expire' },
    );
    t.equal(all.effects().length, 0);
  });

  t.test('a call of a server that was given up is unknown to the next one, which does not repeat it', async (t) => {
    const say = ({ results }: Seen): Said => (results.length === 0 ? [pay('bob', { answerAfterMs: 60_000 })] : `Bank: ${results.join(' ')}`);
    const all = await servers(t, { say, tools: { servers: ['bank'], allow: ['bank/*'] } });
    const { a, b } = all;
    const { id } = await a.blocks.post('ada', { message: 'Pay bob.' }, 'api');
    await untilSo('it is paid', async () => all.effects().length === 1);
    await givenUp(all);
    t.match(await outcome(b, id), { status: 'done' });
    await delay(1500); // the one that was given up has looked since
    t.equal(all.effects().length, 1);
    const records = await recordsOf(b, id);
    t.match(
      records.filter(({ t: kind }) => kind === 'unknown'),
      [{ call: '1.1', why: /server ended while it ran/ }],
    );
    t.equal(records.filter(({ t: kind }) => kind === 'result').length, 0, 'its result was refused');
    t.match((await a.blocks.history('ada')).at(-1), { steps: [{ call: '1.1', outcome: 'unknown' }] });
  });
});
