// `blockhouse demo`: a server on a workspace of its own, asked over HTTP as clients ask it. The echo provider answers, so no key and no model is needed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'clipanion';
import { tryParseJson } from '../../core/base/json.ts';
import type { ChatResponse } from '../../core/index.ts';
import { Api } from '../client/api.ts';
import { Client } from '../client/client.ts';
import type { ServerPlace } from '../client/connection.ts';
import { BaseCommand } from '../command/command.ts';
import type { RunningServer } from '../compose.ts';
import { pageLink } from '../serve/page-link.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { displayWidth } from '../terminal/layout.ts';
import { foldedInside, isColored, oneLine, type Style, styleFor, widthOf, write, writeLines } from '../terminal/output.ts';

const BLOCK = 'ada';
const ECHO = { provider: 'stand-in', model: 'stand-in' } as const;
/** A page would listen on the WebSocket instead; see docs/websocket.md. */
const LOOK_EVERY_MS = 50;
/** Settings that would take the demo out of its own workspace and port. */
const ELSEWHERE = /^BLOCKHOUSE_(?:STORE|\w+_PORT)$/;
const INDENT = '    ';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Shows a chat, a stream, a block and the page, and serves until Ctrl-C. */
export class DemoCommand extends BaseCommand {
  static override readonly paths = [['demo']];
  static override readonly usage = Command.Usage({
    category: 'Server',
    description: 'Look around without a key: a server, its answers, a block and the page',
    details: `
      Starts a server on a workspace of its own, asks it as clients do, and serves until Ctrl-C; then the workspace is removed. No provider is called: an echo
      answers, and says so.
    `,
    examples: [
      ['Look around', '$0 demo'],
      ['Only the tour', '$0 demo --once'],
    ],
  });

  port = Option.String('--port', { description: 'Port to listen on; default: BLOCKHOUSE_PORT, or 8420, or a free one' });
  once = Option.Boolean('--once', false, { description: 'End after the tour' });

  protected override async run(): Promise<ExitKind> {
    if (this.json) throw new CliError('usage', 'The demo is for people and has no JSON output.');
    const workspace = await mkdtemp(join(tmpdir(), 'blockhouse-demo-')).catch((error: Error) => {
      throw new CliError('place', `The demo needs a temporary folder: ${oneLine(error.message)}.`, error);
    });
    const stopping = new AbortController();
    const stop = (): void => stopping.abort();
    for (const signal of SIGNALS) process.once(signal, stop); // a second one ends the process
    const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve(), { once: true }));
    const unwatch = this.context.env['npm_lifecycle_event'] === 'demo' ? onceAlone(stop) : undefined;
    let server: RunningServer | undefined;
    try {
      server = await this.#start(workspace);
      await Promise.race([new Tour(server, this.stdout, styleFor(isColored(this.stdout, this.context.env)), this.command).show(), stopped]);
      if (stopping.signal.aborted || this.once) return 'ok';
      await writeLines(this.stdout, ['  Serving until Ctrl-C.']);
      await stopped;
      return 'ok';
    } finally {
      await server?.close();
      await rm(workspace, { recursive: true, force: true });
      for (const signal of SIGNALS) process.removeListener(signal, stop);
      unwatch?.();
    }
  }

  /** On the usual port, or on a free one where nobody has asked for a port and the usual one is taken. */
  async #start(workspace: string): Promise<RunningServer> {
    const { startServer } = await import('../compose.ts');
    const env = Object.fromEntries(Object.entries(this.context.env).filter(([name]) => !ELSEWHERE.test(name)));
    const start = (port: string | undefined): Promise<RunningServer> =>
      startServer({ workspace, host: '127.0.0.1', port }, { ...env, BLOCKHOUSE_LOG_LEVEL: 'error' });
    const isChosen = this.port !== undefined || (env['BLOCKHOUSE_PORT'] ?? '') !== '';
    return start(this.port).catch((error: unknown) => {
      if (isChosen || !(error instanceof CliError) || error.kind !== 'place') throw error;
      return start('0');
    });
  }
}

/** A SIGTERM to npm ends the shell between npm and this process, which gets no signal: it only has another parent from then on. Returns what ends the watch. */
function onceAlone(stop: () => void): () => void {
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid !== parent) stop();
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(look);
}

/** What is shown of one server. */
class Tour {
  readonly #server: RunningServer;
  readonly #stdout: Writable;
  readonly #style: Style;
  readonly #command: string;

  constructor(server: RunningServer, stdout: Writable, style: Style, command: string) {
    this.#server = server;
    this.#stdout = stdout;
    this.#style = style;
    this.#command = command;
  }

  /** Rejects with a CliError when an answer is none. */
  async show(): Promise<void> {
    const { url, core } = this.#server;
    const place: ServerPlace = { url: new URL(url), pid: process.pid, token: core.token?.reveal() ?? '' };
    const client = new Client(place, new AbortController().signal);
    await this.#say('', `  ${this.#style.bold('Blockhouse')} serves on ${this.#style.bold(url)}`);
    await this.#say(`  ${this.#style.dim('No key is needed here: the echo provider of this server answers, and no model.')}`, '');
    await this.#chat(client);
    await this.#stream(place);
    await this.#block(client);
    await furnish(client);
    await this.#page();
    await this.#next();
  }

  async #chat(client: Client): Promise<void> {
    await this.#title('1. A chat', 'POST /v1/chat');
    const { message } = await client.json<ChatResponse>('POST', '/v1/chat', { body: question('Hello?', false) });
    await this.#say(...this.#folded(firstLine(message.content)), '');
  }

  async #stream(place: ServerPlace): Promise<void> {
    await this.#title('2. The same, streamed', '"stream": true');
    const print = wordsOf(this.#stdout);
    let event = '';
    for await (const line of createInterface({ input: await streamed(place, question('Stream something to me.', true)) })) {
      if (line.startsWith('event: ')) event = line.slice('event: '.length);
      if (!line.startsWith('data: ')) continue;
      const data = tryParseJson(line.slice('data: '.length)) as { readonly text: string; readonly error: string };
      if (event === 'content') await print(data.text);
      if (event === 'error') throw new CliError('unexpected', data.error);
    }
    await this.#say('', '');
  }

  async #block(client: Client): Promise<void> {
    await this.#title('3. A block', 'POST /api/blocks, …/start, …/chat');
    const api = new Api(client);
    await api.create(BLOCK, { description: 'answers on its own', adapter: ECHO, systemPrompt: 'You are ada.' });
    await api.monitor(BLOCK, 'start');
    const { id } = await api.post(BLOCK, 'Who are you?');
    await this.#say(`    ${this.#style.dim('you:')} Who are you?`);
    const [first = '', ...rest] = this.#folded(`${BLOCK}: ${firstLine(await answerTo(api, id))}`);
    await this.#say(first.replace(`${BLOCK}:`, this.#style.dim(`${BLOCK}:`)), ...rest, '');
    await this.#say(`    ${this.#style.dim(`Everything of it lies in ${join(this.#server.config.workspace, 'blocks', BLOCK)}`)}`, '');
  }

  /** A link that signs a browser in. The fragment reaches no server. */
  async #page(): Promise<void> {
    const { PRINTED_CODE_MS } = await import('../../core/index.ts');
    const { core, config, url, hasPage } = this.#server;
    const code = hasPage ? await core.sessions?.newCode(PRINTED_CODE_MS) : undefined;
    if (code === undefined) return;
    await this.#title('4. The dashboard', 'in a browser; the link works once, within 10 minutes');
    await this.#say(`    ${this.#style.bold(pageLink(new URL(config.publicOrigin ?? url), code.text))}`, '');
  }

  async #next(): Promise<void> {
    const { url, config } = this.#server;
    const here = `--workspace ${config.workspace}`;
    const row = (command: string, note: string): string =>
      `    ${command.padEnd(`${this.#command} chat --provider <provider> "Hello"  `.length)}${this.#style.dim(`# ${note}`)}`;
    await this.#title('Your turn', 'in another terminal');
    await this.#say(
      `    TOKEN=$(${this.#command} token ${here})`,
      `    curl -s ${url}/v1/chat -H "Authorization: Bearer $TOKEN" \\`,
      `      -H 'Content-Type: application/json' \\`,
      `      -d '${JSON.stringify(question('Hello?'))}'`,
      '',
      `    ${this.#command} send ${BLOCK} --wait "Hello?" ${here}`,
      `    ${this.#command} ls ${here}`,
      '',
    );
    await this.#title('With a real model', 'in a workspace that stays');
    await this.#say(
      row(`${this.#command} auth set <provider>`, 'asks for your key'),
      row(`${this.#command} chat --provider <provider> "Hello"`, 'needs no server'),
      row(`${this.#command} serve`, 'with your key'),
      '',
    );
  }

  #folded(text: string): string[] {
    return foldedInside(`${INDENT}${text}`, widthOf(this.#stdout));
  }

  #title(title: string, note: string): Promise<void> {
    return this.#say(`  ${this.#style.bold(title)} ${this.#style.dim(`(${note})`)}`, '');
  }

  #say(...lines: string[]): Promise<void> {
    return writeLines(this.#stdout, lines);
  }
}

function question(content: string, stream?: boolean): object {
  return { adapter: ECHO.provider, model: ECHO.model, messages: [{ role: 'user', content }], ...(stream !== undefined && { stream }) };
}

const firstLine = (text: string): string => oneLine(text.split('\n')[0] ?? '');

/** Prints a text below the indent, a word as soon as it comes; where the terminal ends, a new line begins. */
function wordsOf(stdout: Writable): (text: string) => Promise<void> {
  let line = '';
  let gap = INDENT;
  return async (text) => {
    for (const [part] of text.matchAll(/\n+|[^\S\n]+|\S+/g)) {
      if (part.trim() === '') gap = part.startsWith('\n') ? `\n${INDENT}` : part;
      else {
        if (line !== '' && displayWidth(`${line}${gap}${part}`) > widthOf(stdout)) gap = `\n${INDENT}`;
        line = gap.startsWith('\n') ? `${INDENT}${part}` : `${line}${gap}${part}`;
        await write(stdout, `${gap}${part}`);
        gap = '';
      }
    }
  };
}

/** The lines of an answer that is streamed. */
function streamed(place: ServerPlace, body: object): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${place.token}`, 'content-type': 'application/json', connection: 'close' };
  return new Promise((resolve, reject) => {
    request(new URL('/v1/chat', place.url), { method: 'POST', headers }).on('response', resolve).on('error', reject).end(JSON.stringify(body));
  });
}

async function answerTo(api: Api, id: string): Promise<string> {
  for (;;) {
    const { entry, answer } = await api.message(BLOCK, id);
    if (answer != null) return answer.content;
    if (entry.status === 'failed') throw new CliError('unexpected', oneLine(`The block could not answer: ${entry.error?.message}`));
    await delay(LOOK_EVERY_MS);
  }
}

/** Blocks at work, so that the page has something to show: one answers, one waits for its start, one needs a model. */
async function furnish(client: Client): Promise<void> {
  const api = new Api(client);
  await api.create('release-notes', { description: 'Turns merged changes into notes', adapter: ECHO, budget: { dailyUsd: 2 } });
  await api.monitor('release-notes', 'start');
  await api.post('release-notes', 'What is new this week?');
  await api.create('night-digest', { description: 'Sums up the day', adapter: ECHO });
  await api.create('support', { description: 'Has no model yet' });
}
