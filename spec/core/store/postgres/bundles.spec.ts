import t from 'tap';
import { createBus } from '../../../../core/bus.ts';
import type { ChatEntry } from '../../../../core/schemas/chat-entry.ts';
import { openStore } from '../../../../core/store/open.ts';
import { bundleEntries } from '../../../../core/store/parts/bundle-entries.ts';
import { packed } from '../../../../core/store/parts/bundle-pack.ts';
import { packBlock } from '../../../../core/store/postgres/bundles.ts';
import { AT, answerEntry, configOf, userEntry } from '../../../support/block-files.ts';
import { noPostgres } from '../../../support/postgres.ts';
import { postgresPlace, QUIET, refOf } from '../../../support/postgres-store.ts';
import { testFolder } from '../../../support/test-folder.ts';

async function filesOf(bundle: Uint8Array): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const { path, isFolder, entry } of bundleEntries(bundle)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of entry.body) chunks.push(chunk);
    if (!isFolder) files.set(path, Buffer.concat(chunks).toString());
  }
  return files;
}

const whole = (files: Map<string, string>): unknown[] => {
  const old = [...files].filter(([path]) => /^chat-archive\/\d/.test(path)).sort();
  const lines = old.flatMap(([, text]) => text.split('\n').filter((line) => line !== ''));
  const entries = [...lines.map((line) => JSON.parse(line) as ChatEntry), ...(JSON.parse(files.get('chat.json') ?? '[]') as ChatEntry[])];
  return entries.map((entry) => ({ attempts: 0, error: null, ...entry }));
};

t.test('PostgreSQL', { skip: noPostgres }, async (t) => {
  t.test('a block goes from files into the database and back with the same documents, messages and logs', async (t) => {
    const workspace = testFolder(t);
    const files = await openStore({ workspace, bus: createBus(), now: Date.now, onLost: async () => undefined });
    t.teardown(() => files.close());
    await files.blocks.open();
    await files.blocks.create(configOf({ description: 'NUL \0 and half \ud83d', tags: ['x'] }));
    const block = files.blocks.block({ name: 'a', block: 0 }, QUIET);
    t.teardown(() => block.close());
    const { conversation, memory } = block.documents;
    const claim = { name: 'a', block: 0, owner: '', fence: 1 };
    for (let n = 0; n < 300; n += 1) {
      const added = await conversation.append({ content: `hi \0 ${n}`, channel: 'cli', clientId: `c${n}`, cap: 10_000 });
      if (!('entry' in added)) throw new Error('it is new');
      await conversation.settle(claim, added.entry.id, { status: 'done' }, { ...answerEntry(conversation.newId(), added.entry.id), content: '😀' });
    }
    await conversation.append({ content: 'waits', channel: 'cli', clientId: undefined, cap: 10_000 });
    await memory.update((value) => ({ value: { ...value, summary: 'half \udc00' }, result: undefined }));
    block.log.open('one');
    block.log.write('INFO', 'event', { text: 'é' });
    await block.log.flush();
    const before = await filesOf(await block.pack());

    const { open } = await postgresPlace(t);
    const store = await open();
    t.same(await store.archive.import(await block.pack(), 'b', async () => undefined), { name: 'b', unconfirmed: undefined });
    const stored = store.blocks.block(await refOf(store, 'b'), QUIET);
    t.ok(typeof packBlock === 'function');
    const after = await filesOf(await stored.pack());
    t.same(whole(after), whole(before), 'a missing count of attempts is 0');
    for (const path of ['memory.json', 'costs.json', 'pulse.json', ...[...before.keys()].filter((path) => path.startsWith('logs/'))])
      t.equal(after.get(path), before.get(path), path);
    const { name, rev, updatedAt, enabled, ...config } = JSON.parse(after.get('config.json') ?? '') as Record<string, unknown>;
    t.match(JSON.parse(before.get('config.json') ?? ''), config);
    t.match({ name, enabled, rev }, { name: 'b', enabled: false, rev: 2 });
    t.ok(updatedAt !== AT);
    t.match(await stored.documents.conversation.append({ content: 'again', channel: 'cli', clientId: 'c3', cap: 10_000 }), {
      isNew: false,
      entry: { content: 'hi \0 3' },
    });
    t.match(await stored.documents.conversation.append({ content: 'new', channel: 'cli', clientId: undefined, cap: 10_000 }), { position: 1 });
    t.same(await files.archive.import(await stored.pack(), 'c', async () => undefined), { name: 'c', unconfirmed: undefined });
    t.equal((await files.blocks.contents('c', QUIET)).memory.summary, 'half \udc00');

    const back = files.blocks.block({ name: 'c', block: 0 }, QUIET);
    t.teardown(() => back.close());
    const sentAgain = await back.documents.conversation.append({ content: 'again', channel: 'cli', clientId: 'c3', cap: 10_000 });
    t.match(sentAgain, { archivedId: String }, 'what the client of an old message sends again is known here, too');
  });

  t.test('a hostile bundle is refused or read in turns, and takes nothing from others', async (t) => {
    const { open } = await postgresPlace(t);
    const store = await open();
    const [message, answer] = [userEntry('m1', { status: 'done' }), answerEntry('m2', 'm1')];
    const bundleOf = (files: Record<string, string>): Promise<Uint8Array> => packed('a', inOrder({ 'config.json': JSON.stringify(configOf({})), ...files }));
    const importing = async (files: Record<string, string>) => store.archive.import(await bundleOf(files), 'b', async () => undefined);
    const line = (entry: object): string => `${JSON.stringify(entry)}\n`;

    const refused: [files: Record<string, string>, message: RegExp][] = [
      [{ 'chat-archive/2026-01.jsonl': '{}\n'.repeat(20_000) }, /2026-01\.jsonl .* more than 10000 lines that are no messages/],
      [{ 'chat.json': JSON.stringify([{ ...message, id: 'm\0' }]) }, /chat\.json .*\[0\]: id has a NUL/],
      [{ 'chat.json': JSON.stringify([message, { ...answer, replyTo: '\ud800' }]) }, /chat\.json .*\[1\]: replyTo/],
    ];
    for (const [files, text] of refused) await t.rejects(importing(files), { code: 'INVALID_REQUEST', message: text });

    let turns = 0;
    const count = (): void => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const old = `${'\n'.repeat(8_000_000)}${line(message)}${'['.repeat(100_000)}\n${line({ ...answer, id: 'm\0' })}${line(answer)}`;
    t.match(await importing({ 'chat-archive/2026-01.jsonl': old }), { name: 'b' });
    clearImmediate(counting);
    t.ok(turns > 10, `${turns} turns of the event loop`);
    const { conversation } = store.blocks.block(await refOf(store, 'b'), QUIET).documents;
    t.same(
      (await conversation.page({ limit: 10, before: undefined, since: undefined })).map(({ id }) => id),
      ['m1', 'm2'],
    );
    t.match(
      await conversation.append({ content: 'hi', channel: 'cli', clientId: undefined, cap: 10 }),
      { isNew: true, position: 0 },
      'though the ids of the others sort after all that Blockhouse makes',
    );
  });
});

async function* inOrder(files: Record<string, string>) {
  for (const [path, text] of Object.entries(files)) yield { path, bytes: Buffer.from(text), mtime: new Date(AT) };
}
