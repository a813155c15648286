// `npm run check:nodes`: runs specs of every part with other release lines of Node, which npm brings from the registry. No part of `npm test`, which runs with the Node that runs it.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
/** The oldest version that works, and those that get security fixes. */
const VERSIONS = ['20.19.0', '22', '24'];
const SPECS = [
  'spec/cli/main.spec.ts',
  'spec/e2e/blocks.spec.ts',
  'spec/e2e/packed.spec.ts',
  'spec/package/program.spec.ts',
  'spec/cases/streams.spec.ts',
  'spec/cli/commands/launch.spec.ts',
];

/** The package of npm with the binary for this machine. */
const binary = `node-${process.platform}-${process.arch}`;

/** Runs a command with this version of Node before all others on the path. */
function withNode(version: string, args: readonly string[]): { readonly status: number | null; readonly text: string } {
  const { status, stdout, stderr } = spawnSync('npm', ['exec', '--yes', '--package', `${binary}@${version}`, '--', 'node', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, TAP_TIMEOUT: '300' },
  });
  return { status, text: `${stdout}${stderr}` };
}

for (const version of VERSIONS) {
  const { status, text } = withNode(version, ['--version']);
  if (status !== 0) throw new Error(`npm has no ${binary}@${version} for this machine:\n${text}`);
  process.stdout.write(`Node ${text.trim()}\n`);
  for (const spec of SPECS) {
    const result = withNode(version, ['--import=tsx', spec]);
    process.stdout.write(`  ${result.status === 0 ? 'ok    ' : 'not ok'} ${spec}\n`);
    if (result.status === 0) continue;
    process.stdout.write(result.text);
    process.exitCode = 1;
  }
}
