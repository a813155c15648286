// Code in a process that has run out of file descriptors.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const ROOT = join(import.meta.dirname, '..', '..');
/** Within the repository, where packages are found. */
const BUILT = join(ROOT, '.tap/few-descriptors');
const DESCRIPTORS = 64;

/**
 * Runs `body`, the inside of an async function, and resolves with what it returns as JSON. It is given the `modules`, of which each is built with all that it imports, and `exhaust`,
 * which takes all descriptors and returns what gives them back. POSIX.
 */
export function withFewDescriptors(modules: readonly string[], args: readonly string[], body: string): unknown {
  const built = modules.map((name) => {
    const outfile = join(BUILT, name);
    buildSync({
      entryPoints: [join(ROOT, name.replace(/js$/, 'ts'))],
      outfile,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      logLevel: 'warning',
    });
    return outfile;
  });
  const script = `
    import { closeSync, openSync } from 'node:fs';
    const modules = [${built.map((file) => `await import(${JSON.stringify(file)})`).join(', ')}];
    const args = ${JSON.stringify(args)};
    function exhaust() {
      const taken = [];
      for (;;) {
        try {
          taken.push(openSync(process.execPath));
        } catch (error) {
          if (error.code !== 'EMFILE') throw error;
          return () => taken.forEach((descriptor) => closeSync(descriptor));
        }
      }
    }
    console.log(JSON.stringify(await (async () => { ${body} })()));
  `;
  // Without the environment, into which the runner puts its own: it would count the build as the source that the spec pays for, and find most of it unvisited.
  const command = `ulimit -n ${DESCRIPTORS} && exec env -i "$0" --input-type=module --eval "$1"`;
  return JSON.parse(execFileSync('sh', ['-c', command, process.execPath, script], { encoding: 'utf8' })) as unknown;
}
