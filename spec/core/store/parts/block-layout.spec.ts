import t from 'tap';
import { BLOCK_FILE_LIMITS, BLOCK_FOLDERS } from '../../../../core/store/parts/block-layout.ts';
import { FILE_NAMES } from '../../../../core/store/files/block/files.ts';

t.test('every file of a block has a limit, and its folders are listed', (t) => {
  t.same(Object.keys(BLOCK_FILE_LIMITS).sort(), [...FILE_NAMES, 'schedule'].map((name) => `${name}.json`).sort());
  for (const { bytes } of Object.values(BLOCK_FILE_LIMITS)) t.ok(bytes >= 1024 * 1024 && bytes <= 64 * 1024 * 1024);
  t.same(BLOCK_FOLDERS, ['chat-archive', 'logs']);
  t.end();
});
