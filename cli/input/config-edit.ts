// A configuration as a text that a person edits. The text is in a file that only this user can read, and is deleted unless
// the person's changes would be lost.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { faultPlace } from '../../core/base/json-place.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { fileFault } from './file-fault.ts';
import { readAll } from './input.ts';

type Fields = Record<string, unknown>;

/** Fields that only the server changes. */
const KEPT: readonly string[] = ['name', 'createdAt', 'updatedAt', 'rev'];

/** The fields of a configuration that a person may change. */
export function editable(config: object): Fields {
  return Object.fromEntries(Object.entries(config).filter(([field]) => !KEPT.includes(field)));
}

/** The fields of `after` that differ from `before`. Removed fields are not included, because an update can't remove one. */
export function changedFields(before: Fields, after: Fields): Fields {
  return Object.fromEntries(Object.entries(after).filter(([field, value]) => !isDeepStrictEqual(value, before[field])));
}

/** Parses a JSON object. Rejects with a CliError that says where in `where` the text is wrong. */
export async function parseFields(text: string, where: string): Promise<Fields> {
  const value = tryParseJson(text);
  if (value === undefined) throw new CliError('usage', `${where} is not valid JSON: ${faultPlace(text)}.`);
  if (!isObject(value)) throw new CliError('usage', `${where} is not a JSON object.`);
  return value;
}

/** The editable fields of the configuration in a file, or in standard input for `-`. Rejects with a CliError. */
export async function readConfigFile(file: string, input: Readable, signal: AbortSignal): Promise<Fields> {
  const text = file === '-' ? await readAll(input, signal) : await readFile(file, 'utf8').catch((error: Error) => unreadable(file, error));
  return editable(await parseFields(text, file === '-' ? 'Standard input' : file));
}

function unreadable(file: string, error: Error): never {
  throw new CliError('usage', `${file} ${fileFault(error)}.`, error);
}

/** A text that was edited. */
export interface Draft {
  readonly file: string;
  /** The text after editing. */
  read(): Promise<string>;
  remove(): Promise<void>;
}

/** Opens a text in the person's editor and resolves when the editor ends. Rejects with a CliError when it fails. */
export async function edit(text: string, env: Readonly<Record<string, string | undefined>>): Promise<Draft> {
  const folder = await mkdtemp(join(tmpdir(), 'blockhouse-'));
  const file = join(folder, 'config.json');
  const draft = { file, read: () => readFile(file, 'utf8'), remove: () => rm(folder, { recursive: true, force: true }) };
  await writeFile(file, text, { mode: 0o600, flag: 'wx' });
  try {
    await runEditor(file, env);
  } catch (error) {
    await draft.remove();
    throw error;
  }
  return draft;
}

const DEFAULT_EDITOR = process.platform === 'win32' ? 'notepad' : 'vi';

async function runEditor(file: string, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const editor = env['VISUAL'] || env['EDITOR'] || DEFAULT_EDITOR;
  // The variable may contain arguments, such as `code --wait`.
  const [program, args, shell] = process.platform === 'win32' ? [editor, [`"${file}"`], true] : ['/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], false];
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore); // Ctrl-C in the editor is for the editor
  try {
    const child = spawn(program as string, args as string[], { stdio: 'inherit', env, shell: shell as boolean });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0)
      throw new CliError('unexpected', `The editor ended with ${code ?? 'a signal'}, so nothing was changed; set VISUAL or EDITOR to choose another one.`);
  } finally {
    process.removeListener('SIGINT', ignore);
  }
}
