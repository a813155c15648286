// Settings of the process: flags, then environment, then defaults; resolved once and frozen. Pure: no I/O.

import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isConnectionName } from './auth/connection-name.ts';
import type { Environment } from './auth/settings.ts';
import { urlOf } from './base/url.ts';
import type { QueueLimits } from './gateway/queue.ts';
import type { UpstreamTimeouts } from './ports.ts';

/** The levels of BLOCKHOUSE_LOG_LEVEL, as pino names them. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
/** One of LOG_LEVELS. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The levels of BLOCKHOUSE_LOG_REQUESTS. */
export const REQUEST_LOG_LEVELS = ['info', 'debug'] as const;
/** One of REQUEST_LOG_LEVELS. */
export type RequestLogLevel = (typeof REQUEST_LOG_LEVELS)[number];

/** How a server reaches the database that keeps its workspace. Addresses may have a password. */
export interface StoreSettings {
  readonly url: string;
  /** The same database past a pooler, to listen there. */
  readonly direct?: string;
  /** The most connections, beside those that listen and tell. */
  readonly connections?: number;
  /** How long a server that is silent keeps its blocks; the same for all. */
  readonly leaseMs?: number;
}

/** The settings of one server process. */
export interface ProcessConfig {
  readonly host: string;
  readonly port: number;
  /** The port of the second server, which serves nothing but Ollama's API; without it there is none. */
  readonly ollamaPort?: number;
  /** Absolute path. */
  readonly workspace: string;
  /** The database that keeps the workspace; without it, the folder keeps it. */
  readonly store?: StoreSettings;
  readonly allowRemote: boolean;
  /** True for a server without blocks. */
  readonly gatewayOnly?: true;
  /** How many processes serve the clients; without it, the process of the server does. */
  readonly workers?: number;
  readonly allowedOrigins: ReadonlySet<string>;
  /** Presets that are connections without an entry in auth.json. */
  readonly connections: readonly string[];
  /** Origins of web pages that may call the gateway from a browser. */
  readonly webOrigins: ReadonlySet<string>;
  /** The one origin under which a proxy with TLS serves the server. */
  readonly publicOrigin?: string;
  readonly queue: QueueLimits;
  readonly timeouts: Partial<UpstreamTimeouts>;
  /** The most model calls that all monitors together make at the same time. */
  readonly monitorCalls: number;
  /** The most open connections. */
  readonly maxConnections: number;
  /** The most bytes that the bodies of all requests in work have together. */
  readonly bodyMemoryBytes: number;
  /** How long open answers may go on after the server was asked to end, in milliseconds. */
  readonly drainMs: number;
  /** Whether metrics need no token. */
  readonly metricsOpen: boolean;
  /** True if traces or metrics may have to be exported over OTLP. */
  readonly hasCollector: boolean;
  /** True if providers are to know the trace of a request. */
  readonly tracesProviders: boolean;
  /** Whether the log says that the running Node gets no security fixes any more. */
  readonly nodeNotice: boolean;
  readonly logLevel: LogLevel;
  /** The level at which a served request is logged, where it is set: else a person at a terminal sees each, and a log leaves them out. */
  readonly requestLogLevel?: RequestLogLevel;
}

/** The flags of `blockhouse serve`, as text. */
export interface Flags {
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly ollamaPort?: string | undefined;
  readonly publicOrigin?: string | undefined;
  readonly workspace?: string | undefined;
  readonly store?: string | undefined;
  readonly allowRemote?: boolean | undefined;
  readonly gatewayOnly?: boolean | undefined;
  readonly workers?: string | undefined;
}

/** With more, monitors would crowd out the gateway's direct callers. */
export const DEFAULT_MONITOR_CALLS = 16;
/** Systems give a process 1,024 file descriptors or more; a developer's machine has some tens of connections. */
export const DEFAULT_MAX_CONNECTIONS = 2000;
const MIB = 1024 * 1024;
/** A body takes two to three times its size in memory. Eight of the largest ones fit in. */
export const DEFAULT_BODY_MEMORY_BYTES = 256 * MIB;
/** Any import fits in beside other requests. */
const MIN_BODY_MEMORY_MIB = 80;
/** No machine has more cores for them. */
const MAX_WORKERS = 256;
/** Leaves enough time for the rest of the shutdown, so that a server ends within five seconds. */
export const DEFAULT_DRAIN_MS = 3500;
/** Calls at a time and calls that may wait, for each provider. */
export const DEFAULT_QUEUE: QueueLimits = { concurrency: 64, waiting: 256 };

/** Throws an Error that names the setting, its flag and its variable. */
export function resolveProcessConfig(flags: Flags, env: Environment): ProcessConfig {
  const text = (name: string): string | undefined => (env[name]?.trim() === '' ? undefined : env[name]?.trim());
  const host = (flags.host ?? text('BLOCKHOUSE_HOST') ?? '127.0.0.1').replace(/^\[(.*)\]$/, '$1');
  const allowRemote = flags.allowRemote ?? text('BLOCKHOUSE_ALLOW_REMOTE') === '1';
  if (!allowRemote && !isLoopback(host)) {
    throw new Error(
      `--host ${host} would make this server, which has your keys, reachable from other machines. If you want that, add --allow-remote (or set BLOCKHOUSE_ALLOW_REMOTE=1) and put a TLS proxy in front of it.`,
    );
  }
  const workers = integer('--workers', flags.workers, 1, MAX_WORKERS);
  const ollamaPort = integer('--ollama-port or BLOCKHOUSE_OLLAMA_PORT', flags.ollamaPort ?? text('BLOCKHOUSE_OLLAMA_PORT'), 0, 65_535);
  const publicOrigin = parsePublicOrigin(flags.publicOrigin ?? text('BLOCKHOUSE_PUBLIC_ORIGIN'));
  const store = readStore(flags.store ?? text('BLOCKHOUSE_STORE'), text);
  if (workers !== undefined && flags.gatewayOnly !== true && store === undefined)
    throw new Error(
      '--workers needs --gateway-only or a database, because blocks in files are of one process. Add --gateway-only, keep the workspace in a database with --store or BLOCKHOUSE_STORE, or leave --workers out.',
    );
  return Object.freeze({
    host,
    port: integer('--port or BLOCKHOUSE_PORT', flags.port ?? text('BLOCKHOUSE_PORT'), 0, 65_535) ?? 8420,
    ...(ollamaPort !== undefined && { ollamaPort }),
    workspace: workspaceFolder(flags.workspace ?? text('BLOCKHOUSE_WORKSPACE')),
    ...(store !== undefined && { store }),
    allowRemote,
    ...(flags.gatewayOnly === true && { gatewayOnly: true }),
    ...(workers !== undefined && { workers }),
    allowedOrigins: parseOrigins(text('BLOCKHOUSE_ALLOWED_ORIGINS')),
    connections: parseConnections(text('BLOCKHOUSE_CONNECTIONS')),
    ...(publicOrigin !== undefined && { publicOrigin }),
    webOrigins: parseWebOrigins(text('BLOCKHOUSE_WEB_ORIGINS')),
    queue: Object.freeze({
      concurrency: integer('BLOCKHOUSE_QUEUE_CONCURRENCY', text('BLOCKHOUSE_QUEUE_CONCURRENCY'), 1, 100_000) ?? DEFAULT_QUEUE.concurrency,
      waiting: integer('BLOCKHOUSE_QUEUE_WAITING', text('BLOCKHOUSE_QUEUE_WAITING'), 0, 1_000_000) ?? DEFAULT_QUEUE.waiting,
    }),
    timeouts: readTimeouts(text),
    monitorCalls: integer('BLOCKHOUSE_MONITOR_CALLS', text('BLOCKHOUSE_MONITOR_CALLS'), 1, 10_000) ?? DEFAULT_MONITOR_CALLS,
    maxConnections: integer('BLOCKHOUSE_MAX_CONNECTIONS', text('BLOCKHOUSE_MAX_CONNECTIONS'), 1, 1_000_000) ?? DEFAULT_MAX_CONNECTIONS,
    bodyMemoryBytes: bodyMemory(text('BLOCKHOUSE_BODY_MEMORY_MIB')),
    drainMs: integer('BLOCKHOUSE_DRAIN_MS', text('BLOCKHOUSE_DRAIN_MS'), 0, 3_600_000) ?? DEFAULT_DRAIN_MS,
    metricsOpen: text('BLOCKHOUSE_METRICS_OPEN') === '1',
    hasCollector: hasCollector(text),
    tracesProviders: hasCollector(text) && text('BLOCKHOUSE_TRACE_PROVIDERS') === '1',
    nodeNotice: choice('BLOCKHOUSE_NODE_NOTICE', text, ['on', 'off'] as const, 'on') === 'on',
    logLevel: choice('BLOCKHOUSE_LOG_LEVEL', text, LOG_LEVELS, 'info'),
    ...(text('BLOCKHOUSE_LOG_REQUESTS') !== undefined && { requestLogLevel: choice('BLOCKHOUSE_LOG_REQUESTS', text, REQUEST_LOG_LEVELS, 'debug') }),
  });
}

/** True if traces, metrics or events may have to be exported: the variables of OpenTelemetry name a collector. */
function hasCollector(text: (name: string) => string | undefined): boolean {
  if (text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false;
  return ['', '_TRACES', '_METRICS', '_LOGS'].some((signal) => text(`OTEL_EXPORTER_OTLP${signal}_ENDPOINT`) !== undefined);
}

/** A shell expands `~` only at the start of a word, and not in `--workspace=~/x`. Throws for an empty name: it would be the current folder. */
function workspaceFolder(given: string | undefined): string {
  if (given === undefined) return join(homedir(), '.blockhouse');
  if (given.trim() === '') throw new Error('--workspace must not be empty; leave it out to use ~/.blockhouse.');
  return resolve(given === '~' || given.startsWith('~/') ? join(homedir(), given.slice(1)) : given);
}

/** Throws for what is no name of a preset; whether there is such a preset is known when presets.json is read. */
function parseConnections(text: string | undefined): readonly string[] {
  const names = (text ?? '').split(',').map((name) => name.trim());
  const wrong = names.find((name) => name !== '' && !isConnectionName(name));
  if (wrong !== undefined) throw new Error('BLOCKHOUSE_CONNECTIONS must be names of presets, separated by commas, such as groq,openrouter.');
  return Object.freeze(names.filter((name) => name !== ''));
}

function readStore(url: string | undefined, text: (name: string) => string | undefined): StoreSettings | undefined {
  if (url === undefined) return undefined;
  const direct = text('BLOCKHOUSE_STORE_DIRECT');
  const connections = integer('BLOCKHOUSE_STORE_POOL', text('BLOCKHOUSE_STORE_POOL'), 1, 1000);
  const leaseMs = integer('BLOCKHOUSE_LEASE_MS', text('BLOCKHOUSE_LEASE_MS'), 2000, 60_000);
  return Object.freeze({
    url,
    ...(direct !== undefined && { direct }),
    ...(connections !== undefined && { connections }),
    ...(leaseMs !== undefined && { leaseMs }),
  });
}

function readTimeouts(text: (name: string) => string | undefined): Partial<UpstreamTimeouts> {
  const names = { connectMs: 'BLOCKHOUSE_CONNECT_TIMEOUT_MS', firstByteMs: 'BLOCKHOUSE_FIRST_BYTE_TIMEOUT_MS', idleMs: 'BLOCKHOUSE_IDLE_TIMEOUT_MS' } as const;
  const timeouts: { -readonly [K in keyof UpstreamTimeouts]?: number } = {};
  for (const [key, name] of Object.entries(names) as [keyof UpstreamTimeouts, string][]) {
    const value = integer(name, text(name), 0, 2 ** 31 - 1);
    if (value !== undefined) timeouts[key] = value;
  }
  return Object.freeze(timeouts);
}

function bodyMemory(text: string | undefined): number {
  const mib = integer('BLOCKHOUSE_BODY_MEMORY_MIB', text, MIN_BODY_MEMORY_MIB, 1_000_000);
  return mib === undefined ? DEFAULT_BODY_MEMORY_BYTES : mib * MIB;
}

function choice<const V extends string>(name: string, text: (name: string) => string | undefined, values: readonly V[], otherwise: V): V {
  const given = text(name) ?? otherwise;
  const found = values.find((value) => value === given);
  if (found === undefined) throw new Error(`${name} must be one of ${values.join(', ')}, not ${given}.`);
  return found;
}

function integer(name: string, text: string | undefined, low: number, high: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < low || value > high)
    throw new Error(`${name} must be a whole number from ${low} to ${high}, not ${JSON.stringify(text)}.`);
  return value;
}

/** Throws for a text that is not an origin as a browser writes it, because no request could match it. */
function parsePublicOrigin(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!/^https?:\/\//.test(text) || urlOf(text)?.origin !== text)
    throw new Error(
      `--public-origin or BLOCKHOUSE_PUBLIC_ORIGIN must be written as a browser sends it, such as https://blocks.example, not ${JSON.stringify(text)}.`,
    );
  return text;
}

/** `https://a.example, http://10.0.0.5:8000` → origins. Throws for an item that is not an http(s) origin. */
export function parseOrigins(text: string | undefined): ReadonlySet<string> {
  const origins = new Set<string>();
  for (const item of itemsOf(text)) {
    const url = urlOf(item);
    if (url === undefined || !/^https?:$/.test(url.protocol))
      throw new Error(`BLOCKHOUSE_ALLOWED_ORIGINS contains ${JSON.stringify(item)}, which is not an origin such as https://host:port.`);
    origins.add(url.origin);
  }
  return origins;
}

/** As `parseOrigins`, but for origins alone: a path would look as if it narrowed what is allowed, and a pattern fits no page. */
export function parseWebOrigins(text: string | undefined): ReadonlySet<string> {
  const origins = new Set<string>();
  for (const item of itemsOf(text)) {
    const { origin = '', href } = urlOf(item) ?? {};
    if (!/^https?:/.test(origin) || href !== `${origin}/` || origin.includes('*'))
      throw new Error(
        `BLOCKHOUSE_WEB_ORIGINS contains ${JSON.stringify(item)}, which is not the origin of a web page. Write http or https, the host and the port, without a path or a pattern: https://app.example, http://localhost:5173.`,
      );
    origins.add(origin);
  }
  return origins;
}

function itemsOf(text: string | undefined): readonly string[] {
  return text?.split(/[\s,]+/).filter((part) => part !== '') ?? [];
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
