// Makes spec/api.txt: the public declarations of the package and those that they refer to, so that a change of the surface is seen in a diff.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { shortenSchemas } from '../../cli/shorten-schemas.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const HEADER = `The public types of each entry point, and the types that they refer to, without comments. Each type is listed once. \`npm run generate\` makes this file from the
declarations that the compiler writes. \`blockhouse/internal\` is not listed: it may change with every release.
`;

interface Declarations {
  /** The text of each declaration by its name. */
  readonly own: ReadonlyMap<string, string>;
  /** From a name to the file it comes from, and its name there. */
  readonly imported: ReadonlyMap<string, readonly [file: string, name: string]>;
  readonly exported: ReadonlySet<string>;
}

/** The text of spec/api.txt. */
export function apiReport(): string {
  const folder = mkdtempSync(join(tmpdir(), 'blockhouse-api-'));
  try {
    const { status, stdout } = spawnSync(process.execPath, [tscPath(), '-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', folder], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`The declarations could not be made:\n${stdout}`);
    shortenSchemas(join(folder, 'core/schemas'));
    return reportOf(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same from declarations that are there already, such as those of the build. */
export function reportOf(folder: string): string {
  const reporter = new Reporter(folder);
  return [HEADER, ...entryPoints().map(([name, path]) => reporter.report(name, join(folder, path)))].join('\n');
}

/** The compiler of this repository. Not its `bin/tsc`, which does not start under the loader that the test runner hands down while it counts coverage. */
export function tscPath(): string {
  return join(ROOT, 'node_modules/typescript/lib/tsc.js');
}

/** The entry points that package.json exports, with their declarations below dist. */
export function entryPoints(): [name: string, path: string][] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: Record<string, string | { readonly types: string }> };
  return Object.entries(exports).flatMap(([name, target]) =>
    typeof target === 'string' || name === './internal' ? [] : [[`blockhouse${name.slice(1)}`, relative('dist', target.types)] as [string, string]],
  );
}

/** Lists each declaration at the first entry point that needs it. */
class Reporter {
  readonly #folder: string;
  readonly #files = new Map<string, Declarations>();
  readonly #listed = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  report(name: string, path: string): string {
    const found = new Map<string, string>();
    const { exported } = this.#read(path);
    for (const symbol of exported) this.#add(path, symbol, found);
    const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
    const list = [...exported].sort().map((symbol) => `- ${symbol}\n`);
    return `## ${name}\n\n${list.join('')}\n${sorted.join('\n')}\n`;
  }

  /** Adds a declaration and all that it refers to. */
  #add(file: string, symbol: string, found: Map<string, string>): void {
    const { own, imported } = this.#read(file);
    const text = own.get(symbol);
    const key = `${relative(this.#folder, file)} ${symbol}`;
    if (text === undefined) {
      const origin = imported.get(symbol);
      if (origin !== undefined) this.#add(...origin, found);
    } else if (!this.#listed.has(key)) {
      this.#listed.add(key);
      found.set(key, text);
      for (const [word] of text.matchAll(/[A-Za-z_]\w*/g)) if (own.has(word) || imported.has(word)) this.#add(file, word, found);
    }
  }

  #read(file: string): Declarations {
    const known = this.#files.get(file) ?? declarationsOf(file);
    this.#files.set(file, known);
    return known;
  }
}

function declarationsOf(file: string): Declarations {
  const text = readFileSync(file, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/^\s*\n/gm, '');
  return declarationsIn(file, /^ \S/m.test(text) ? text.replace(/^ +/gm, (blanks) => blanks.repeat(4)) : text); // the build indents some of them less (cli/build.ts)
}

function declarationsIn(file: string, text: string): Declarations {
  const own = new Map<string, string>();
  const imported = new Map<string, readonly [string, string]>();
  const exported = new Set<string>();
  for (const statement of text.split(/\n(?=[^\s})|&])/)) {
    const list = /^(import|export) (?:type )?\{([^}]*)\}(?: from '([^']+)')?/.exec(statement);
    if (list !== null) {
      const [, kind, names = '', from] = list;
      for (const [original, local] of namesOf(names)) {
        if (kind === 'export') exported.add(local);
        if (from?.startsWith('.')) imported.set(local, [resolve(dirname(file), from.replace(/\.[jt]s$/, '.d.ts')), original]);
      }
      continue;
    }
    const namespace = /^import type \* as (\w+) from '([^']+)'/.exec(statement);
    if (namespace !== null) {
      namespaceOf(resolve(dirname(file), (namespace[2] ?? '').replace(/\.[jt]s$/, '.d.ts')), imported);
      continue;
    }
    const declared = /^(export )?(?:declare )?(?:abstract )?(?:interface|type|class|const|function) (\w+)/.exec(statement);
    if (declared === null) continue;
    const [, isExported, name = ''] = declared;
    own.set(name, [own.get(name), statement.trimEnd()].filter((part) => part !== undefined).join('\n'));
    if (isExported !== undefined) exported.add(name);
  }
  return { own, imported, exported };
}

/** `import type * as types`: its names are used as `types.Name`, and each is found by its last part. */
function namespaceOf(file: string, imported: Map<string, readonly [string, string]>): void {
  for (const name of declarationsOf(file).exported) if (!imported.has(name)) imported.set(name, [file, name]);
}

function namesOf(list: string): (readonly [original: string, local: string])[] {
  return list
    .split(',')
    .map((item) => item.trim().replace(/^type /, ''))
    .filter((item) => item !== '')
    .map((item) => {
      const [original = '', local = original] = item.split(' as ');
      return [original, local] as const;
    });
}
