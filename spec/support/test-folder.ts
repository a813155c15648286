import type { Test } from 'tap';

/**
 * `t.testdir` for what still writes when the test ends. tap removes a folder before it runs the teardowns that were registered after it; with
 * one that is registered before, all of them come first.
 */
export function testFolder(t: Test, files: Parameters<Test['testdir']>[0] = {}): string {
  t.teardown(() => undefined);
  return t.testdir(files);
}
