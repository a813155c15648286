// Counts what each spec of a group visits of the source that it pays for.
//
// own-visits: V8 counts from zero again before each spec, so that none has what another has visited.
// loaded-once: a module runs its top level once in a process, whichever spec imports it first. So what a spec imports is loaded before its own text, and what runs meanwhile counts for
// every spec that pays for the module.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector';
import { join, resolve } from 'node:path';
import { env } from 'node:process';
import { pathToFileURL } from 'node:url';
import { compiledPath } from '../compile.ts';
import type { Visits } from './lines.ts';
import { sourcesOf } from './map.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const STATIC_IMPORT = /^(?:import|export)\s[^;"]*"((?:\.|file:)[^"\n]+)";$/gm;
/** A spec whose processes run our source: what they visit counts too. Processes of the built program don't count, which is other text. */
const STARTS_PROCESSES = /\/node-args\.js"|\bnew Worker\(/;
/** Node writes the visits of a process into this folder when it ends, and hands it down to the processes that it starts. */
const CHILDREN = 'NODE_V8_COVERAGE';

/** What specs have visited, by source file. */
export interface Recorded {
  readonly visits: Readonly<Record<string, readonly Visits[]>>;
  /** Folders in which the processes that specs have started left what they visited, each with the source files for which it counts. */
  readonly children: Readonly<Record<string, readonly string[]>>;
}

/** Where a test says otherwise: what belongs to a spec, and where the compiled form of a file lies. */
interface Tree {
  readonly sourcesOf: (spec: string) => readonly string[];
  readonly fileOf: (path: string) => string;
}

export class Recorder {
  readonly #session = new Session();
  readonly #visits: Record<string, Visits[]> = {};
  readonly #children: Record<string, readonly string[]> = {};
  /** By address, what ran of a module while it was loaded. */
  readonly #loaded = new Map<string, Visits[]>();
  /** The scripts of which that is known. */
  readonly #known = new Set<string>();
  readonly #path: string;
  readonly #tree: Tree;
  /** Those of the spec that runs. */
  #sources: readonly string[] = [];

  /** `path` is the file into which it writes a `Recorded` when the process ends. */
  constructor(path: string, tree: Tree = { sourcesOf, fileOf: (source) => resolve(ROOT, compiledPath(source)) }) {
    this.#path = path;
    this.#tree = tree;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    process.once('exit', () => {
      this.#end();
      writeFileSync(path, JSON.stringify({ visits: this.#visits, children: this.#children } satisfies Recorded));
    });
  }

  /** The spec before has ended, and this one is loaded next. Loads what it imports. */
  async begin(spec: string): Promise<void> {
    this.#end();
    this.#sources = this.#tree.sourcesOf(spec);
    const file = this.#tree.fileOf(spec);
    const text = readFileSync(file, 'utf8');
    for (const [, target = ''] of text.matchAll(STATIC_IMPORT)) await import(new URL(target, pathToFileURL(file)).href); // loaded-once
    this.#note(this.#take());
    if (this.#sources.length === 0 || !STARTS_PROCESSES.test(text)) return;
    const folder = join(`${this.#path}.children`, String(Object.keys(this.#children).length));
    mkdirSync(folder, { recursive: true });
    this.#children[folder] = this.#sources;
    env[CHILDREN] = folder;
  }

  #end(): void {
    delete env[CHILDREN];
    const own = this.#take();
    for (const source of this.#sources) {
      const url = pathToFileURL(this.#tree.fileOf(source)).href;
      const reports = [...(this.#loaded.get(url) ?? []), ...own.filter((script) => script.url === url).map(({ functions }) => functions)];
      this.#visits[source] = [...(this.#visits[source] ?? []), ...reports];
    }
    this.#sources = [];
    this.#note(own.map(topLevelOf)); // of what is loaded in the middle of a spec, only that surely ran without it
  }

  #note(scripts: readonly Profiler.ScriptCoverage[]): void {
    for (const { scriptId, url, functions } of scripts) {
      if (this.#known.has(scriptId)) continue;
      this.#known.add(scriptId);
      if (url.startsWith('file:')) this.#loaded.set(url, [...(this.#loaded.get(url) ?? []), functions]);
    }
  }

  /** What ran since the last call, by script. */
  #take(): Profiler.ScriptCoverage[] {
    const taken: Profiler.ScriptCoverage[] = [];
    // A session with its own process answers before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      taken.push(...result); // own-visits
    });
    return taken;
  }
}

/** V8 names the static fields of a class as a function of their own. The first function is the module itself. */
function topLevelOf({ functions, ...script }: Profiler.ScriptCoverage): Profiler.ScriptCoverage {
  const isTopLevel = (name: string, index: number): boolean => index === 0 || name === '<static_initializer>';
  return { ...script, functions: functions.map((each, index) => (isTopLevel(each.functionName, index) ? each : unvisited(each))) };
}

function unvisited({ ranges, ...rest }: Profiler.FunctionCoverage): Profiler.FunctionCoverage {
  return { ...rest, ranges: ranges.map((range) => ({ ...range, count: 0 })) };
}
