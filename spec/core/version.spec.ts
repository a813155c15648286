import { readFileSync } from 'node:fs';
import t from 'tap';
import { VERSION } from '../../core/version.ts';

t.test('the version is the one in package.json', async (t) => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  t.equal(VERSION, manifest.version);
});
