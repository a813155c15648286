import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { testFolder } from '../support/test-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The files that a program with the built library loads. */
function loadedBy(t: Test, program: string): string[] {
  const LOAD_WATCH = join(testFolder(t), 'loaded');
  // Without the environment of the runner, which counts what a process visits.
  execFileSync(process.execPath, [`--import=${join(ROOT, 'spec/support/load-watch.mjs')}`, '--input-type=module', '--eval', program], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], LOAD_WATCH },
  });
  return readFileSync(LOAD_WATCH, 'utf8').split('\n');
}

/** Also the part that has xstate. */
const isOfBlocks = (file: string): boolean =>
  /\/parts\/workspace-parts-\w+\.js$/.test(file) || (/\/parts\/.*\.js$/.test(file) && readFileSync(fileURLToPath(file), 'utf8').includes('xstate.init'));

t.test('a program that uses only the gateway loads no code for blocks', async (t) => {
  const program = `
    import { createCore } from 'blockhouse';
    import { createAdapters } from 'blockhouse/adapters';
    const core = createCore({ adapters: createAdapters(), workspace: ${JSON.stringify(testFolder(t))} });
    core.adapters();
    await core.prepare();
    await core.close();`;
  const loaded = loadedBy(t, program);
  t.ok(loaded.some((file) => file.endsWith('/core/public.js')));
  t.strictSame(loaded.filter(isOfBlocks), []);
});

t.test('a program that starts its core loads it', async (t) => {
  const program = `
    import { createCore } from 'blockhouse';
    const core = createCore({ adapters: [], workspace: ${JSON.stringify(testFolder(t))} });
    await core.start();
    await core.close();`;
  t.ok(loadedBy(t, program).filter(isOfBlocks).length > 1);
});
