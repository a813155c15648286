// A real browser before a real server, for the specs of the page.
//
// any-fault-fails: a console error, an error of the page, a violation of its policy or a request to another origin fails the test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { LLMock } from '@copilotkit/aimock';
import { type Browser, chromium, type Disposable, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { findChromium } from './find-chromium.ts';
import { freePort } from './free-port.ts';
import { forgetPages, newPage, putBack, runScript, takePage } from './page-pool.ts';
import { PageRest } from './page-rest.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CLI = join(ROOT, 'dist/cli/main.js');
/** The built server as a module. */
const COMPOSE = pathToFileURL(join(ROOT, 'dist/cli/compose.js')).href;
const HOW = 'Install Chromium (apt-get install chromium), or name it in BLOCKHOUSE_CHROMIUM; then run npm run test:browser.';

/** What a test may ask of its page. */
export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  readonly reducedMotion?: boolean;
  /** Leaves out the sign-in. */
  readonly signedOut?: boolean;
  /** Faults that the test makes on purpose: their texts. */
  readonly expected?: readonly RegExp[];
  /** Prepares the page before it is loaded: its clock, its socket, what stands between it and the server. */
  prepare?(page: Page): Promise<unknown>;
}

/** How a world begins. */
export interface WorldOptions {
  /** Leaves the stand-in provider unstarted. */
  readonly isAlone?: boolean;
  /** The server is a process of its own, which can be killed or measured. Otherwise it is in this process, where it costs a tenth of the processor time. */
  readonly isProcess?: boolean;
  /** Of the server, beside what it always gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Serves in the place of the built server; resolves with its address, and with what ends it. */
  serve?(workspace: string): Promise<{ readonly url: string; stop(): Promise<unknown> }>;
  /** Writes files into the workspace before the server starts. */
  files?(workspace: string, standInUrl: string): void;
  /** The server has no blocks. */
  readonly gatewayOnly?: boolean;
}

/** True in `npm run test:browser`: what is swept is swept whole. `npm test` runs each test with a part of its pages, sizes and rounds. */
export const isWhole = process.env['BLOCKHOUSE_NEEDS_BROWSER'] === '1';

/** A size and a theme in which a page is looked at. */
export interface Look {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

/** For tests that only `npm run test:browser` runs: what they say is far from what each page is for, and `npm test` would spend most on them. */
export const inWhole = isWhole ? {} : ({ skip: 'part of npm run test:browser' } as const);

/** Each width in both themes; in `npm test` the first of them, which is the narrowest, in the dark. A test has its page wide and light before. */
export function looksOf(...widths: readonly number[]): readonly Look[] {
  const themes = ['dark', 'light'] as const;
  const all = widths.flatMap((width) => themes.map((colorScheme) => ({ width, colorScheme })));
  return isWhole ? all : all.slice(0, 1);
}

// The SDK of AWS asks the environment of its process, which is that of the server, and else the network.
for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
process.env['AWS_EC2_METADATA_DISABLED'] = 'true';

/** One process draws all pages of a context, one after the other: it has compiled their scripts already. */
const ARGS = [
  '--disable-gpu',
  '--in-process-gpu',
  '--disable-dev-shm-usage',
  '--process-per-site',
  // A page lives for a second, too short for machine code to pay, or for threads that compile and collect garbage beside it; and each request goes through one process less.
  // What is swept whole has all that people have.
  ...(isWhole ? [] : ['--js-flags=--no-maglev,--no-opt,--no-sparkplug,--single-threaded', '--enable-features=NetworkServiceInProcess2']),
];

/** same-address: ports of servers that have ended. A page that comes back to its address has the scripts of the page, and starts no process. */
const formerPorts: number[] = [];

let browser: Promise<Browser | undefined> | undefined;

/** One browser for all tests of a process. */
function launched(): Promise<Browser | undefined> {
  browser ??= findChromium().then((found) =>
    found === undefined
      ? undefined
      : chromium.launch({
          executablePath: found.executablePath,
          env: { ...process.env, ...found.env },
          args: [...ARGS, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
        }),
  );
  return browser;
}

/** Closes the browser; for the last test of a process. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
  forgetPages();
}

/** A server with a stand-in provider, and pages before it. Skips the test where there is no browser; `test:browser` fails there. */
export async function openWorld(t: Test, options: WorldOptions = {}): Promise<World | undefined> {
  const found = await launched();
  if (found === undefined) {
    if (isWhole) throw new Error(`There is no browser. ${HOW}`);
    await t.skip(`there is no browser. ${HOW}`, () => undefined);
    return undefined;
  }
  const world = new World(found, t, options);
  await world.begin();
  return world;
}

/** One server, its stand-in, its pages. */
export class World {
  readonly workspace = mkdtempSync(join(tmpdir(), 'blockhouse-page-'));
  url = '';
  #standIn: LLMock | undefined;
  #standInPort = 0;
  readonly #browser: Browser;
  readonly #t: Test;
  readonly #options: WorldOptions;
  /** Those of the test, and whether a later one may use them again. */
  readonly #pages = new Map<Page, boolean>();
  readonly #rests = new WeakMap<Page, PageRest>();
  #port = 0;
  #pid: number | undefined;
  #stop: () => Promise<unknown> = async () => undefined;

  constructor(found: Browser, t: Test, options: WorldOptions) {
    this.#browser = found;
    this.#t = t;
    this.#options = options;
    t.teardown(() => this.#end());
  }

  /** Plays Ollama; say what it answers with `onMessage`. */
  get standIn(): LLMock {
    this.#standIn ??= new LLMock({ port: this.#standInPort, latency: 15, chunkSize: 12, logLevel: 'silent' });
    return this.#standIn;
  }

  /** Of the server, which must be a process. */
  get pid(): number {
    if (this.#pid === undefined) throw new Error('The server is in this process: open the world with isProcess.');
    return this.#pid;
  }

  get token(): string {
    return readFileSync(join(this.workspace, '.api-token'), 'utf8').trim();
  }

  async begin(): Promise<void> {
    const { isAlone = false, files, serve } = this.#options;
    this.#standInPort = await freePort();
    if (!isAlone) await this.standIn.start();
    files?.(this.workspace, this.#standInUrl);
    if (serve !== undefined) {
      const { url, stop } = await serve(this.workspace);
      this.url = url;
      this.#stop = stop;
    } else await this.startServer();
  }

  get #isProcess(): boolean {
    return this.#options.isProcess === true;
  }

  get #standInUrl(): string {
    return `http://127.0.0.1:${this.#standInPort}`;
  }

  get #env(): Record<string, string | undefined> {
    const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_API_KEY$|^AWS_|^BLOCKHOUSE_/.test(name)));
    return { ...own, OLLAMA_BASE_URL: this.#standInUrl, AWS_EC2_METADATA_DISABLED: 'true', ...this.#options.env };
  }

  async #startHere(): Promise<void> {
    const { startServer } = (await import(COMPOSE)) as typeof import('../../cli/compose.ts');
    const env = { ...this.#env, BLOCKHOUSE_LOG_LEVEL: 'silent' };
    const port = formerPorts.pop() ?? (await freePort());
    const server = await startServer({ host: '127.0.0.1', port: String(port), workspace: this.workspace, gatewayOnly: this.#options.gatewayOnly }, env);
    this.url = server.url;
    this.#stop = async () => {
      await server.core.close(); // open answers are not waited for
      await server.close();
      formerPorts.push(port);
    };
  }

  /** Starts the server again, on its former port. */
  async startServer(): Promise<void> {
    await (this.#isProcess ? this.#startProcess() : this.#startHere());
  }

  async #startProcess(): Promise<void> {
    const args = ['serve', '--json', '--host', '127.0.0.1', '--port', String(this.#port), '--workspace', this.workspace];
    const env = { ...this.#env, BLOCKHOUSE_LOG_LEVEL: 'error' };
    const server = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    this.#pid = server.pid;
    const closed = once(server, 'close');
    const { value } = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
    this.url = (JSON.parse(String(value)) as { readonly url: string }).url;
    this.#port = Number(new URL(this.url).port);
    this.#stop = async () => {
      server.kill('SIGKILL');
      await closed;
    };
  }

  /** As a power cut would; only where the server is a process. */
  async killServer(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    await this.#stop();
  }

  /** Ends a server in this process: its sockets are closed, and its open answers are not waited for. */
  async endServer(): Promise<void> {
    await this.#stop();
    this.#stop = async () => undefined; // until it is started again
  }

  /** A request with the token of the workspace. */
  async api<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as T;
  }

  /** A block with the stand-in's model, started. */
  async block(name: string, config: object = {}): Promise<void> {
    await this.api('POST', '/api/blocks', { name, config: { adapter: { provider: 'ollama', model: 'stand-in' }, ...config } });
    await this.api('POST', `/api/blocks/${name}/start`);
  }

  /**
   * A page with a session of its own, in a context that no other page of the test is in. What a link with a code does, which loads the page twice, has a spec.
   * A page that is not prepared and has a session is one that an earlier test has used, as-new.
   */
  async page(path = '/ui/', options: PageOptions = {}): Promise<Page> {
    const { width = 1440, height = 900, theme = 'light', reducedMotion = true, signedOut = false, prepare } = options;
    const look = { width, height, theme, reducedMotion };
    const isUsedAgain = prepare === undefined && !signedOut;
    const page = await (isUsedAgain ? takePage(this.#browser, look) : newPage(this.#browser, look));
    this.#pages.set(page, isUsedAgain);
    const rest = new PageRest(page);
    this.#rests.set(page, rest);
    this.#watch(page, options, rest);
    await prepare?.(page);
    const signIn = signedOut ? undefined : await this.#signIn(page);
    await page.goto(this.url + path);
    if (signIn === undefined) return page;
    await page.locator('.app').waitFor();
    await signIn.dispose(); // a page that signs out stays so
    return page;
  }

  /** A test that needs many pages needs them one after the other. */
  async leave(page: Page): Promise<void> {
    const isUsedAgain = this.#pages.get(page);
    this.#pages.delete(page);
    await (isUsedAgain === true ? putBack(page) : page.context().close());
  }

  /** The next documents of the page have a session, until this is disposed of. */
  async #signIn(page: Page): Promise<Disposable> {
    const { key, expiresAt } = await this.api<{ readonly key: string; readonly expiresAt: string }>('POST', '/api/session');
    const text = (value: unknown): string => JSON.stringify(value);
    const { origin } = new URL(this.url);
    return page.addInitScript(`if (location.origin === ${text(origin)}) {
      localStorage.clear(); // as-new: an earlier server may have had this port
      sessionStorage.clear();
      localStorage.setItem('blockhouse.session', ${text(text({ key, expiresAt }))});
    }`);
  }

  /** Goes to an address of the page, and resolves when it is there and rests. */
  async show(page: Page, path: string): Promise<void> {
    this.#rests.get(page)?.forget();
    await page.goto(this.url + path);
    await page.locator('main h1').first().waitFor({ state: 'attached' });
    await this.rest(page);
  }

  /** Goes there as a link of the page leads, which is a third of a load, and resolves when the page rests. */
  async visit(page: Page, path: string): Promise<void> {
    await page.evaluate(`{
      const link = Object.assign(document.createElement('a'), { href: ${JSON.stringify(path)} });
      document.querySelector('main')?.append(link);
      link.click();
      link.remove();
    }`);
    await page.waitForURL(this.url + path);
    await page.locator('main h1').first().waitFor({ state: 'attached' });
    await this.rest(page);
  }

  /** For a page that is looked at, however it was reached: by a link in `npm test`, and by a load of its address in `test:browser`. */
  async reach(page: Page, path: string): Promise<void> {
    await (isWhole ? this.show(page, path) : this.visit(page, path));
  }

  /** Resolves when the page has what it has asked for, and has drawn it. */
  async rest(page: Page): Promise<void> {
    await this.#rests.get(page)?.reached();
  }

  /** any-fault-fails, from the first document of this world on. */
  #watch(page: Page, { expected = [] }: PageOptions, rest: PageRest): void {
    const t = this.#t;
    let isHere = false;
    page.on('framenavigated', (frame) => {
      if (isHere || frame !== page.mainFrame()) return;
      isHere = true;
      rest.forget();
    });
    const fault = (text: string): void => {
      if (isHere && !expected.some((pattern) => pattern.test(text))) t.fail(text.slice(0, 500));
    };
    page.on('console', (message) => {
      if (message.type() === 'error') fault(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => fault(`page: ${error.stack ?? error.message}`));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== 'data:' && protocol !== 'blob:' && origin !== new URL(this.url).origin) fault(`request to ${origin}`);
    });
  }

  async #end(): Promise<void> {
    for (const page of this.#pages.keys()) await this.leave(page);
    await this.#stop();
    await this.#standIn?.stop().catch(() => undefined); // a test may have left it unstarted
    rmSync(this.workspace, { recursive: true, force: true });
  }
}

/** The part of axe that is used. */
interface Axe {
  run(options: object): Promise<{
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[] }[];
  }>;
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** once-each: what axe has looked at in this process, each an address with the dialog that is open on it. */
const examined = new Set<string>();

/**
 * axe on the page as it is; the texts of what it finds.
 *
 * once-each: in `npm test`, axe looks at an address, and at each dialog of it, once. In `test:browser` it looks as often as it is asked.
 * only-what-fails: what has passed is not described, and does not leave the page. It is hundreds of kilobytes, which cost three times what the search does.
 */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  const place = String(
    await page.evaluate('location.pathname + location.search + (document.querySelector("dialog, [role=dialog]")?.textContent.slice(0, 20) ?? "")'),
  );
  if (!isWhole && examined.has(place)) return [];
  examined.add(place); // once-each
  // Through the debugger, since the page's policy allows no foreign script.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await runScript(page, readFileSync(AXE, 'utf8'));
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { readonly axe: Axe };
    const { violations } = await axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      resultTypes: ['violations'], // only-what-fails
      preload: false, // it would fetch the style sheets again, which no rule of these needs
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 160)} ${failureSummary.replace(/\s+/g, ' ').slice(0, 240)}`),
    );
  });
}
