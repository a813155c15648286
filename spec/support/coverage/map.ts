// A spec pays for the source file that it mirrors, and for each small file beside that one which it imports and which has no spec of its own. Suites and
// judges pay for none. Paths are relative to the root of the repository.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** A longer file has behaviour of its own, and so a spec of its own. */
const MAX_SMALL_LINES = 100;

/** The source files of which a spec visits the lines. */
export function sourcesOf(spec: string): string[] {
  const stem = stemOf(spec);
  // A long spec is split by topic: reply-faults.spec.ts is about reply.ts too.
  const mirrored = [stem, stem.replace(/-[a-z]+$/, '')].map((name) => `${name}.ts`).find((path) => existsSync(path));
  return [...(mirrored === undefined ? [] : [mirrored]), ...smallSources(spec)];
}

/** True if a spec of the file's folder speaks for it, and so it needs none of its own. */
export function hasSharedSpec(source: string): boolean {
  const folder = join('spec', dirname(source));
  if (!existsSync(folder)) return false;
  return readdirSync(folder).some((name) => name.endsWith('.spec.ts') && smallSources(join(folder, name)).includes(source));
}

function stemOf(spec: string): string {
  return spec.replace(/^spec\//, '').replace(/\.spec\.ts$/, '');
}

function smallSources(spec: string): string[] {
  const folder = dirname(stemOf(spec));
  const imports = [...readFileSync(spec, 'utf8').matchAll(/\bfrom '(\.[^']+\.ts)'/g)].map(([, path = '']) => normalize(join(dirname(spec), path)));
  return imports.filter((path) => dirname(path) === folder && !existsSync(join('spec', path.replace(/\.ts$/, '.spec.ts'))) && isSmall(path));
}

function isSmall(path: string): boolean {
  return readFileSync(path, 'utf8').split('\n').length <= MAX_SMALL_LINES + 1;
}
