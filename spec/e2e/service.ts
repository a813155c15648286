// The service as its users have it: the built command as a process, an independent mock as the daemon, and every answer held
// against the published contract.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Test } from 'tap';
import { type Outcome, run, type Serving, serve } from '../cli/run.ts';
import { faults, pointerTo } from '../contract/document.ts';
import { WsClient } from '../support/ws.ts';

export interface CallOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
  readonly token?: string | null;
}

export interface Service {
  readonly workspace: string;
  readonly port: number;
  readonly token: string;
  readonly mock: LLMock;
  readonly server: Serving;
  /** Makes a call of the document and judges status and body; resolves with the body. */
  // biome-ignore lint/suspicious/noExplicitAny: the document has judged it
  call(t: Test, method: string, path: string, status: number, options?: CallOptions): Promise<any>;
  /** Runs a command with --json on the workspace. */
  cli(...args: string[]): Promise<Outcome>;
  connect(t: Test): Promise<WsClient>;
}

/** A service without any block. The mock repeats `words` to everybody, in pieces. */
export async function startService(t: Test, words: string): Promise<Service> {
  const mock = new LLMock({ port: 0, chunkSize: 6, latency: 5, logLevel: 'silent' });
  mock.onMessage(/./, { content: words });
  await mock.start();
  t.teardown(() => mock.stop());
  const workspace = t.testdir();
  const server = await serve(t, workspace, { OLLAMA_BASE_URL: mock.url });
  const token = readFileSync(join(workspace, '.api-token'), 'utf8').trim();
  const port = Number(new URL(server.url).port);
  return {
    workspace,
    port,
    token,
    mock,
    server,
    call: (t, method, path, status, options) => judged(t, server.url, token, { method, path, status, ...options }),
    cli: (...args) => run(t, [...args, '--json', '--workspace', workspace]),
    connect: (t) => WsClient.connect(t, { port, token }),
  };
}

async function judged(
  t: Test,
  url: string,
  ownToken: string,
  {
    method,
    path,
    status,
    params = {},
    query = '',
    body,
    token = ownToken,
  }: CallOptions & { readonly method: string; readonly path: string; readonly status: number },
): Promise<unknown> {
  const target = path.replace(/\{(\w+)\}/g, (_whole, key: string) => params[key] ?? '') + query;
  const headers = { ...(token !== null && { authorization: `Bearer ${token}` }), ...(body !== undefined && { 'content-type': 'application/json' }) };
  const response = await fetch(url + target, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const answer: unknown = await response.json();
  const title = `${method} ${target} ${status}`;
  t.equal(response.status, status, `${title}: ${JSON.stringify(answer).slice(0, 300)}`);
  const pointer = pointerTo('paths', path, method.toLowerCase(), 'responses', String(response.status), 'content', 'application/json', 'schema');
  t.strictSame(faults(pointer, answer), [], title);
  return answer;
}

interface AsyncDocument {
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const published = JSON.parse(readFileSync(resolve(import.meta.dirname, '../asyncapi.json'), 'utf8')) as AsyncDocument;
const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } });
const SCHEMAS: Readonly<Record<string, string>> = { refresh: 'Refresh', gone: 'Gone', pong: 'Pong', error: 'Error' };
const STREAM_SCHEMAS: Readonly<Record<string, string>> = { start: 'StreamStart', content: 'StreamContent', done: 'StreamDone', error: 'StreamError' };

/** The faults of a frame against the published contract of the WebSocket. */
export function frameFaults(frame: Readonly<Record<string, unknown>>): unknown[] {
  const name = frame['type'] === 'stream' ? STREAM_SCHEMAS[String(frame['event'])] : SCHEMAS[String(frame['type'])];
  const schema = published.components.schemas[name ?? ''];
  if (schema === undefined) return [`there is no frame like ${JSON.stringify(frame)}`];
  const validate = ajv.compile(schema);
  void validate(frame);
  return validate.errors ?? [];
}
