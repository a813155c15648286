import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

const folders = new WeakMap<Test, string>();

/**
 * `t.testdir` for what still writes when the test ends. tap removes a folder before it runs the teardowns that were registered after it; with
 * one that is registered before, all of them come first. A further folder for the same test lies in the first one, which tap would empty under
 * whoever uses it; only the first can have files.
 */
export function testFolder(t: Test, files: Parameters<Test['testdir']>[0] = {}): string {
  const first = folders.get(t);
  if (first !== undefined) {
    if (Object.keys(files).length > 0) throw new Error('only the first folder of a test can have files');
    return mkdtempSync(join(first, 'further-'));
  }
  t.teardown(() => undefined);
  const folder = t.testdir(files);
  folders.set(t, folder);
  return folder;
}
