// Which lines of a source file were visited, from what V8 says of its compiled form. Pure: no I/O.
//
// has-code: only lines of which the compiler has made something count. A comment, a type, or a line of closing brackets can be neither visited nor left out.
import { piecesOf } from './source-map.ts';

/** As V8 reports it: how often each range of a function ran. The first range is the whole function, and the others lie in it. */
export interface FunctionVisits {
  readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
}

/** What V8 has counted of one script, between two moments. A function that it leaves out did not run, or is a part of the one around it. */
export type Visits = readonly FunctionVisits[];

export interface Lines {
  /** How many lines have code. */
  readonly all: number;
  /** Those that were never visited, counted from 1. */
  readonly missed: readonly number[];
}

const CLOSING_BRACKETS = /^[\s)\]};,]*$/;

/** A line is visited if any piece of it ran, in any of the reports. */
export function linesOf(source: string, compiled: string, reports: readonly Visits[]): Lines {
  const texts = source.split('\n');
  const pieces = piecesOf(compiled).filter(({ line }) => !CLOSING_BRACKETS.test(texts[line] ?? '')); // has-code
  const lines = new Set(pieces.map(({ line }) => line));
  const visited = new Set<number>();
  for (const report of reports) {
    const ran = ranBy(report, compiled.length);
    for (const { at, line } of pieces) if (ran[at] === 1) visited.add(line);
  }
  const missed = [...lines].filter((line) => !visited.has(line)).map((line) => line + 1);
  return { all: lines.size, missed: missed.toSorted((one, other) => one - other) };
}

/** 1 for each character that ran. Of several ranges around it the innermost says so. */
function ranBy(report: Visits, length: number): Uint8Array {
  const ran = new Uint8Array(length);
  const ranges = report.flatMap((each) => each.ranges);
  const outerFirst = ranges.toSorted((one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset);
  for (const { startOffset, endOffset, count } of outerFirst) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return ran;
}
