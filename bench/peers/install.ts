// Installs other gateways to compare with, in a folder of the system's own for temporary files: they are no dependency of this project.
// `npx tsx bench/peers/install.ts`; from then on `npm run bench` measures them too. Delete the folder to be rid of them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PEERS } from '../harness/peers.ts';

/** The versions that the figures in docs/performance.md are of. */
const PACKAGES = ['@portkey-ai/gateway@1.15.2', 'hono@4.13.19', '@hono/node-server@2.1.8', 'ai@7.0.173', '@ai-sdk/openai-compatible@3.0.92'];

/** With the newest release of its own dependency, Portkey answers every stream with a 500 (it changes headers that may not be changed). */
const overrides = { '@portkey-ai/gateway': { '@hono/node-server': '1.11.4' } };

mkdirSync(PEERS, { recursive: true });
writeFileSync(join(PEERS, 'package.json'), JSON.stringify({ private: true, type: 'module', overrides }));
const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...PACKAGES], { cwd: PEERS, stdio: 'inherit' });
process.stdout.write(status === 0 ? `installed in ${PEERS}\n` : 'npm failed\n');
process.exitCode = status ?? 1;
