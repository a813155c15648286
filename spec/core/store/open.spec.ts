import { join } from 'node:path';
import t from 'tap';
import { openSettings } from '../../../core/store/open.ts';

t.test('the store of a workspace is its folder', async (t) => {
  const workspace = t.testdir({ 'halted.json': 'text' });
  const codec = { parse: (text: string | undefined) => text, format: (text: string) => text };
  const setting = openSettings(workspace).open('halt', codec, () => undefined);
  t.equal(setting.place, join(workspace, 'halted.json'));
  t.equal(setting.now().good, 'text');
});
