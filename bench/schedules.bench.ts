// What do schedules cost while nothing is due? `npx tsx bench/schedules.bench.ts [blocks]` makes so many blocks that run (1,000), once with three schedules each and once without, starts
// them in this process, and says how long a start takes, and how much of a core they use in half a minute while all monitors wait.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createOllama } from '../adapters/ollama/index.ts';
import { type Core, createCore } from '../core/index.ts';
import { median } from './harness/stats.ts';

const BLOCKS = Number(process.argv[2] ?? 1000);
const IDLE_MS = 30_000;
const SETTLE_MS = 3000;
const ROUNDS = 9;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Tokyo'];

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

function makeWorkspace(hasSchedules: boolean): string {
  const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
  for (let block = 0; block < BLOCKS; block += 1) {
    const name = `b${block}`;
    const timezone = ZONES[block % ZONES.length];
    const schedule = [
      { id: 'brief', cron: `${block % 60} 3 * * 1-5`, timezone, message: 'Write the brief.' },
      { id: 'check', every: '30d', message: 'Look.' },
      { id: 'month', cron: '@monthly', timezone, message: 'Sum up.' },
    ];
    mkdirSync(join(workspace, 'blocks', name), { recursive: true });
    const config = { name, enabled: true, adapter: { provider: 'ollama', model: 'm' }, pulse: { intervalSeconds: 86_400 }, ...(hasSchedules && { schedule }) };
    writeFileSync(join(workspace, 'blocks', name, 'config.json'), JSON.stringify(config));
  }
  return workspace;
}

function make(workspace: string): Core {
  return createCore({ workspace, adapters: [createOllama()], env: {} });
}

/** Until the server takes requests: its monitors begin afterwards. */
async function startOf(workspace: string): Promise<number> {
  const core = make(workspace);
  const began = performance.now();
  await core.start();
  const ms = performance.now() - began;
  await core.close();
  return ms;
}

/** Of a core, while all monitors wait. */
async function idleOf(workspace: string): Promise<number> {
  const core = make(workspace);
  await core.start();
  while ((await core.blocks.counts()).monitorsRunning < BLOCKS) await delay(250);
  await delay(SETTLE_MS);
  const before = cpuMs();
  await delay(IDLE_MS);
  const share = (cpuMs() - before) / IDLE_MS;
  await core.close();
  return share;
}

const workspaces = [false, true].map(makeWorkspace);
try {
  const [without = '', withThree = ''] = workspaces;
  for (const workspace of workspaces) await startOf(workspace);
  const starts = { without: [] as number[], withThree: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    starts.without.push(await startOf(without));
    starts.withThree.push(await startOf(withThree));
  }
  const shown = (all: readonly number[]): string => `${median(all).toFixed(0)} ms`;
  process.stdout.write(
    `${BLOCKS} blocks, start: ${shown(starts.without)} without schedules, ${shown(starts.withThree)} with three each (medians of ${ROUNDS})\n`,
  );
  for (const workspace of workspaces) await idleOf(workspace); // the first run of the monitors makes the files that are missing
  const percent = async (workspace: string): Promise<string> => `${((await idleOf(workspace)) * 100).toFixed(3)} % of a core`;
  process.stdout.write(`${BLOCKS} blocks, idle: ${await percent(without)} without schedules, ${await percent(withThree)} with three each\n`);
} finally {
  for (const workspace of workspaces) rmSync(workspace, { recursive: true, force: true });
}
