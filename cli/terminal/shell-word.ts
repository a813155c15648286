// Words of a shell: this program as a person calls it, and any text as one word. Pure: no I/O.
import { basename, relative, sep } from 'node:path';

/** The command that started `script`: `blockhouse` or `npx blockhouse` when it is installed, else `node <path>`. */
export function ownCommand(script: string, cwd: string): string {
  if (basename(script) !== 'blockhouse') return `node ${shellWord(relativeOrWhole(script, cwd))}`;
  return script.includes(`node_modules${sep}.bin${sep}`) ? 'npx blockhouse' : 'blockhouse';
}

function relativeOrWhole(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short.startsWith('..') ? path : short;
}

/** The text as one word of a POSIX shell, quoted if necessary. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
