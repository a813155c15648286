// A configuration as a text that a person edits.
//
// E1 The text lies in a folder and a file that nobody else can read, and goes away unless something in it would be lost.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { CliError } from './exit-codes.ts';
import { readAll } from './input.ts';

type Fields = Record<string, unknown>;

/** Fields that the server keeps by itself. */
const KEPT: readonly string[] = ['name', 'createdAt', 'updatedAt', 'rev'];

/** What a person may change of a configuration. */
export function editable(config: object): Fields {
  return Object.fromEntries(Object.entries(config).filter(([field]) => !KEPT.includes(field)));
}

/** The fields of `after` that differ. Fields that are gone are not among them: a change can't remove one. */
export function changedFields(before: Fields, after: Fields): Fields {
  return Object.fromEntries(Object.entries(after).filter(([field, value]) => !isDeepStrictEqual(value, before[field])));
}

/** JSON text as an object. Throws a CliError that says where it is wrong. */
export async function parseFields(text: string, where: string): Promise<Fields> {
  const { isObject, parseJson } = await import('../core/index.ts');
  const value = parsed(text, parseJson);
  if (value instanceof SyntaxError) throw new CliError('usage', `${where} is no JSON: ${placeOf(text, parseJson)}.`);
  if (!isObject(value)) throw new CliError('usage', `${where} is no JSON object.`);
  return value;
}

type Parse = (text: string) => unknown;

function parsed(text: string, parse: Parse): unknown {
  try {
    return parse(text);
  } catch (error) {
    return error;
  }
}

/**
 * Where a text stops being JSON. The parser's own message may quote the text, and that may hold a key; its position is not always
 * told. Up to the fault, a text is one that ends too early; so the fault is found by halving.
 */
function placeOf(text: string, parse: Parse): string {
  let good = 0;
  let bad = text.length + 1;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    const outcome = parsed(text.slice(0, middle), parse);
    if (outcome instanceof SyntaxError && !isCutShort(outcome, middle)) bad = middle;
    else good = middle;
  }
  const before = text.slice(0, good).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** The fault lies behind the last character. */
function isCutShort({ message }: SyntaxError, length: number): boolean {
  return message.includes('end of JSON') || Number(/at position (\d+)/.exec(message)?.[1] ?? -1) >= length;
}

/** The configuration in a file, or in standard input for `-`. */
export async function readConfigFile(file: string, input: Readable, signal: AbortSignal): Promise<Fields> {
  const text = file === '-' ? await readAll(input, signal) : await readFile(file, 'utf8').catch((error: Error) => unreadable(file, error));
  return editable(await parseFields(text, file === '-' ? 'standard input' : file));
}

function unreadable(file: string, error: Error): never {
  throw new CliError('usage', `${file} can't be read: ${error.message}`, error);
}

export interface Draft {
  readonly file: string;
  /** The text after editing. */
  read(): Promise<string>;
  remove(): Promise<void>;
}

/** Lets a person edit a text; resolves when the editor ends. Throws when it fails. */
export async function edit(text: string, env: Readonly<Record<string, string | undefined>>): Promise<Draft> {
  const folder = await mkdtemp(join(tmpdir(), 'blockhouse-'));
  const file = join(folder, 'config.json');
  const draft = { file, read: () => readFile(file, 'utf8'), remove: () => rm(folder, { recursive: true, force: true }) };
  await writeFile(file, text, { mode: 0o600, flag: 'wx' }); // E1
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
  // The variable is a command with its arguments, as in every program that reads it.
  const [program, args, shell] = process.platform === 'win32' ? [editor, [`"${file}"`], true] : ['/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], false];
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore); // Ctrl-C in the editor is the editor's
  try {
    const child = spawn(program as string, args as string[], { stdio: 'inherit', env, shell: shell as boolean });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0)
      throw new CliError('unexpected', `the editor ended with ${code ?? 'a signal'}, so nothing was changed; VISUAL or EDITOR names another one.`);
  } finally {
    process.removeListener('SIGINT', ignore);
  }
}
