// In which order specs are asked about a break: first the one that mirrors the broken file, then those that import it directly or through one or two
// files, then the rest of its area, and then the specs of the whole product that reach it. Among equals the cheap ones come first; what a spec costs is known
// from the last `npm test` in this tree, if there was one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { CpuReport } from '../cpu-time.ts';

const FOLDERS = ['core', 'adapters', 'transports', 'cli', 'spec', 'bench', 'docs'];
/** Specs that look at the whole product from outside. Those of the page and of the package need what a break doesn't reach here. */
const WHOLE = ['spec/cases/', 'spec/e2e/', 'spec/conformance/', 'spec/contract/', 'spec/judges/', 'spec/faults/'];
const UNUSED = ['spec/dashboard/', 'spec/transports/dashboard/', 'spec/package/', 'spec/docs/', 'spec/architecture.spec.ts', 'spec/e2e/packed.spec.ts'];
const NEAR = 3;
/** Where `npm test` notes what its specs have cost. */
const NOTES = '.tap/groups';
const USUAL_SECONDS = 0.3;
/** A batch costs so much at most, or has one spec: a failure in it is looked at once more, and each process costs a start. */
const BATCH_SECONDS = 2;
const BATCH = 12;
/** `from './x.ts'`, `import('./x.ts')`; and paths from the root, by which a spec starts a process. */
const REFERENCE = /(?<=['"`])(\.{1,2}\/[^'"`\s]*\.tsx?|(?:core|adapters|transports|cli|spec|bench|docs)\/[^'"`\s$]*\.ts)(?=['"`])/g;

export class Specs {
  readonly #root: string;
  /** Which files name a file. */
  readonly #users = new Map<string, string[]>();
  /** Seconds of processor time of each spec. */
  readonly #costs = new Map<string, number>();
  /** The files that run the bundled program, and what imports them. */
  readonly #programs = new Set<string>();

  constructor(root: string) {
    this.#root = root;
    for (const folder of FOLDERS) for (const path of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) this.#read(join(folder, path));
    for (const [spec, seconds] of notedCosts(root)) if (this.#costs.has(spec)) this.#costs.set(spec, seconds);
    for (const path of this.#programs) for (const user of this.#users.get(path) ?? []) this.#programs.add(user);
  }

  #read(path: string): void {
    if (!/(?<!\.d)\.tsx?$/.test(path)) return;
    const text = readFileSync(join(this.#root, path), 'utf8');
    if (path.endsWith('.spec.ts') && !UNUSED.some((place) => path.startsWith(place))) this.#costs.set(path, USUAL_SECONDS);
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

  /** Takes the specs that run next from the front of the line. */
  takeBatch(waiting: string[]): string[] {
    let seconds = 0;
    const isFull = (spec: string): boolean => {
      seconds += this.#costs.get(spec) ?? USUAL_SECONDS;
      return seconds > BATCH_SECONDS;
    };
    const end = waiting.findIndex((spec, index) => index === BATCH || isFull(spec));
    return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end));
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
      return count < Number.POSITIVE_INFINITY && WHOLE.some((place) => spec.startsWith(place)) ? NEAR + 2 : NEAR + 3;
    };
    return [...this.#costs]
      .map(([spec, cost]) => ({ spec, rank: rankOf(spec), cost: cost / 2 ** sharedFolders(spec, stem) }))
      .filter(({ rank }) => rank <= NEAR + 2)
      .sort((a, b) => a.rank - b.rank || a.cost - b.cost)
      .map(({ spec }) => spec);
  }
}

function notedCosts(root: string): [spec: string, seconds: number][] {
  const folder = join(root, NOTES);
  const notes = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.cpu.json')) : [];
  return notes.flatMap((name) => Object.entries(JSON.parse(readFileSync(join(folder, name), 'utf8')) as CpuReport));
}

function sharedFolders(one: string, other: string): number {
  const others = other.split('/');
  return one.split('/').findIndex((name, index) => name !== others[index]);
}
