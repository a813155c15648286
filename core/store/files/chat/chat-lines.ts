// Appends JSON lines to the files in chat-archive/, in slices, so that many entries don't block the event loop.
//
// whole-lines: a line that a crash or a full disk has cut short doesn't damage the next line.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** The most that is converted and written at once. */
const SLICE = { lines: 500, characters: 512 * 1024 } as const;
const NEWLINE = 0x0a;

/** Appends a line for each value. The lines are on disk when it resolves; true if the file is new, so that its folder still needs a sync. */
export async function appendLines(path: string, values: readonly object[]): Promise<boolean> {
  const file = await open(path, FLAGS, 0o600);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error(`${basename(path)} in chat-archive is not a regular file`);
    if (!(await endsLine(file, stats.size))) await file.appendFile('\n');
    for (const text of slices(values)) await file.appendFile(text);
    await file.sync();
    return stats.size === 0;
  } finally {
    await file.close();
  }
}

/** whole-lines. */
async function endsLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === NEWLINE;
}

function* slices(values: readonly object[]): Generator<string> {
  let text = '';
  let lines = 0;
  for (const value of values) {
    text += `${JSON.stringify(value)}\n`;
    lines += 1;
    if (lines < SLICE.lines && text.length < SLICE.characters) continue;
    yield text;
    text = '';
    lines = 0;
  }
  if (text !== '') yield text;
}
