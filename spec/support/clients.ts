// `npm run check:clients [folder]`: installs the programs of docs/clients from their registries, and follows their pages. Takes some gigabytes, so it is no part of another command.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const OF_NPM = ['@anthropic-ai/claude-code', '@openai/codex', 'opencode-ai', 'ai', '@ai-sdk/openai-compatible'];
/** Each in an environment of its own, since they want different versions of the same packages. */
const OF_PIP: readonly (readonly [name: string, programs: readonly string[]])[] = [
  ['aider-chat', ['aider']],
  ['llm', ['llm']],
  ['langchain-openai', ['python3']],
];

const folder = resolve(process.argv[2] ?? mkdtempSync(join(tmpdir(), 'blockhouse-clients-')));

function run(command: string, ...args: string[]): void {
  process.stdout.write(`${[command, ...args].join(' ')}\n`);
  const { status } = spawnSync(command, args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
}

/** A script and no link: Python finds its packages by the place that it is called at. */
function link(from: string, name: string): void {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\nexec '${from}' "$@"\n`, { mode: 0o755 });
}

mkdirSync(join(folder, 'bin'), { recursive: true });
run('npm', 'install', '--no-audit', '--no-fund', '--prefix', folder, ...OF_NPM);
for (const name of ['claude', 'codex', 'opencode']) link(join(folder, 'node_modules/.bin', name), name);
for (const [name, programs] of OF_PIP) {
  const place = join(folder, name);
  if (!existsSync(place)) run('python3', '-m', 'venv', place);
  run(join(place, 'bin/pip'), 'install', '--quiet', name);
  for (const program of programs) link(join(place, 'bin', program), program);
}
const env = { ...process.env, BLOCKHOUSE_CLIENTS: folder, TAP_TIMEOUT: '600' };
process.exitCode = spawnSync(process.execPath, ['--import=tsx', 'spec/docs/clients.spec.ts'], { cwd: ROOT, stdio: 'inherit', env }).status ?? 1;
