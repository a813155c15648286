import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { LOG_LEVELS, parseOrigins, parseWebOrigins, resolveProcessConfig } from '../../core/config.ts';

t.test('without flags and environment the defaults hold', async (t) => {
  t.same(resolveProcessConfig({}, {}), {
    host: '127.0.0.1',
    port: 8420,
    workspace: join(homedir(), '.blockhouse'),
    allowRemote: false,
    allowedOrigins: new Set(),
    connections: [],
    webOrigins: new Set(),
    queue: { concurrency: 64, waiting: 256 },
    timeouts: {},
    monitorCalls: 16,
    maxConnections: 2000,
    bodyMemoryBytes: 268_435_456,
    drainMs: 3500,
    metricsOpen: false,
    hasCollector: false,
    tracesProviders: false,
    nodeNotice: true,
    logLevel: 'info',
  });
});

t.test('every variable sets its setting', async (t) => {
  const env = {
    BLOCKHOUSE_HOST: '0.0.0.0',
    BLOCKHOUSE_PORT: '0',
    BLOCKHOUSE_OLLAMA_PORT: '11434',
    BLOCKHOUSE_WORKSPACE: '/srv/blocks',
    BLOCKHOUSE_STORE: 'postgres://me@db/blocks',
    BLOCKHOUSE_STORE_DIRECT: 'postgres://me@db:6432/blocks',
    BLOCKHOUSE_STORE_POOL: '3',
    BLOCKHOUSE_LEASE_MS: '4000',
    BLOCKHOUSE_ALLOW_REMOTE: '1',
    BLOCKHOUSE_CONNECTIONS: 'groq, openrouter',
    BLOCKHOUSE_ALLOWED_ORIGINS: 'https://a.example, http://10.0.0.5:8000/v1 http://[fd00::1]:1',
    BLOCKHOUSE_WEB_ORIGINS: 'https://app.example, http://localhost:5173/',
    BLOCKHOUSE_QUEUE_CONCURRENCY: '1',
    BLOCKHOUSE_QUEUE_WAITING: '0',
    BLOCKHOUSE_CONNECT_TIMEOUT_MS: '1',
    BLOCKHOUSE_FIRST_BYTE_TIMEOUT_MS: '0',
    BLOCKHOUSE_IDLE_TIMEOUT_MS: '3',
    BLOCKHOUSE_MONITOR_CALLS: '2',
    BLOCKHOUSE_MAX_CONNECTIONS: '50',
    BLOCKHOUSE_BODY_MEMORY_MIB: '100',
    BLOCKHOUSE_DRAIN_MS: '0',
    BLOCKHOUSE_METRICS_OPEN: '1',
    BLOCKHOUSE_TRACE_PROVIDERS: '1',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces',
    BLOCKHOUSE_NODE_NOTICE: 'off',
    BLOCKHOUSE_LOG_LEVEL: 'silent',
    BLOCKHOUSE_LOG_REQUESTS: 'debug',
  };
  t.same(resolveProcessConfig({}, env), {
    host: '0.0.0.0',
    port: 0,
    ollamaPort: 11_434,
    workspace: resolve('/srv/blocks'),
    store: { url: 'postgres://me@db/blocks', direct: 'postgres://me@db:6432/blocks', connections: 3, leaseMs: 4000 },
    allowRemote: true,
    connections: ['groq', 'openrouter'],
    allowedOrigins: new Set(['https://a.example', 'http://10.0.0.5:8000', 'http://[fd00::1]:1']),
    webOrigins: new Set(['https://app.example', 'http://localhost:5173']),
    queue: { concurrency: 1, waiting: 0 },
    timeouts: { connectMs: 1, firstByteMs: 0, idleMs: 3 },
    monitorCalls: 2,
    maxConnections: 50,
    bodyMemoryBytes: 104_857_600,
    drainMs: 0,
    metricsOpen: true,
    hasCollector: true,
    tracesProviders: true,
    nodeNotice: false,
    logLevel: 'silent',
    requestLogLevel: 'debug',
  });
});

t.test('a flag wins over its variable', async (t) => {
  const env = { BLOCKHOUSE_HOST: '::1', BLOCKHOUSE_PORT: '1', BLOCKHOUSE_WORKSPACE: '/env', BLOCKHOUSE_ALLOW_REMOTE: '1' };
  t.match(resolveProcessConfig({ host: 'localhost', port: '2', workspace: '/flag', allowRemote: false }, env), {
    host: 'localhost',
    port: 2,
    workspace: resolve('/flag'),
    allowRemote: false,
  });
});

t.test('blank variables count as unset, and a relative workspace is made absolute', async (t) => {
  t.match(resolveProcessConfig({}, { BLOCKHOUSE_PORT: ' ', BLOCKHOUSE_HOST: '', BLOCKHOUSE_WORKSPACE: 'here' }), {
    port: 8420,
    host: '127.0.0.1',
    workspace: resolve('here'),
  });
});

t.test('a bad value is refused with the name of its setting', async (t) => {
  const numbers: [string, RegExp, string[]][] = [
    ['BLOCKHOUSE_PORT', /--port or BLOCKHOUSE_PORT/, ['65536', '-1', '80a', '1.5', '0x50', '1e3', 'NaN']],
    ['BLOCKHOUSE_QUEUE_CONCURRENCY', /BLOCKHOUSE_QUEUE_CONCURRENCY/, ['0', '100001', 'many']],
    ['BLOCKHOUSE_QUEUE_WAITING', /BLOCKHOUSE_QUEUE_WAITING/, ['-1', '1000001', 'Infinity']],
    ['BLOCKHOUSE_CONNECT_TIMEOUT_MS', /BLOCKHOUSE_CONNECT_TIMEOUT_MS/, ['-1', '2147483648', '10s']],
    ['BLOCKHOUSE_FIRST_BYTE_TIMEOUT_MS', /BLOCKHOUSE_FIRST_BYTE_TIMEOUT_MS/, ['-1', '2147483648', '10s']],
    ['BLOCKHOUSE_IDLE_TIMEOUT_MS', /BLOCKHOUSE_IDLE_TIMEOUT_MS/, ['-1', '2147483648', '10s']],
    ['BLOCKHOUSE_LOG_LEVEL', /BLOCKHOUSE_LOG_LEVEL must be one of fatal/, ['verbose', 'INFO']],
    ['BLOCKHOUSE_LOG_REQUESTS', /BLOCKHOUSE_LOG_REQUESTS must be one of info, debug/, ['silent', 'none']],
    ['BLOCKHOUSE_CONNECTIONS', /BLOCKHOUSE_CONNECTIONS/, ['Groq', 'groq;x', 'sk-0123456789012345678901234567890']],
    ['BLOCKHOUSE_ALLOWED_ORIGINS', /BLOCKHOUSE_ALLOWED_ORIGINS/, ['example.com', 'file:///etc/passwd', 'https://ok.example, nonsense', '*']],
  ];
  const pages = ['*', 'null', 'app.example', 'https://*.app.example', 'https://app.example/chat', 'https://app.example?x', 'file:///tmp/page.html'];
  numbers.push(['BLOCKHOUSE_WEB_ORIGINS', /BLOCKHOUSE_WEB_ORIGINS contains ".+", which is not the origin of a web page/, pages]);
  for (const [name, expected, values] of numbers) {
    for (const value of values) t.throws(() => resolveProcessConfig({}, { [name]: value }), { message: expected }, `${name}=${value}`);
  }
  t.throws(() => resolveProcessConfig({ port: 'x' }, {}), { message: /--port/ });
});

t.test('every log level is taken', async (t) => {
  for (const level of LOG_LEVELS) t.equal(resolveProcessConfig({}, { BLOCKHOUSE_LOG_LEVEL: level }).logLevel, level);
});

t.test('a host that other machines can reach needs a word of its own', async (t) => {
  for (const host of ['0.0.0.0', '::', '192.168.1.4', 'example.com', '127.0.0.1.evil.example', 'localhost.evil', '']) {
    t.throws(() => resolveProcessConfig({ host }, {}), { message: /add --allow-remote \(or set BLOCKHOUSE_ALLOW_REMOTE=1\)/ }, host);
    t.equal(resolveProcessConfig({ host, allowRemote: true }, {}).host, host);
  }
  for (const host of ['127.0.0.1', '127.8.8.8', '::1', 'localhost']) t.equal(resolveProcessConfig({ host }, {}).host, host);
});

t.test('the result can not be changed', async (t) => {
  const config = resolveProcessConfig({}, {}) as { port: number; queue: { waiting: number }; timeouts: { idleMs?: number } };
  t.throws(() => {
    config.port = 1;
  }, TypeError);
  t.throws(() => {
    config.queue.waiting = 1;
  }, TypeError);
  t.throws(() => {
    config.timeouts.idleMs = 1;
  }, TypeError);
});

t.test('origins lose their path and their default port', async (t) => {
  t.same([...parseOrigins('https://A.example:443/v1/')], ['https://a.example']);
  t.equal(parseOrigins(undefined).size, 0);
});

t.test('an empty workspace is refused, and a home directory is found where no shell did', async (t) => {
  for (const workspace of ['', '  ']) t.throws(() => resolveProcessConfig({ workspace }, {}), { message: /--workspace must not be empty/ });
  t.equal(resolveProcessConfig({ workspace: '~/bh' }, {}).workspace, join(homedir(), 'bh'));
  t.equal(resolveProcessConfig({ workspace: '/a/~/b' }, {}).workspace, '/a/~/b');
});

t.test('origins of pages are compared as a browser writes them', async (t) => {
  t.same([...parseWebOrigins('HTTPS://App.Example:443, http://b\u00fccher.example:80')], ['https://app.example', 'http://xn--bcher-kva.example']);
  t.throws(() => parseWebOrigins('https://ok.example, https://user@app.example'), { message: /"https:\/\/user@app\.example"/ });
});

t.test('a public origin is one origin, as a browser writes it; the flag wins', async (t) => {
  t.equal(resolveProcessConfig({}, { BLOCKHOUSE_PUBLIC_ORIGIN: 'https://blocks.example' }).publicOrigin, 'https://blocks.example');
  t.equal(
    resolveProcessConfig({ publicOrigin: 'https://a.example:8443' }, { BLOCKHOUSE_PUBLIC_ORIGIN: 'https://b.example' }).publicOrigin,
    'https://a.example:8443',
  );
  const wrong = ['blocks.example', 'https://blocks.example/', 'https://blocks.example/ui', 'https://Blocks.example', 'https://a.example,https://b.example'];
  for (const text of [...wrong, 'https://blocks.example:443', 'https://user@blocks.example', 'ftp://blocks.example', 'null', '*'])
    t.throws(() => resolveProcessConfig({ publicOrigin: text }, {}), /--public-origin or BLOCKHOUSE_PUBLIC_ORIGIN must be written as a browser sends it/, text);
});

t.test('a collector is named by any of three variables, and not where the kit is disabled', async (t) => {
  const has = (env: Record<string, string>): boolean => resolveProcessConfig({}, env).hasCollector;
  for (const signal of ['', '_TRACES', '_METRICS', '_LOGS']) t.equal(has({ [`OTEL_EXPORTER_OTLP${signal}_ENDPOINT`]: 'http://c.example' }), true);
  t.equal(has({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.example', OTEL_SDK_DISABLED: 'TRUE' }), false);
  t.equal(has({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }), false);
  t.equal(resolveProcessConfig({}, { BLOCKHOUSE_TRACE_PROVIDERS: '1' }).tracesProviders, false, 'without one, nobody has the spans');
});
