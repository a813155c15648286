// What `npm run build` makes, byte for byte, in half of its processor time: for a test run, which has compiled the source already.
//
// types-are-judged-elsewhere: the compiler writes the types without checking the program. `npm run build` checks it, and `npm run check:types` all of the repository.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tscPath } from './api-report.ts';
import { compileAll, compiledPath } from './compile.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TYPES = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--checkers', '1', '--noCheck'];

/** Compiles every source file, and builds `dist`. The compiled builders need no loader. Rejects when a step fails, which has said why. */
export async function buildForTests(): Promise<void> {
  await Promise.all([compileAll(), runNode(tscPath(), ...TYPES)]);
  await runNode(compiledPath('cli/build.ts')); // which keeps the types that programs need
  await runNode(compiledPath('transports/dashboard/build.ts'));
  chmodSync(join(ROOT, 'dist/cli/main.js'), 0o755);
}

async function runNode(...args: string[]): Promise<void> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`The build has failed: ${args.join(' ')} ended with ${code ?? signal}.`);
}
