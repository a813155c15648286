import t from 'tap';
import { PostgresBlock } from '../../../../core/store/postgres/stored-block.ts';
import { toldConversation } from '../../../../core/store/postgres/told-conversation.ts';
import { configOf } from '../../../support/block-files.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { claimOf, postgresPlace, QUIET, refOf } from '../../../support/postgres-store.ts';
import { until } from '../../../support/until.ts';

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('who watches a block hears of what other servers change, and of nothing afterwards', async (t) => {
    const { open } = await postgresPlace(t);
    const [a, b] = [await open(), await open()];
    await a.blocks.create(configOf());
    const ref = await refOf(a, 'a');
    const [here, heard] = [a.blocks.block(ref, QUIET), [] as string[]];
    const there = b.blocks.block(ref, { ...QUIET, onChanged: (document, { own }) => void heard.push(`${document} ${own}`) });
    t.ok(here instanceof PostgresBlock && typeof toldConversation === 'function');
    const unwatch = there.watch();
    await here.documents.config.update((value) => ({ value: { ...value, description: 'new' }, result: undefined }));
    await until('the configuration is heard of', () => heard.includes('config false'));
    t.match(await there.documents.config.read(), { description: 'new' });
    await here.documents.conversation.append({ content: 'hi', channel: 'api', clientId: undefined, cap: 10 });
    await until('the message is heard of', () => heard.includes('chat false'));
    t.match(await there.documents.conversation.entries(), [{ content: 'hi' }]);
    await here.documents.pulse.update((value) => ({ value: { ...value, restarts: 7 }, result: undefined }));
    await until('the pulse is heard of', () => heard.includes('pulse false'));
    t.match(await there.documents.pulse.read(), { restarts: 7 });
    unwatch();
  });

  t.test('a block that is stopped, or asked for, is asked back from its owner, and its standing says who has it', async (t) => {
    const { open } = await postgresPlace(t);
    const [a, b] = [await open(), await open()];
    await a.blocks.create(configOf({ enabled: true }));
    const claim = await claimOf(a, 'a');
    const [mine, theirs] = [await a.join(), await b.join()];
    const block = b.blocks.block(claim, QUIET);
    t.match(await block.standing(), { isRunning: true, heldBy: mine.node });
    const { conversation } = block.documents;
    const added = await conversation.append({ content: 'hi', channel: 'api', clientId: undefined, cap: 10 });
    if (!('entry' in added)) throw new Error('it is new');
    await conversation.begin(claim, added.entry.id);
    t.equal(await conversation.cancel(added.entry.id, undefined), 'asked');
    t.match((await mine.look(0)).wishes, [{ name: 'a', cancel: added.entry.id }]);
    t.match(await conversation.cancel(added.entry.id, claim), { entry: { status: 'cancelled' } });
    t.same((await mine.look(0)).wishes, []);
    await theirs.askFor(claim);
    t.match((await mine.look(0)).wishes, [{ name: 'a', cancel: null }]);
    t.equal(await mine.release(claim, { state: 'idle', dueAt: null }), true);
    const next = await theirs.take(claim);
    if ('heldBy' in next) throw new Error('nobody has it');
    t.same((await theirs.look(0)).wishes, []);
    await a.blocks.block(claim, QUIET).documents.config.update((value) => ({ value: { ...value, enabled: false }, result: undefined }));
    t.match((await theirs.look(0)).wishes, [{ name: 'a', cancel: null }]);
    t.match(await block.standing(), { isRunning: false, heldBy: theirs.node });
  });
});
