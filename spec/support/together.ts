// Several specs in one process, one after the other, in their compiled form. Each of them runs alone as well.
//
// one-limit: the runner limits the time of a process. A spec that sets its own limit means the time that it takes alone.
// stays-here: a test works at the root of the repository. tap goes into the folder above that of a test before it removes it, if it lies elsewhere.
// one-day: what a key has spent today is nothing after midnight UTC, and servers in other processes go by the clock of the machine. So no spec begins shortly before midnight.
import './late-optimization.ts';
import './whole-writes.ts';
import './stray-errors.ts'; // before-tap
import './cheap-assertions.ts';
import './no-request-scope.ts';
import { resolve } from 'node:path';
import { env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { compiledPath } from './compile.ts';
import { CpuNotes } from './cpu-time.ts';
import { TEST_FOLDERS } from './memory-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DAY_MS = 86_400_000;
/** More than any spec takes. */
const LAST_MS = 60_000;

/** Paths are relative to the root of the repository. Before each spec, `begin` is called with its path: the one before has ended. */
export async function runTogether(specs: readonly string[], begin: (spec: string) => Promise<void> | void = () => undefined): Promise<void> {
  t.setTimeout = () => undefined; // one-limit
  const folders = env[TEST_FOLDERS];
  if (folders !== undefined) {
    t.testdirName = folders; // those of all tests have names that begin so
    process.chdir = () => undefined; // stays-here
  }
  let loaded = 0;
  const notes = new CpuNotes();
  for (const spec of specs) {
    // Tests run in the order of their registration, so a spec is loaded when the tests of the one before have ended. tap must not be idle
    // in between: it would take the first spec with a teardown of its own for the last one.
    await t.test(`${spec} can be loaded`, async () => {
      loaded += 1;
      const leftMs = DAY_MS - (Date.now() % DAY_MS);
      if (leftMs < LAST_MS) await sleep(leftMs); // one-day
      notes.begin(spec);
      await begin(spec);
      await import(pathToFileURL(resolve(ROOT, compiledPath(spec))).href);
    });
  }
  // tap refuses tests after its end, but does not fail for them.
  if (loaded < specs.length) throw new Error(`tap ended before ${specs[loaded]} was loaded`);
}
