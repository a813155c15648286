// `npm run check:metrics`: a real Prometheus scrapes the demo, and evaluates each query of the dashboard and each alert rule. Says so and ends well where there is none (Debian: prometheus).
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { metric, ROWS } from './panels.ts';
import { RULES } from './rules.ts';
import { freePort } from '../free-port.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const ALERTS = join(ROOT, 'docs/observability/alerts.yaml');
const WITHIN_MS = 60_000;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** What is counted for the first time five minutes after the start: its alert holds, though most of these series have no 0 before their 1. */
const FIRSTS = {
  BlockhouseWorkspaceFaults: [metric('faults'), '0x20 1x40'],
  BlockhouseToolCallsUnknown: [`${metric('toolCalls')}{outcome="unknown"}`, '_x20 1x40'],
  BlockhouseUnpricedCalls: [`${metric('unpriced')}{connection="gpu",model="m",payer="client"}`, '_x20 1x40'],
} as const;

if (spawnSync('prometheus', ['--version']).status !== 0) say('skipped: there is no prometheus on this machine');
else await check();

async function check(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'blockhouse-prometheus-'));
  const children: ChildProcess[] = [];
  const start = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): void => {
    children.push(spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] }));
  };
  try {
    const [port, own] = [await freePort(), await freePort()];
    start(process.execPath, [join(ROOT, 'dist/cli/main.js'), 'demo', '--port', String(port)], {
      ...process.env,
      BLOCKHOUSE_METRICS_OPEN: '1',
      BLOCKHOUSE_LOG_LEVEL: 'error',
    });
    await until('the demo is up', async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).ok);
    checkText(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    checkFirsts(folder);
    const job = { job_name: 'blockhouse', scrape_interval: '1s', static_configs: [{ targets: [`127.0.0.1:${port}`] }] };
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify({ global: { evaluation_interval: '1s' }, scrape_configs: [job], rule_files: [ALERTS] }));
    start('prometheus', ['--config.file=prometheus.yml', `--web.listen-address=127.0.0.1:${own}`, `--storage.tsdb.path=${folder}/data`, '--log.level=error']);
    const ask = async (path: string): Promise<{ status: string; error?: string; data: unknown }> =>
      (await (await fetch(`http://127.0.0.1:${own}/api/v1/${path}`)).json()) as never;
    const query = async (expr: string): Promise<readonly { readonly metric: Record<string, string> }[]> => {
      const answer = await ask(`query?query=${encodeURIComponent(expr)}`);
      if (answer.status !== 'success') throw new Error(`${expr}: ${answer.error}`);
      return (answer.data as { result: { metric: Record<string, string> }[] }).result;
    };
    await until('the demo was scraped three times', async () => (await query(`count_over_time(${metric('info')}[1m]) >= 3`)).length === 1);
    let withValues = 0;
    const queries = ROWS.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries));
    for (const { expr, legend } of queries) {
      const found = await query(filled(expr));
      withValues += found.length > 0 ? 1 : 0;
      for (const [, label = ''] of legend.matchAll(/\{\{(\w+)\}\}/g))
        for (const { metric: labels } of found) if (labels[label] === undefined) throw new Error(`${expr} has no label ${label}, which its legend names`);
    }
    const rules = (await ask('rules')).data as { groups: { rules: { name: string; health: string; state: string; lastError?: string }[] }[] };
    const evaluated = rules.groups.flatMap((group) => group.rules);
    const wrong = evaluated.filter(({ health }) => health !== 'ok');
    if (evaluated.length !== RULES.length || wrong.length > 0) throw new Error(`rules are not evaluated: ${JSON.stringify(wrong)}`);
    const firing = evaluated.filter(({ state }) => state !== 'inactive').map(({ name }) => name);
    say(
      `${queries.length} queries evaluated, ${withValues} of them with values; ${evaluated.length} rules evaluated; of a healthy demo fire or wait: ${firing.join(', ') || 'none'}`,
    );
  } finally {
    for (const child of children.reverse()) await end(child);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `promtool` comes with Prometheus. */
function checkText(text: string): void {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  if (status !== 0) throw new Error(`promtool check metrics: ${stdout}${stderr}`);
  const rules = spawnSync('promtool', ['check', 'rules', ALERTS], { encoding: 'utf8' });
  if (rules.status !== 0) throw new Error(`promtool check rules: ${rules.stdout}${rules.stderr}`);
}

function checkFirsts(folder: string): void {
  const input = Object.values(FIRSTS).map(([series, values]) => ({ series, values }));
  const tests = RULES.filter(({ alert }) => alert in FIRSTS).flatMap(({ expr }) => [
    { expr: `count(${expr})`, eval_time: '4m', exp_samples: [] },
    { expr: `count(${expr})`, eval_time: '8m', exp_samples: [{ labels: '{}', value: 1 }] },
  ]);
  const file = join(folder, 'firsts.yml');
  writeFileSync(file, JSON.stringify({ evaluation_interval: '15s', tests: [{ interval: '15s', input_series: input, promql_expr_test: tests }] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`promtool test rules: ${stdout}${stderr}`);
}

/** What Grafana puts in. */
function filled(expr: string): string {
  return expr
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__range', '1h')
    .replaceAll(/\$(?:job|instance)/g, '.*');
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const giveUp = performance.now() + WITHIN_MS;
  while (performance.now() < giveUp) {
    if (await holds().catch(() => false)) return;
    await delay(200);
  }
  throw new Error(`not within a minute: ${what}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
