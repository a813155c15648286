import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type SaidText, stampOfTexts, textsOf } from '../../../../../core/store/files/search/block-texts.ts';
import { type Fit, SEARCH_FILES, SearchFiles } from '../../../../../core/store/files/search/search-files.ts';
import { testFolder } from '../../../../support/test-folder.ts';

const NEVER = new AbortController().signal;
const AT = '2026-11-20T10:00:00.000Z';

async function* texts(...all: string[]): AsyncGenerator<SaidText> {
  for (const [index, text] of all.entries()) yield { by: 'message', id: `id ${index}\n`, at: AT, text };
}

async function fits(files: SearchFiles, ...words: string[]): Promise<Fit[]> {
  const all: Fit[] = [];
  await files.find(words, { wants: () => true, onFit: (fit) => all.push(fit) }, NEVER);
  return all;
}

t.test('each block has the texts of its last record, and a text is given back as it was', async (t) => {
  const workspace = testFolder(t, {});
  const files = await SearchFiles.open(workspace);
  t.teardown(() => files.close());
  await files.put('blocks/a', 1, texts('One\tand\nTWO', 'two'));
  await files.put('blocks/b', 2, texts('two'));
  await files.put('blocks/a', -3, texts('Two, Three'));
  await files.put('blocks/c', 4, texts());
  t.same([...files.keys].sort(), ['blocks/a', 'blocks/b', 'blocks/c']);
  t.equal(files.stampOf('blocks/a'), -3);
  const [b, a, ...others] = await fits(files, 'two');
  t.match([b, a], [{ key: 'blocks/b' }, { key: 'blocks/a', by: 'message', id: 'id 0\n', at: AT }]);
  t.same(others, []);
  t.equal(await files.textOf(a as Fit), 'Two, Three');
  t.same(await fits(files, 'message'), [], 'what stands before a text is no text');
  files.forget('blocks/a');
  t.equal((await fits(files, 'two')).length, 1);
});

t.test('a block that fails in the middle leaves its older record', async (t) => {
  const files = await SearchFiles.open(testFolder(t, {}));
  t.teardown(() => files.close());
  await files.put('blocks/a', 1, texts('old'));
  const failing = async function* (): AsyncGenerator<SaidText> {
    yield* texts('new');
    throw new Error('damaged');
  };
  await t.rejects(files.put('blocks/a', 2, failing()), { message: 'damaged' });
  await files.put('blocks/b', 3, texts('next'));
  t.equal((await fits(files, 'old')).length, 1);
  t.equal((await fits(files, 'new')).length, 0);
  t.equal(await files.textOf((await fits(files, 'next'))[0] as Fit), 'next');
});

t.test('an index of which more than half counts no more is worn, unless it is small', async (t) => {
  const files = await SearchFiles.open(testFolder(t, {}));
  t.teardown(() => files.close());
  const long = 'x'.repeat(3_000_000);
  for (const stamp of [1, 2, 3]) await files.put('blocks/a', stamp, texts(long));
  t.equal(files.isWorn, false);
  await files.put('blocks/a', 4, texts(long));
  t.equal(files.isWorn, true);
  await files.clear();
  t.same([files.isWorn, [...files.keys]], [false, []]);
});

t.test('a file that is cut to nothing is made again, and one that is in use is known by its place', async (t) => {
  const workspace = testFolder(t, {});
  const files = await SearchFiles.open(workspace);
  await files.put('blocks/a', 1, texts('one'));
  t.equal(await files.isThere(workspace), true);
  await files.close();
  truncateSync(join(workspace, SEARCH_FILES[1]), 0);
  const again = await SearchFiles.open(workspace);
  t.teardown(() => again.close());
  t.same([...again.keys], []);
  t.equal(statSync(join(workspace, SEARCH_FILES[0])).size, statSync(join(workspace, SEARCH_FILES[1])).size);
});

t.test('a folder without files has no texts, and its stamp changes with the first', async (t) => {
  const folder = testFolder(t, { empty: {}, one: { 'chat.json': '[{"role": "user", "content": "by hand"}]' } });
  const [empty, one] = [join(folder, 'empty'), join(folder, 'one')];
  const all = async (folder: string): Promise<SaidText[]> => {
    const found: SaidText[] = [];
    for await (const text of textsOf(folder)) found.push(text);
    return found;
  };
  t.same(await all(empty), []);
  t.same(await all(one), [{ by: 'message', id: '', at: '', text: 'by hand' }], 'an entry that a person wrote has neither id nor time');
  t.not(stampOfTexts(empty), stampOfTexts(one));
});
