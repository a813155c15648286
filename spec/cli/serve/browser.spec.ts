import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isOpenedBy } from '../../../cli/serve/browser.ts';

t.test(
  'a program that takes the file has opened it; one that fails or is not there has not',
  { skip: process.platform !== 'linux' && 'the programs of the test are those of Linux' },
  async (t) => {
    const folder = t.testdir();
    const path = process.env['PATH'];
    t.teardown(() => {
      process.env['PATH'] = path;
    });
    process.env['PATH'] = folder;
    t.equal(await isOpenedBy('file'), false);
    const program = join(folder, 'xdg-open');
    for (const [status, isOpen] of [
      [0, true],
      [3, false],
    ] as const) {
      writeFileSync(program, `#!/bin/sh\nexit ${status}\n`);
      chmodSync(program, 0o755);
      t.equal(await isOpenedBy('file'), isOpen);
    }
  },
);
