// Servers that tests start again and again, each as one file, because loading hundreds takes longer than most of their work.
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '../../..');
const NODES = ['payment-node', 'task-node'] as const;

let bundled: Promise<string> | undefined;

/** The path of a server. They are bundled once for a process, and removed when that ends. */
export async function bundledNode(name: (typeof NODES)[number]): Promise<string> {
  bundled ??= bundleNodes();
  return join(await bundled, `${name}.mjs`);
}

/** Within the tree, where their packages are found. */
async function bundleNodes(): Promise<string> {
  const folder = join(ROOT, '.tap', `nodes-${process.pid}-${Date.now()}`);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: NODES.map((name) => join(import.meta.dirname, `${name}.ts`)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    packages: 'external',
    logLevel: 'warning',
  });
  return folder;
}
