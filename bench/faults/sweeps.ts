// `npx tsx bench/faults/sweeps.ts`: the specs of which `npm test` takes a part of the inputs, each alone and with all of them.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SWEEP } from '../../spec/support/sweep.ts';
import { print, Verdict } from './verdict.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT_SECONDS = 900;

const names = readdirSync(join(ROOT, 'spec'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.spec.ts'));
// The suite of conformance/ sweeps for each of the specs that call it.
const specs = names.filter((name) => /\/sweep\.ts'|\/suite\.ts'/.test(readFileSync(join(ROOT, 'spec', name), 'utf8'))).sort();

const verdict = new Verdict();
for (const spec of specs) {
  const { status, stdout } = spawnSync(process.execPath, ['--import=tsx', `spec/${spec}`], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: String(LIMIT_SECONDS), [SWEEP]: '1' },
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  const counted = /^# (\{ total: .*\})$/m.exec(stdout)?.[1] ?? 'no tests';
  verdict.say(`all of ${spec}`, counted, 'no failure', status === 0 && counted !== 'no tests');
  if (status !== 0) print(stdout);
}
verdict.end();
