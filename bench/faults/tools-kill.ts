// kill -9 over payments: blocks pay through a tool in a process of its own, and their server is killed at named points and at any time. `--kills 1000`, `--seed 7`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { killPayments } from '../../spec/support/tools/kill-rig.ts';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '1000' }, seed: { type: 'string' } } });
const kills = Number(values.kills);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const folder = mkdtempSync(join(tmpdir(), 'tools-kill-'));
const begun = performance.now();
const { faults, points, ...figures } = await killPayments({ folder, kills, seed, blocks: 5, messages: 3 });
process.stdout.write(`seed ${seed}, ${Math.round((performance.now() - begun) / 1000)} s\n${JSON.stringify(figures)}\n${JSON.stringify(points)}\n`);
for (const fault of faults) process.stdout.write(`FAULT ${fault}\n`);
if (faults.length > 0) {
  process.stdout.write(`the workspaces are in ${folder}\n`);
  process.exitCode = 1;
} else rmSync(folder, { recursive: true, force: true });
