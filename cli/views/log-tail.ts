// The lines of the log files that were not shown yet. Pure: no I/O.
//
// taken-once: a line is taken once, and only when it is complete.
import type { LogFile } from '../../core/index.ts';

/** The levels of a block's log, lowest first. */
export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
/** The level of a log line. */
export type Level = (typeof LEVELS)[number];

/** Whether a text is a level. */
export function isLevel(text: string): text is Level {
  return LEVELS.some((level) => level === text);
}

/** Follows the log files of one block. */
export class LogTail {
  /** The bytes already taken of each file. */
  readonly #taken = new Map<string, number>();

  /** The complete lines that are new since the last call, oldest first. `logs` has the end of each file, newest file first. */
  take(logs: readonly LogFile[]): string[] {
    const lines: string[] = [];
    for (const log of logs.toReversed()) lines.push(...this.#takeFile(log));
    return lines;
  }

  #takeFile({ file, content, size, truncated }: LogFile): string[] {
    const bytes = Buffer.from(content);
    const start = truncated ? Math.max(size - bytes.length, 0) : 0;
    const end = bytes.lastIndexOf('\n') + 1; // taken-once
    const from = Math.max((this.#taken.get(file) ?? 0) - start, 0);
    if (from >= end) return [];
    this.#taken.set(file, start + end);
    return bytes.subarray(from, end).toString().split('\n').slice(0, -1);
  }
}

/** The level of a log line; undefined for a line that continues the one before it. */
export function levelOf(line: string): Level | undefined {
  const word = /^\S+ ([A-Z]+)(?: |$)/.exec(line)?.[1]?.toLowerCase();
  return word !== undefined && isLevel(word) ? word : undefined;
}

/** The lines of at least this level, with their continuation lines. */
export function atLeast(lines: readonly string[], least: Level): string[] {
  let isKept = false;
  return lines.filter((line) => {
    const level = levelOf(line);
    if (level !== undefined) isKept = LEVELS.indexOf(level) >= LEVELS.indexOf(least);
    return isKept;
  });
}
