import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createBus } from '../../../../../core/bus.ts';
import { openFileSide } from '../../../../../core/store/files/copy/file-side.ts';
import { openStore } from '../../../../../core/store/open.ts';
import { configOf } from '../../../../support/block-files.ts';
import { testFolder } from '../../../../support/test-folder.ts';

const TOKEN = `bh_${'a'.repeat(43)}`;
const note = { source: 's', from: 'elsewhere', isWhole: false };

t.test('a folder is locked while it is a side of a copy, and so is none of a server', async (t) => {
  const folder = testFolder(t);
  const side = await openFileSide(folder);
  await t.rejects(openStore({ workspace: folder, bus: createBus(), now: Date.now, onLost: async () => undefined }), { code: 'WORKSPACE_BUSY' });
  await t.rejects(openFileSide(folder), { code: 'WORKSPACE_BUSY' });
  await side.close();
  t.same(readdirSync(folder), []);
});

t.test('a folder that is not there is made with the first write', async (t) => {
  const folder = join(testFolder(t), 'new');
  const side = await openFileSide(folder);
  t.match([side.isThere, await side.isEmpty(), await side.places(), await side.note()], [false, true, [], undefined]);
  await side.close();
  t.throws(() => readdirSync(folder), { code: 'ENOENT' });
  const again = await openFileSide(folder);
  await again.setNote(note);
  t.same([again.isThere, await again.note()], [true, note]);
  await again.close();
});

t.test('what is of the machine makes no workspace, and everything else does', async (t) => {
  const folder = testFolder(t, { 'auth.json': '{}', '.api-token': TOKEN, 'prices.json': '{}', logs: {}, blocks: { 'No Block': {} }, archive: { x: {} } });
  const isEmpty = async (): Promise<boolean> => {
    const side = await openFileSide(folder);
    const empty = await side.isEmpty();
    await side.close();
    return empty;
  };
  t.ok(await isEmpty());
  writeFileSync(join(folder, 'keys.json'), '{}');
  t.notOk(await isEmpty());
});

t.test('of the token only the hash leaves the folder, and none comes', async (t) => {
  const folder = testFolder(t, { '.api-token': `${TOKEN}\n`, 'auth.json': '{"secret":1}', 'models.json': '{"a":1}', 'halted.json': '{}' });
  const side = await openFileSide(folder);
  t.strictSame(
    [...(await side.settings())],
    [
      ['halt', '{}'],
      ['models', '{"a":1}'],
      ['token', createHash('sha256').update(TOKEN).digest('hex')],
    ],
  );
  await side.putSettings(
    new Map([
      ['keys', '{}'],
      ['token', 'hash'],
      ['presets', '{"p":1}'],
    ] as const),
  );
  await side.close();
  t.same(readdirSync(folder).sort(), ['.api-token', 'auth.json', 'keys.json', 'presets.json']);
  t.equal(readFileSync(join(folder, '.api-token'), 'utf8'), `${TOKEN}\n`);
});

t.test('a block is replaced as a whole, and nothing else lies there', async (t) => {
  const folder = testFolder(t, { blocks: { a: { 'config.json': JSON.stringify(configOf({ description: 'old' })), 'notes.txt': '' } } });
  mkdirSync(join(folder, 'blocks/.new.0123456789abcdef.tmp'));
  writeFileSync(join(folder, 'gateway-ledger.jsonl.3.tmp'), '');
  const side = await openFileSide(folder);
  await side.setNote(note);
  const block = await side.block('blocks/a');
  await side.put({ ...block, documents: { ...block.documents, config: configOf({ description: 'new' }) } });
  t.match(await side.block('blocks/a'), { documents: { config: { description: 'new' } }, left: [] });
  await side.put({ ...block, place: 'blocks/b', documents: { ...block.documents, config: configOf({}, 'b') } });
  t.same(await side.places(), ['blocks/a', 'blocks/b']);
  await side.remove('blocks/a');
  await t.rejects(
    side.put({
      ...block,
      async *entries() {
        yield* [];
        throw new Error('the source is gone');
      },
    }),
    { message: 'the source is gone' },
  );
  t.same(readdirSync(join(folder, 'blocks')), ['b']);
  await side.close();
  t.same(readdirSync(folder).sort(), ['.copy.json', 'archive', 'blocks']);
});

t.test('a rename that broke off is ended by a server first', async (t) => {
  const side = await openFileSide(testFolder(t, { archive: { '.rename.json': '{}' } }));
  await t.rejects(side.assertUnused(), { code: 'WORKSPACE_DAMAGED', message: /A rename in .* was interrupted/ });
  await side.close();
});
