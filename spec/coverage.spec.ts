// What the check of coverage counts (spec/support/coverage/): a line that no spec of its file has visited is missed, whatever other specs visit.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'esbuild';
import t, { type Test } from 'tap';
import { linesOf } from './support/coverage/lines.ts';
import { sourcesOf } from './support/coverage/map.ts';
import type { Recorded } from './support/coverage/recorder.ts';
import { argsForText } from './support/node-args.ts';

const COUNTED = `// A comment.
import { env } from 'node:process';
export interface Size {
  readonly bytes: number;
}
const table = { a: grow(1) };
function grow(size: number): number {
  return size + 1;
}
export function kindOf(size: number): string {
  if (size > 2) {
    return 'large';
  }
  return env.NOTHING ?? 'small';
}
export async function never(): Promise<void> {
  await Promise.resolve(table);
}
`;
const OTHER = `export function other(): number {
  return 1;
}
`;

/** Two specs in one process, each of which pays for one of two files: what is recorded, and the compiled text of the first file. */
async function record(t: Test, specs: { readonly first: string; readonly second: string }): Promise<{ recorded: Recorded; compiled: string }> {
  const compile = async (text: string): Promise<string> => (await transform(text, { loader: 'ts', format: 'esm', sourcemap: 'inline' })).code;
  const compiled = await compile(COUNTED);
  const folder = t.testdir({
    'package.json': '{"type":"module"}',
    'counted.js': compiled,
    'other.js': await compile(OTHER),
    'first.js': specs.first,
    'second.js': specs.second,
  });
  const out = join(folder, 'visits.json');
  const driver = `import { Recorder } from './spec/support/coverage/recorder.ts';
const fileOf = (name) => ${JSON.stringify(folder)} + '/' + name + '.js';
const recorder = new Recorder(${JSON.stringify(out)}, { fileOf, sourcesOf: (spec) => [spec === 'first' ? 'other' : 'counted'] });
for (const spec of ['first', 'second']) {
  await recorder.begin(spec);
  await import('file://' + fileOf(spec));
}`;
  const { status, stderr } = spawnSync(process.execPath, argsForText(driver), { encoding: 'utf8' });
  t.equal(status, 0, stderr);
  return { recorded: JSON.parse(readFileSync(out, 'utf8')) as Recorded, compiled };
}

t.test('a spec has what it visits itself and what runs at load, and nothing of the spec before', async (t) => {
  const { recorded, compiled } = await record(t, {
    first: 'import { kindOf, never } from "./counted.js";\nimport { other } from "./other.js";\nkindOf(3); other(); await never();\n',
    second: 'import { kindOf } from "./counted.js";\nkindOf(1);\n',
  });
  const { all, missed } = linesOf(COUNTED, compiled, recorded.visits['counted'] ?? []);
  t.strictSame(missed, [12, 16, 17]);
  t.equal(all, 10, 'without comments, types and closing brackets');
  t.equal(linesOf(COUNTED, compiled, []).missed.length, all, 'without a report, nothing is visited');
});

t.test('of a file that the spec before has loaded by itself, the top level counts', async (t) => {
  const { recorded, compiled } = await record(t, {
    first: 'import { other } from "./other.js";\nother(); (await import("./counted.js")).kindOf(3);\n',
    second: 'import { kindOf } from "./counted.js";\nkindOf(1);\n',
  });
  t.strictSame(linesOf(COUNTED, compiled, recorded.visits['counted'] ?? []).missed, [7, 8, 12, 16, 17]);
});

t.test('processes that a spec starts from our source count for it', async (t) => {
  const { recorded } = await record(t, {
    first: 'import "./other.js";\n',
    second: `import { spawnSync } from "node:child_process";
const helper = "../support/node-args.js";
spawnSync(process.execPath, ["--input-type=module", "--eval", \`(await import("\${new URL("counted.js", import.meta.url)}")).kindOf(1)\`]);
`,
  });
  const [[folder = '', sources] = []] = Object.entries(recorded.children);
  t.strictSame(sources, ['counted']);
  const [name = ''] = readdirSync(folder);
  t.match(readFileSync(join(folder, name), 'utf8'), /"functionName":"kindOf","ranges":\[\{"startOffset":\d+,"endOffset":\d+,"count":1\}/);
});

t.test('a spec pays for the file that it mirrors, by its topic too, and for small files beside it', async (t) => {
  t.strictSame(sourcesOf('spec/core/bus.spec.ts'), ['core/bus.ts']);
  t.strictSame(sourcesOf('spec/core/block/reply/reply-faults.spec.ts'), ['core/block/reply/reply.ts']);
  t.ok(sourcesOf('spec/core/schemas/index.spec.ts').includes('core/schemas/session.ts'));
  t.strictSame(sourcesOf('spec/architecture.spec.ts'), []);
});
