// Journals where several servers write: who may append, what a decision does, and what is listed. The laws of all stores are in spec/conformance/store/.
import t, { type Test } from 'tap';
import type { Claim } from '../../../../core/store/port.ts';
import { PostgresConversation } from '../../../../core/store/postgres/conversation.ts';
import { PostgresMembership as Membership } from '../../../../core/store/postgres/membership.ts';
import { PostgresApprovals } from '../../../../core/store/postgres/runs.ts';
import type { RunRecord } from '../../../../core/types.ts';
import { fullAnswer } from '../../../conformance/store/conversation-suite.ts';
import { blockIn, type Migrated, migrated } from '../../../support/migrated.ts';
import { type Owned, owned } from '../../../support/owned.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { answerRecord, approvalOf, callRecord, modelRecord, resultRecord, runRecord } from '../../../support/tools/records.ts';

const RULES = { staleAfterMs: Number.POSITIVE_INFINITY, maxAttempts: 3 };
const SOON = '2999-01-01T00:00:00.000Z';
const LATER = '2999-01-02T00:00:00.000Z';
const begun = [runRecord(), modelRecord(1), answerRecord(1, [])];
const askFor = (id: string, expiresAt = SOON): RunRecord => ({ t: 'ask', call: '1.1', approval: approvalOf(id, { expiresAt }) });
const decide = (approval: string, decision: 'approve' | 'deny' = 'approve', at = '2026-11-28T12:00:01.000Z'): RunRecord => ({
  t: 'decision',
  approval,
  decision,
  by: { channel: 'cli', name: 'token' },
  at,
});

interface Server {
  readonly node: Membership;
  take(block: number): Promise<Claim>;
  conversation(block: number, claim?: Claim): Owned;
}

async function servers(t: Test): Promise<Migrated & { readonly block: number; readonly a: Server; readonly b: Server }> {
  const world = await migrated(t);
  const join = async (): Promise<Server> => {
    const database = await world.open();
    const node = await Membership.join(database, { version: '1.0.0', url: null });
    return {
      node,
      take: async (block) => {
        const claim = await node.take({ name: 'ada', block });
        if ('heldBy' in claim) throw new Error('somebody has it');
        return claim;
      },
      conversation: (block, claim) => owned(new PostgresConversation({ database, block, at: () => new Date().toISOString() }), claim),
    };
  };
  return { ...world, block: await blockIn(world, 'ada'), a: await join(), b: await join() };
}

const post = async (conversation: Owned): Promise<string> => {
  const added = await conversation.append({ content: 'pay', channel: 'web', clientId: undefined, cap: 100 });
  return 'entry' in added ? added.entry.id : '';
};

/** A message of `a` that waits for these, whose block was given back until the first deadline. */
async function waiting(t: Test, ids: readonly string[], expiresAt = SOON) {
  const world = await servers(t);
  const claim = await world.a.take(world.block);
  const owner = world.a.conversation(world.block, claim);
  const id = await post(owner);
  await owner.begin(id);
  await owner.appendSteps(id, 0, [...begun, ...ids.map((one) => askFor(one, expiresAt))]);
  await owner.requeue(id, { countsAsAttempt: false, waitingFor: ids });
  const due = async () => (await world.ask('select due_at, owner, held, processing from bh.block'))[0] as { due_at: Date | null; owner: string | null };
  return { ...world, claim, owner, id, due };
}

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a server that has lost the block appends and keeps nothing, and the call that it made is unknown to the next one', async (t) => {
    const { a, b, block, ask } = await servers(t);
    const before = a.conversation(block, await a.take(block));
    const id = await post(before);
    await before.begin(id);
    await before.appendSteps(id, 0, [...begun, callRecord('1.1')]);
    await ask('update bh.block set owner = null');
    const now = b.conversation(block, await b.take(block));
    await t.rejects(before.appendSteps(id, 4, [resultRecord('1.1')]), { code: 'LEASE_LOST' });
    await t.rejects(before.appendSteps(id, 0, begun), { code: 'LEASE_LOST' }, 'also what is there already');
    await t.rejects(before.keepResult(id, '1.1', Buffer.from('{}')), { code: 'LEASE_LOST' });
    t.same(
      (await now.steps(id)).map(({ t: kind }) => kind),
      ['run', 'model', 'answer', 'call'],
    );
    t.equal(await now.result(id, '1.1'), undefined);
    await now.appendSteps(id, 4, [{ t: 'unknown', call: '1.1', why: 'the server ended while it ran' }]);
    t.equal((await now.steps(id)).length, 5);
  });

  t.test('a message that waits is due at its deadline, and at once when somebody has decided, wherever', async (t) => {
    const { a, b, block, claim, owner, id, due, ask } = await waiting(t, ['a1', 'a2'], SOON);
    t.match(await due(), { due_at: new Date(SOON), held: 1, processing: 1 }, 'also if its server ends now');
    t.equal(await a.node.release(claim, { state: 'waiting-approval', dueAt: SOON }), true);
    t.match(await due(), { due_at: new Date(SOON), owner: null });
    t.same((await b.node.look(10)).claimed, []);
    await b.conversation(block).decide(id, 5, [decide('a1')]);
    const { claimed } = await b.node.look(10);
    t.match(claimed, [{ block }]);
    await b.node.release(claimed[0] as Claim, { state: 'waiting-approval', dueAt: SOON });
    t.match(await due(), { due_at: new Date(SOON) }, 'it waits for the other one');
    t.match(
      await b
        .conversation(block)
        .recover(RULES)
        .catch((error: unknown) => error),
      { code: 'LEASE_LOST' },
    );
    await ask("update bh.block set due_at = clock_timestamp() - interval '1 s'");
    t.match((await a.node.look(10)).claimed, [{ block }], 'its deadline');
    t.match((await owner.entries())[0], { status: 'waiting-approval', waitingFor: ['a1', 'a2'] });
  });

  t.test('a decision that comes while its owner gives the block back is not slept through, and neither is a message behind a schedule', async (t) => {
    const { a, b, block, claim, id, due } = await waiting(t, ['a1']);
    await b.conversation(block).decide(id, 4, [decide('a1')]);
    await a.node.release(claim, { state: 'waiting-approval', dueAt: SOON });
    t.ok(Number((await due()).due_at) <= Date.now() + 1000);
    const again = await b.take(block);
    const owner = b.conversation(block, again);
    await owner.begin(id);
    await owner.settle(id, { status: 'done' }, fullAnswer(owner, id));
    await post(a.conversation(block));
    await b.node.release(again, { state: 'idle', dueAt: SOON });
    t.ok(Number((await due()).due_at) <= Date.now() + 1000, 'the message came after the last look of its owner');
  });

  t.test('what waits behind a message that waits for a person is not due', async (t) => {
    const { a, b, block, claim, due, owner, id } = await waiting(t, ['a1']);
    await post(b.conversation(block));
    t.match((await a.node.look(10)).mine, [{ block }], 'its owner looks');
    await a.node.release(claim, { state: 'waiting-approval', dueAt: SOON });
    t.match(await due(), { due_at: new Date(SOON) });
    await owner.cancel(id);
    t.match((await b.node.look(10)).claimed, [{ block }], 'now it has its turn');
  });

  t.test('nobody decides while a server works on the message', async (t) => {
    const { b, block, owner, id } = await waiting(t, ['a1']);
    await owner.begin(id);
    await t.rejects(b.conversation(block).decide(id, 4, [decide('a1')]), { code: 'WRONG_STATE', message: /works on the message/ });
    t.equal((await owner.steps(id)).length, 4);
    const deciding = b.conversation(block).decide(id, 4, [decide('a1')]);
    await owner.requeue(id, { countsAsAttempt: false, waitingFor: ['a1'] });
    await t.resolves(deciding, 'a moment later it waits again');
    await t.rejects(b.conversation(block).decide(id, 4, [decide('a1', 'deny')]), { code: 'REVISION_MISMATCH' }, 'the first one holds');
  });

  t.test('what waits in all blocks is one list, the next deadline first, and what was decided another, the newest first', async (t) => {
    const { a, database, ask, block } = await waiting(t, ['a1', 'a3'], LATER);
    const other = await blockIn({ ask }, 'eve');
    const eve = a.conversation(other, await a.take(other));
    const id = await post(eve);
    await eve.begin(id);
    await eve.appendSteps(id, 0, [...begun, askFor('a2'), askFor('a0', LATER)]);
    const approvals = new PostgresApprovals(database);
    const shown = async (query: Partial<Parameters<PostgresApprovals['list']>[0]> = {}): Promise<string[]> =>
      (await approvals.list({ decisions: undefined, limit: 10, ...query })).map((one) =>
        `${one.block} ${one.approval.id} ${one.decision?.decision ?? ''}`.trim(),
      );
    t.same(await shown(), ['eve a2', 'eve a0', 'ada a1', 'ada a3']);
    t.same(await shown({ limit: 2, after: { at: LATER, id: 'a0' } }), ['ada a1', 'ada a3']);
    t.same(await shown({ block: 'eve' }), ['eve a2', 'eve a0']);
    await eve.appendSteps(id, 5, [decide('a2', 'deny')]);
    await eve.appendSteps(id, 6, [decide('a0', 'approve', '2026-11-28T12:00:02.000Z')]);
    await eve.appendSteps(id, 7, [decide('a0', 'deny', '2026-11-28T12:00:03.000Z')]);
    t.same(await shown(), ['ada a1', 'ada a3']);
    const both = ['approve', 'deny'];
    t.same(await shown({ decisions: both }), ['eve a0 approve', 'eve a2 deny'], 'the first decision counts');
    t.same(await shown({ decisions: both, after: { at: '2026-11-28T12:00:02.000Z', id: 'a0' } }), ['eve a2 deny']);
    t.same(await shown({ decisions: ['expire'] }), []);
    t.match(await approvals.find('a0'), { block: 'eve', approval: { id: 'a0', tool: 'bank/pay' }, decision: { by: { channel: 'cli' } } });
    t.equal(await approvals.find('nobody \0'), undefined);
    await ask("update bh.block set name = 'bob' where id = $1", [block]);
    t.same(await shown(), ['bob a1', 'bob a3'], 'by the name that it has now');
    await ask("update bh.block set archive_name = 'x' where id = $1", [block]);
    t.same(await shown(), []);
  });

  t.test('a journal that was damaged in the database is named', async (t) => {
    const { owner, id, ask } = await waiting(t, ['a1']);
    await ask('update bh.run_record set record = \'{"t":"call"}\' where seq = 1');
    await t.rejects(owner.steps(id), { code: 'BLOCK_DAMAGED', message: /\.jsonl can't be used: line 2: .*Repair it in the database/ });
  });

  t.test('the records of what is deleted are gone, and those of a message with an odd id have their place', async (t) => {
    const { a, block } = await servers(t);
    const owner = a.conversation(block, await a.take(block));
    const id = await post(owner);
    for (const one of [id, 'not a plain id']) await owner.appendSteps(one, 0, [...begun, askFor(`a${one.length}`)]);
    t.equal(await owner.clearSteps(), 1, 'of the message that is there, they stay');
    t.equal((await owner.steps(id)).length, 4);
    t.same(await owner.steps('not a plain id'), []);
  });
});
