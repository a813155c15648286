// The page of figures, and what its figures were measured on.
//
// by-hand: what people have written around the results is on the page alone, so that what `--record` writes takes nothing of it back.
import { cpus, release, totalmem } from 'node:os';
import { type Result, toMarkdown } from './report.ts';

export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly date: string;
}

const GIB = 1024 ** 3;
/** A result begins with its question, and ends with the command that has recorded it. */
const HEADING = '## ';
const MARK = '`npm run bench -- --record ';

export function thisMachine(): Machine {
  const processors = cpus();
  return {
    node: process.version,
    platform: `${process.platform} ${release()} ${process.arch}`,
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGiB: Math.round(totalmem() / GIB),
    date: new Date().toISOString().slice(0, 10),
  };
}

export function machineText({ node, platform, processor, cores, memoryGiB, date }: Machine): string {
  return `${date}, Node ${node}, ${platform}, ${cores} × ${processor}, ${memoryGiB} GiB`;
}

/** A result, and when and on what machine it was measured. */
export interface Published extends Result {
  readonly measured: string;
}

/** by-hand. What stands before the first result and after the last one is kept as it is on the page. */
export function toPage(results: readonly Published[], before: string): string {
  const parts = results.map((result) => `${toMarkdown(result)}\n\n*${MARK}${result.name}\`: ${result.measured}.*`);
  const first = before.indexOf(`\n\n${HEADING}`);
  const lastMark = before.lastIndexOf(`\n\n*${MARK}`);
  if (first < 0 || lastMark < first) throw new Error('The page has no result, so it is not known where results go.');
  const lastLine = before.indexOf('\n', lastMark + 2);
  return `${before.slice(0, first)}\n\n${parts.join('\n\n')}${lastLine < 0 ? '\n' : before.slice(lastLine)}`;
}
