// What a person sees when the server starts. Pure: no I/O.
import type { AdapterStatus } from '../../core/index.ts';
import { columns, type Style } from '../terminal/output.ts';
import { mark, paintOf, readiness } from '../views/adapter-text.ts';

/** What the banner shows. */
export interface BannerFacts {
  readonly version: string;
  readonly url: string;
  /** A link to the page that signs in, if there is a page. */
  readonly page?: string | undefined;
  /** The address of the second server, if there is one. */
  readonly ollamaUrl?: string | undefined;
  readonly workspace: string;
  /** How this person calls `blockhouse`. */
  readonly command: string;
  /** ` --workspace <folder>`, which other commands need to find this server, or nothing. */
  readonly flag: string;
  readonly adapters: readonly AdapterStatus[];
}

/** The lines of the banner: the address, a call to try, the providers. */
export function banner(facts: BannerFacts, style: Style): string[] {
  return [
    '',
    `  ${style.bold('Blockhouse')} ${facts.version} listens on ${style.bold(facts.url)}`,
    ...(facts.ollamaUrl === undefined ? [] : [`  and with Ollama's API alone on ${style.bold(facts.ollamaUrl)}`]),
    `  ${style.dim(`workspace ${facts.workspace}`)}`,
    '',
    ...(facts.page === undefined
      ? []
      : [
          `  ${style.bold('Dashboard')} ${facts.page}`,
          `  ${style.dim('The link works once, within 10 minutes. This makes another one:')}`,
          `  ${style.dim(`${facts.command} open${facts.flag}`)}`,
          '',
        ]),
    `  ${style.bold('Try it')} ${style.dim('in another terminal, in this folder')}`,
    '',
    ...curl(facts).map((line) => `    ${line}`),
    '',
    `  ${style.bold('Providers')}`,
    '',
    ...adapterLines(facts.adapters, style).map((line) => `    ${line}`),
    '',
    ...keyHint(facts, style),
    `  ${style.dim('Ctrl-C stops the server.')}`,
    '',
  ];
}

/** A chat request that works when it is pasted; uses a provider that is ready, if there is one. */
function curl({ url, command, flag, adapters }: BannerFacts): string[] {
  const adapter =
    adapters.find(({ ready, hasSecret }) => ready && hasSecret) ?? adapters.find(({ ready }) => ready) ?? adapters.find(({ authRequired }) => !authRequired);
  const body = { adapter: adapter?.id, model: adapter?.defaultModel, messages: [{ role: 'user', content: 'Say hello.' }] };
  return [
    `TOKEN=$(${command} token${flag})`,
    `curl -s ${url}/v1/chat -H "Authorization: Bearer $TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ];
}

function adapterLines(adapters: readonly AdapterStatus[], style: Style): string[] {
  const rows = columns(adapters.map((adapter) => [mark(adapter), adapter.id, readiness(adapter)]));
  return rows.map((row, index) => paintOf(adapters[index] ?? { ready: false }, style)(row.slice(0, 1)) + row.slice(1));
}

function keyHint({ command, flag, adapters }: BannerFacts, style: Style): string[] {
  const missing = adapters.find(({ ready, problem }) => !ready && problem === 'credential');
  if (missing === undefined) return [];
  return [
    `  Add a key: ${style.bold(`${command} auth set ${missing.id}${flag}`)}`,
    `  ${style.dim('It needs no restart; a key in an environment variable does.')}`,
    '',
  ];
}
