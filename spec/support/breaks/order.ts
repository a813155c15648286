// In which order specs are asked about a break: first the one that mirrors the broken file, then those that import it directly or through one or two
// files, then the rest of its area, and then the specs of the whole product that reach it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const FOLDERS = ['core', 'adapters', 'transports', 'cli', 'spec', 'bench', 'docs'];
/** Specs that look at the whole product from outside. Those of the page and of the package need what a break doesn't reach here. */
const WHOLE = ['spec/cases/', 'spec/e2e/', 'spec/conformance/', 'spec/contract/', 'spec/judges/', 'spec/faults/'];
const UNUSED = ['spec/dashboard/', 'spec/transports/dashboard/', 'spec/package/', 'spec/docs/', 'spec/architecture.spec.ts', 'spec/e2e/packed.spec.ts'];
const NEAR = 3;
/** `from './x.ts'`, `import('./x.ts')`; and paths from the root, by which a spec starts a process. */
const REFERENCE = /(?<=['"`])(\.{1,2}\/[^'"`\s]*\.tsx?|(?:core|adapters|transports|cli|spec|bench|docs)\/[^'"`\s$]*\.ts)(?=['"`])/g;

export class Specs {
  readonly #root: string;
  /** Which files name a file. */
  readonly #users = new Map<string, string[]>();
  readonly #sizes = new Map<string, number>();
  /** The files that run the bundled program, and what imports them. */
  readonly #programs = new Set<string>();

  constructor(root: string) {
    this.#root = root;
    for (const folder of FOLDERS) for (const path of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) this.#read(join(folder, path));
    for (const path of this.#programs) for (const user of this.#users.get(path) ?? []) this.#programs.add(user);
  }

  #read(path: string): void {
    if (!/(?<!\.d)\.tsx?$/.test(path)) return;
    const text = readFileSync(join(this.#root, path), 'utf8');
    if (path.endsWith('.spec.ts') && !UNUSED.some((place) => path.startsWith(place))) this.#sizes.set(path, text.length);
    if (path.startsWith('spec/') && !path.startsWith('spec/support/breaks/') && text.includes('dist/cli/main.js')) this.#programs.add(path);
    for (const [reference] of text.matchAll(REFERENCE)) {
      const target = this.#targetOf(path, reference);
      if (target !== undefined) this.#users.set(target, [...(this.#users.get(target) ?? []), path]);
    }
  }

  #targetOf(path: string, reference: string): string | undefined {
    const places = reference.startsWith('.') ? [join(dirname(path), reference), normalize(reference)] : [reference];
    return places.find((place) => existsSync(join(this.#root, place)));
  }

  /** How many steps of imports lead from each file to `file`. */
  #stepsTo(file: string): Map<string, number> {
    const steps = new Map([[file, 0]]);
    for (const [path, count] of steps) for (const user of this.#users.get(path) ?? []) if (!steps.has(user)) steps.set(user, count + 1);
    return steps;
  }

  /** Whether a spec may run the bundled program. */
  runsProgram(spec: string): boolean {
    return this.#programs.has(spec);
  }

  isOfTheWhole(spec: string): boolean {
    return WHOLE.some((place) => spec.startsWith(place));
  }

  /** The specs that may find a break of `file`, the likeliest first. */
  for(file: string): string[] {
    const steps = this.#stepsTo(file);
    const stem = `spec/${file.replace(/\.ts$/, '')}.`;
    const area = `spec/${file.split('/').slice(0, 2).join('/')}/`;
    const rankOf = (spec: string): number => {
      if (spec.startsWith(stem)) return 0;
      const count = steps.get(spec) ?? Number.POSITIVE_INFINITY;
      if (count <= NEAR) return count;
      if (spec.startsWith(area)) return NEAR + 1;
      return count < Number.POSITIVE_INFINITY && this.isOfTheWhole(spec) ? NEAR + 2 : NEAR + 3;
    };
    return [...this.#sizes]
      .map(([spec, size]) => ({ spec, size, rank: rankOf(spec), shared: sharedFolders(spec, stem) }))
      .filter(({ rank }) => rank <= NEAR + 2)
      .sort((a, b) => a.rank - b.rank || b.shared - a.shared || a.size - b.size)
      .map(({ spec }) => spec);
  }
}

function sharedFolders(one: string, other: string): number {
  const others = other.split('/');
  return one.split('/').findIndex((name, index) => name !== others[index]);
}
