// What a person sees when the server starts. Pure: no I/O.
import { basename, relative, sep } from 'node:path';
import { columns, oneLine, type Style } from './output.ts';
import type { Readiness } from './readiness.ts';

export interface BannerFacts {
  readonly version: string;
  readonly url: string;
  readonly workspace: string;
  /** How the token is printed, as this person would type it. */
  readonly tokenCommand: string;
  /** How this command is called. */
  readonly command: string;
  readonly adapters: readonly Readiness[];
}

export function banner(facts: BannerFacts, style: Style): string[] {
  return [
    '',
    `  ${style.bold('Blockhouse')} ${facts.version} listens on ${style.bold(facts.url)}`,
    `  ${style.dim(`workspace ${facts.workspace}`)}`,
    '',
    `  ${style.bold('Try it')} ${style.dim('in another terminal, in this folder')}`,
    '',
    ...curl(facts).map((line) => `    ${line}`),
    '',
    `  ${style.bold('Adapters')}`,
    '',
    ...adapterLines(facts.adapters, style).map((line) => `    ${line}`),
    '',
    ...keyHint(facts, style),
    `  ${style.dim('Ctrl-C stops the server.')}`,
    '',
  ];
}

/** A chat that works as it is pasted, with an adapter that is ready where there is one. */
function curl({ url, tokenCommand, adapters }: BannerFacts): string[] {
  const adapter = adapters.find(({ ready, hasSecret }) => ready && hasSecret) ?? adapters.find(({ authRequired }) => !authRequired) ?? adapters[0];
  const body = { adapter: adapter?.id, model: adapter?.defaultModel, messages: [{ role: 'user', content: 'Say hello.' }] };
  return [
    `TOKEN=$(${tokenCommand})`,
    `curl -s ${url}/v1/chat -H "Authorization: Bearer $TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ];
}

function adapterLines(adapters: readonly Readiness[], style: Style): string[] {
  const rows = columns(adapters.map((adapter) => [mark(adapter), adapter.id, stand(adapter)]));
  return rows.map((row) => (row.startsWith(READY) ? style.good(row.slice(0, 1)) + row.slice(1) : style.dim(row)));
}

const READY = '●';

function mark({ ready, hasSecret, authRequired }: Readiness): string {
  if (!ready) return '○';
  // Whether a chain of files and roles holds a credential is not known before it is asked.
  return hasSecret || !authRequired ? READY : '◌';
}

/** How an adapter stands, in a few words. */
export function stand({ ready, hasSecret, authRequired, broken, missing, envVars }: Readiness): string {
  if (ready) return hasSecret ? 'has a credential' : authRequired ? "asks the provider's own credential chain" : 'needs no key';
  return broken || envVars[0] === undefined ? oneLine(missing ?? 'not configured') : `no key yet (${envVars[0]})`;
}

function keyHint({ command, adapters }: BannerFacts, style: Style): string[] {
  const missing = adapters.find(({ ready }) => !ready);
  if (missing === undefined) return [];
  return [`  Add a key: ${style.bold(`${command} auth set ${missing.id}`)} (no restart needed), or set its variable and start again.`, ''];
}

/** How the person who started `script` calls it: by name where it was installed, else through node. */
export function ownCommand(script: string, cwd: string): string {
  if (basename(script) !== 'blockhouse') return `node ${shellWord(relativeOrWhole(script, cwd))}`;
  return script.includes(`node_modules${sep}.bin${sep}`) ? 'npx blockhouse' : 'blockhouse';
}

function relativeOrWhole(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short.startsWith('..') ? path : short;
}

/** One word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
