// kill -9 over payments: blocks pay through a tool in a process of its own, and their server is killed at named points and at any time. `--kills 1000`, `--seed 7`. With
// `--tasks`, payments are tasks of their server; with `--forms`, each asks a person first. With `--database`, two servers share a PostgreSQL, and one of them is killed (200 kills).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Test } from 'tap';
import { noPostgres, postgresStore } from '../../spec/support/postgres.ts';
import { killPayments } from '../../spec/support/tools/kill-rig.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string' },
    seed: { type: 'string' },
    database: { type: 'boolean', default: false },
    tasks: { type: 'boolean', default: false },
    forms: { type: 'boolean', default: false },
  },
});
const kills = Number(values.kills ?? (values.database ? '200' : '1000'));
if (values.database && noPostgres !== false) throw new Error(noPostgres);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const folder = mkdtempSync(join(tmpdir(), 'tools-kill-'));
const begun = performance.now();
const teardowns: (() => unknown)[] = [];
const test = { teardown: (end: () => unknown) => void teardowns.unshift(end) } as unknown as Test;
const { faults, points, ...figures } = await killPayments({
  ...{ folder, kills, seed, blocks: 5, messages: 3, withTasks: values.tasks, withForms: values.forms },
  ...(values.database && { newStore: () => postgresStore(test) }),
});
process.stdout.write(`seed ${seed}, ${Math.round((performance.now() - begun) / 1000)} s\n${JSON.stringify(figures)}\n${JSON.stringify(points)}\n`);
for (const fault of faults) process.stdout.write(`FAULT ${fault}\n`);
if (faults.length > 0) {
  process.stdout.write(`the workspaces are in ${folder}\n`);
  process.exitCode = 1;
} else rmSync(folder, { recursive: true, force: true });
for (const end of teardowns) await end();
