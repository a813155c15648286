// `npm run check:mcp`: the conformance suite of MCP against /mcp, in both eras. The suite needs Node 22; another one is named by BLOCKHOUSE_NODE22, the path of its
// program. Where it can't run, a line says so, and the check passes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { createOllama } from '../../adapters/ollama/index.ts';
import { createCore } from '../../core/index.ts';
import { createHttpTransport } from '../../transports/http/index.ts';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
/** The scenarios that need none of the suite's own tools, prompts and resources. */
const SCENARIOS: readonly (readonly [scenario: string, version: string])[] = [
  ['server-initialize', LEGACY],
  ['server-session-lifecycle', LEGACY],
  ['ping', LEGACY],
  ['tools-list', LEGACY],
  ['dns-rebinding-protection', LEGACY],
  ['server-sse-multiple-streams', LEGACY],
  ['server-stateless', MODERN],
  ['tools-list', MODERN],
  ['dns-rebinding-protection', MODERN],
  ['caching', MODERN],
  ['http-header-validation', MODERN],
  ['input-required-result-unsupported-methods', MODERN],
  ['server-sse-multiple-streams', MODERN],
];
/** What the suite can't see here, and why. */
const NOT_TESTABLE: Readonly<Record<string, string>> = {
  'sep-2575-server-rejects-undeclared-capability': 'no tool here needs a capability of its client',
  'sep-2575-missing-capability-http-400': 'no tool here needs a capability of its client',
  'sep-2575-http-server-no-independent-requests-on-stream': 'there are no streams',
  'sep-2575-server-no-log-without-loglevel': 'there are no streams',
  'server-sse-multiple-streams-session': 'there are no sessions',
  'sep-2549-prompts-list-caching-hints': 'there are no prompts',
  'sep-2549-resources-list-caching-hints': 'there are no resources',
  'sep-2549-resources-templates-list-caching-hints': 'there are no resources',
};

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly description: string;
  readonly errorMessage?: string;
}

/** The suite sends no token, so it asks this. Hosts and origins of its own become those of the server, and foreign ones stay foreign. */
async function withToken(server: URL, token: string): Promise<Server> {
  const door = createServer((req, res) => {
    const own = `:${(door.address() as AddressInfo).port}`;
    const inner = (text: string | undefined) => text?.replace(own, `:${server.port}`);
    const headers = {
      ...req.headers,
      authorization: `Bearer ${token}`,
      host: inner(req.headers.host),
      ...(req.headers.origin && { origin: inner(req.headers.origin) }),
    };
    const asked = request({ host: '127.0.0.1', port: server.port, method: req.method, path: req.url, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(res);
    });
    asked.on('error', () => res.destroy());
    req.pipe(asked);
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  return door;
}

/** The folder of a Node that is new enough; undefined if there is none. */
function newerNode(): string | undefined {
  const named = process.env['BLOCKHOUSE_NODE22'];
  if (named !== undefined) return dirname(named);
  return Number(process.versions.node.split('.')[0]) >= 22 ? dirname(process.execPath) : undefined;
}

/** Runs the suite. Not in one go, because it asks this process. */
async function conform(node: string, folder: string, args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const env = { ...process.env, PATH: `${node}${delimiter}${process.env['PATH']}` };
  const child = spawn('npm', ['exec', '--yes', `--package=${SUITE}`, '--', 'conformance', ...args], { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = Promise.all([readText(child.stdout), readText(child.stderr)]);
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code: code ?? 1, text: (await texts).join('') };
}

function checksIn(folder: string): Check[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('checks.json'));
  return files.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Check[]);
}

/** Says what is wrong with a scenario; undefined if nothing is. */
function faultsOf(checks: readonly Check[]): string | undefined {
  const bad = checks.filter(({ id, status }) => (status === 'FAILURE' || status === 'WARNING') && NOT_TESTABLE[id] === undefined);
  return bad.length === 0 ? undefined : bad.map(({ id, description, errorMessage = '' }) => `${id}: ${description} ${errorMessage}`).join('\n  ');
}

async function main(node: string, folder: string): Promise<boolean> {
  const core = createCore({ workspace: join(folder, 'workspace'), adapters: [createOllama()], env: {} });
  await core.start();
  await core.token?.ensure();
  const transport = createHttpTransport(core);
  const door = await withToken(new URL(await transport.listen(0, '127.0.0.1')), core.token?.reveal() ?? '');
  const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}/mcp`;
  let isRight = true;
  for (const [scenario, version] of SCENARIOS) {
    const output = join(folder, `${scenario}-${version}`);
    const args = ['server', '--url', url, '--scenario', scenario, '--spec-version', version, '-o', output];
    const { text } = await conform(node, folder, args);
    const checks = existsSync(output) ? checksIn(output) : [];
    const faults = checks.length === 0 ? text.slice(-2000) : faultsOf(checks);
    isRight &&= faults === undefined;
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
    process.stdout.write(`${faults === undefined ? 'ok' : 'NOT OK'} ${scenario} ${version}: ${passed} of ${checks.length} checks\n`);
    if (faults !== undefined) process.stdout.write(`  ${faults}\n`);
  }
  door.close();
  await transport.close();
  await core.close();
  return isRight;
}

const node = newerNode();
const folder = mkdtempSync(join(tmpdir(), 'blockhouse-mcp-'));
try {
  if (node === undefined) {
    process.stdout.write('check:mcp is skipped: the conformance suite of MCP needs Node 22; BLOCKHOUSE_NODE22 names its program.\n');
  } else {
    const { code, text } = await conform(node, folder, ['--version']);
    if (code !== 0) process.stdout.write(`check:mcp is skipped: the conformance suite of MCP can't be installed: ${text.slice(-300)}\n`);
    else process.exitCode = (await main(node, folder)) ? 0 : 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
