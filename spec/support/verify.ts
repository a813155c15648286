// `npm run verify`: everything that must hold before a release, one step after the other, until one fails. Says how long each took.
//
// built-once: the third step builds, and no later one does so again.
import { spawnSync } from 'node:child_process';
import { env } from 'node:process';

interface Step {
  readonly name: string;
  /** A script of package.json, or a program of this repository with its arguments. */
  readonly run: string | readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const OURS = ['--import=tsx'];
const STEPS: readonly Step[] = [
  { name: 'format', run: 'check:format' },
  { name: 'lint', run: 'lint' },
  { name: 'build', run: 'build' },
  { name: 'types', run: 'check:types' },
  { name: 'generated files', run: 'check:generated' },
  { name: 'speed', run: 'check:speed' },
  { name: 'specs of the page', run: ['spec/support/run-tests.ts', '--folder', 'dashboard'], env: { BLOCKHOUSE_NEEDS_BROWSER: '1' } }, // built-once
  { name: 'all other specs, with their coverage', run: ['spec/support/check-coverage.ts'] }, // built-once
  { name: 'kills', run: 'check:kills' },
  { name: 'container', run: 'check:container' },
  { name: 'metrics', run: 'check:metrics' },
  { name: 'other releases of Node', run: ['spec/support/nodes.ts'] }, // built-once
  { name: 'conformance to MCP', run: 'check:mcp' },
];

/** Whole seconds since `begin`. */
const secondsSince = (begin: number): string => `${Math.round((performance.now() - begin) / 1000)} s`;

const begin = performance.now();
for (const { name, run, env: more } of STEPS) {
  const stepBegin = performance.now();
  const [program, args] = typeof run === 'string' ? ['npm', ['run', '--silent', run]] : [process.execPath, [...OURS, ...run]];
  const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...env, ...more } });
  process.stdout.write(`verify: ${name} ${status === 0 ? 'held' : 'FAILED'}, ${secondsSince(stepBegin)}\n`);
  if (status !== 0) {
    process.exitCode = 1;
    break;
  }
}
process.stdout.write(`verify: ${process.exitCode === 1 ? 'not everything held' : 'everything holds'}, ${secondsSince(begin)} in all\n`);
