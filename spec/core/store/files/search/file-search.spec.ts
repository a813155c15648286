import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FileSearch } from '../../../../../core/store/files/search/file-search.ts';
import { SEARCH_FILES } from '../../../../../core/store/files/search/search-files.ts';
import { answerEntry, userEntry } from '../../../../support/block-files.ts';
import { searchIn } from '../../../../support/search-in.ts';
import { withSmallDisk } from '../../../../support/small-disk.ts';
import { testFolder } from '../../../../support/test-folder.ts';

function rig(t: Test) {
  const workspace = testFolder(t, { blocks: {}, archive: {} });
  const folder = (name: string): string => join(workspace, 'blocks', name);
  const places = { blocks: join(workspace, 'blocks'), archive: join(workspace, 'archive') };
  const open = (): FileSearch => {
    const search = new FileSearch(workspace, places);
    t.teardown(() => search.close());
    return search;
  };
  const search = open();
  const idsOf = async (query: string, limit = 20, from = search): Promise<string> => {
    const { found } = await searchIn(from, query, { limit });
    return found.map(({ block, id }) => `${block}/${id}`).join(' ');
  };
  return {
    workspace,
    search,
    open,
    idsOf,
    write: (name: string, file: string, content: unknown) => {
      mkdirSync(folder(name), { recursive: true });
      writeFileSync(join(folder(name), file), typeof content === 'string' ? content : JSON.stringify(content));
    },
    folder,
  };
}

const at = (second: number) => ({ timestamp: new Date(1.7e12 + second * 1000).toISOString() });

t.test('what is changed, by whomever, is found by the next search, and what is gone is not', async (t) => {
  const { idsOf, write, folder } = rig(t);
  t.equal(await idsOf('anything'), '');
  write('one', 'chat.json', [userEntry('1', { content: 'Where is the KEY?', ...at(1) }), answerEntry('2', '1', { content: 'Under the mat.', ...at(2) })]);
  write('two', 'chat.json', [userEntry('3', { content: 'a key, a mat', ...at(3) })]);
  t.equal(await idsOf('key'), 'two/3 one/1', 'the newest first');
  t.equal(await idsOf('mat key'), 'two/3');
  t.equal(await idsOf('"the mat"'), 'one/2');
  t.equal(await idsOf('key', 1), 'two/3');
  write('two', 'chat.json', [userEntry('3', { content: 'nothing', ...at(3) })]);
  t.equal(await idsOf('key'), 'one/1');
  rmSync(folder('one'), { recursive: true });
  t.equal(await idsOf('key'), '');
});

t.test('a text with half of a character, which a model cut in two may leave, is found by what it has', async (t) => {
  const { idsOf, write } = rig(t);
  write('one', 'chat.json', JSON.stringify([userEntry('1', { content: 'red \ud83d car', ...at(1) }), userEntry('2', { content: 'red\0car', ...at(2) })]));
  t.equal(await idsOf('car'), 'one/2 one/1');
  t.equal(await idsOf('"red car"'), 'one/2', 'it stands for a character that is not known');
  t.equal(await idsOf('red\0car'), 'one/2');
});

t.test('archives of the chat, archived blocks and memories are searched', async (t) => {
  const { search, write, folder, workspace } = rig(t);
  write('one', 'chat.json', [userEntry('2', { content: 'active needle', ...at(2) })]);
  mkdirSync(join(folder('one'), 'chat-archive'));
  const old = [userEntry('1', { content: 'old needle', ...at(1) }), userEntry('2', { content: 'a needle that is active, too', ...at(2) })];
  writeFileSync(join(folder('one'), 'chat-archive', '2026-01.jsonl'), `${old.map((entry) => JSON.stringify(entry)).join('\n')}\ndamaged\n`);
  const window = { firstKeptId: null, messages: 0, tokens: 0, maxTokens: 1, percent: 0 };
  const facts = [{ id: 'f', text: 'a needle to remember', pinned: true }];
  write('one', 'memory.json', { summary: 'They looked for a needle.', summaryUpdatedAt: at(3).timestamp, facts, window, compactions: [], compactionCount: 0 });
  const archived = 'two_2026-11-20T10-00-00-000Z';
  mkdirSync(join(workspace, 'archive', archived));
  writeFileSync(join(workspace, 'archive', archived, 'chat.json'), JSON.stringify([userEntry('9', { content: 'put away needle', ...at(4) })]));
  const { found, total, isWhole } = await searchIn(search, 'needle', { limit: 20 });
  t.match(found, [
    { block: 'two', archive: archived, by: 'message', id: '9' },
    { block: 'one', archive: null, by: 'summary', id: null, excerpt: 'They looked for a needle.', marks: [[18, 24]] },
    { by: 'message', id: '2', excerpt: 'active needle' },
    { by: 'message', id: '1' },
    { by: 'fact', id: 'f', at: null },
  ]);
  t.match({ total, isWhole }, { total: 5, isWhole: true });
  t.equal((await searchIn(search, 'needle', { limit: 20, block: 'one' })).total, 4, 'of one block');
});

t.test('an index that is deleted, cut, foreign or a link is made again', async (t) => {
  const { idsOf, write, workspace, open, search } = rig(t);
  write('one', 'chat.json', [userEntry('1', { content: 'needle' })]);
  t.equal(await idsOf('needle'), 'one/1');
  const [index, text] = SEARCH_FILES.map((name) => join(workspace, name)) as [string, string];
  t.equal(statSync(index).mode & 0o777, 0o600);
  rmSync(index);
  rmSync(text);
  t.equal(await idsOf('needle'), 'one/1', 'deleted while it is in use');
  t.ok(existsSync(index));
  await search.close();
  const harms: [string, () => void][] = [
    ['cut', () => truncateSync(index, statSync(index).size - 1)],
    ['without its texts', () => rmSync(text)],
    ['foreign', () => writeFileSync(index, 'something else\n')],
    ['with more than it says', () => appendFileSync(index, 'x')],
    [
      'a link',
      () => {
        rmSync(index);
        symlinkSync(join(workspace, 'other'), index);
      },
    ],
  ];
  for (const [what, harm] of harms) {
    harm();
    const again = open();
    t.equal(await idsOf('needle', 20, again), 'one/1', what);
    await again.close();
  }
  t.notOk(existsSync(join(workspace, 'other')), 'nothing is written through the link');
});

t.test('the index is read by the next process as it is', async (t) => {
  const { idsOf, write, workspace, open, search } = rig(t);
  for (const name of ['one', 'two']) write(name, 'chat.json', [userEntry('1', { content: `needle ${'é'.repeat(700_000)} ${name}` })]);
  await idsOf('needle');
  await search.close();
  const before = readFileSync(join(workspace, SEARCH_FILES[0]));
  const next = open();
  t.equal((await searchIn(next, 'needle e', { limit: 5 })).total, 2, 'also texts that are longer than what is read at once');
  t.equal((await searchIn(next, 'two', { limit: 5 })).total, 1, 'the names of blocks are no texts');
  t.ok(readFileSync(join(workspace, SEARCH_FILES[0])).equals(before), 'nothing was written');
});

t.test('a block that is damaged is named, and what was known of it is still found', async (t) => {
  const { idsOf, write, search } = rig(t);
  write('one', 'chat.json', [userEntry('1', { content: 'needle' })]);
  await idsOf('needle');
  write('one', 'chat.json', '[{');
  write('two', 'chat.json', [userEntry('2', { content: 'needle' })]);
  const { total, unreadable, isWhole } = await searchIn(search, 'needle', { limit: 5 });
  t.match({ total, unreadable, isWhole }, { total: 2, unreadable: ['one'], isWhole: false });
});

t.test('who leaves costs nothing more, and a search that is under way ends with the server', async (t) => {
  const { search, write } = rig(t);
  write('one', 'chat.json', [userEntry('1', { content: 'needle' })]);
  await t.rejects(searchIn(search, 'needle', { signal: AbortSignal.abort(new Error('left')) }), { message: 'left' });
  const under = searchIn(search, 'needle').catch((error: unknown) => error);
  await search.close();
  const ended = await under;
  t.ok((ended as { total?: number }).total === 1 || (ended as { code?: string }).code === 'SHUTTING_DOWN');
  await t.rejects(searchIn(search, 'needle'), { code: 'SHUTTING_DOWN' });
});

t.test('an index whose texts were lost by a power cut is made again', async (t) => {
  const { search, open, write, workspace } = rig(t);
  write('one', 'chat.json', [userEntry('1', { content: 'needle' })]);
  await searchIn(search, 'needle');
  await search.close();
  const path = join(workspace, SEARCH_FILES[1]);
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0, bytes.indexOf('needle')));
  t.match((await searchIn(open(), 'needle')).found, [{ block: 'one', excerpt: 'needle' }]);
});

t.test('a disk that is full is said so, and leaves nothing wrong behind', async (t) => {
  const { search, write, workspace } = rig(t);
  const folder = join(workspace, 'small');
  mkdirSync(folder);
  const reason = await withSmallDisk(folder, async () => {
    const small = new FileSearch(folder, { blocks: join(workspace, 'blocks'), archive: join(workspace, 'archive') });
    write('one', 'chat.json', [userEntry('1', { content: 'small needle' })]);
    t.equal((await searchIn(small, 'needle')).total, 1);
    write('two', 'chat.json', [userEntry('2', { content: `needle ${'x'.repeat(400_000)}` })]);
    await t.rejects(searchIn(small, 'needle'), { code: 'STORAGE_FULL' });
    write('two', 'chat.json', [userEntry('2', { content: 'a smaller needle' })]);
    t.equal((await searchIn(small, 'needle')).total, 2);
    await small.close();
  });
  if (reason !== undefined) t.comment(reason);
  t.equal((await searchIn(search, 'needle')).total, reason === undefined ? 2 : 0);
});
