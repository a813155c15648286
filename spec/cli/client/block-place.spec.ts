import t from 'tap';
import { isBlock, nearestBlock } from '../../../cli/client/block-place.ts';

t.test('a folder among the blocks is a block, if its name may be one', async (t) => {
  const workspace = t.testdir({ blocks: { ada: {}, file: '', Odd: {} }, secret: {} });
  const found = await Promise.all(['ada', 'file', 'Odd', 'none', '..', '../secret', 'why is it?', ''].map((name) => isBlock(workspace, name)));
  t.same(found, [true, false, false, false, false, false, false, false]);
  t.equal(await isBlock(`${workspace}/blocks/file`, 'ada'), false);
});

t.test('a misspelt name finds the block that was meant', async (t) => {
  const workspace = t.testdir({ blocks: { ada: {}, support: {} } });
  t.equal(await nearestBlock(workspace, 'adda'), 'ada');
  t.equal(await nearestBlock(workspace, 'suport'), 'support');
  t.equal(await nearestBlock(workspace, 'hello'), undefined);
  t.equal(await nearestBlock(`${workspace}/none`, 'ada'), undefined);
});
