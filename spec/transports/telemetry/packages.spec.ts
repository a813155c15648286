import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { loadPackages, type Loaders } from '../../../transports/telemetry/packages.ts';
import { readOtlpSettings } from '../../../transports/telemetry/settings.ts';
import { BODY, startGpu } from '../../support/otlp/gpu.ts';
import { until } from '../../support/until.ts';

const LOADED = async (): Promise<never> => ({}) as never;

t.test('a package that is missing is said with the command that installs it', async (t) => {
  const missing = async (): Promise<never> => {
    throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  };
  const broken = async (): Promise<never> => {
    throw new Error('broken');
  };
  const loaders = (load: () => Promise<never>): Loaders => ({
    api: load,
    resources: load,
    sdk: load,
    traces: { 'http/protobuf': load, 'http/json': load },
    metrics: { 'http/protobuf': load, 'http/json': load },
    events: load,
  });
  const settings = readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.example' });
  const command = /install them with `npm install @opentelemetry\/api@1\.9 .*otlp-exporter-base@0\.223 @opentelemetry\/exporter-metrics-otlp-proto@0\.223`/;
  await t.rejects(loadPackages(settings, loaders(missing)), { code: 'INVALID_REQUEST', message: command });
  const json = readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.example', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' });
  await t.rejects(loadPackages(json, loaders(missing)), { message: /exporter-trace-otlp-http@0\.223 @opentelemetry\/exporter-metrics-otlp-http@0\.223`/ });
  await t.rejects(loadPackages(settings, loaders(broken)), { message: 'broken' });
  const CAPTURE = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
  const events = readOtlpSettings({ OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://c.example', [CAPTURE]: 'EVENT_ONLY' });
  await t.rejects(loadPackages(events, { ...loaders(broken), api: LOADED, resources: LOADED, sdk: LOADED, events: missing }), { message: command });
});

for (const protocol of ['http/protobuf', 'http/json']) {
  t.test(`with ${protocol}, a long answer ends the export of spans, events and metrics`, async (t) => {
    const long = `1\r\nx\r\n`.repeat(12_000);
    const answers = createServer((socket) => {
      socket.on('error', () => undefined).on('data', () => socket.write(`HTTP/1.1 400 No\r\ntransfer-encoding: chunked\r\n\r\n${long}`));
    }).listen(0, '127.0.0.1');
    await once(answers, 'listening');
    t.teardown(() => answers.close());
    const { port } = answers.address() as AddressInfo;
    const server = await startGpu(t, {
      otel: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip', // the packages send all
        OTEL_METRIC_EXPORT_INTERVAL: '50',
        OTEL_BLRP_SCHEDULE_DELAY: '1',
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'EVENT_ONLY',
      },
    });
    await server.call('POST', '/v1/chat', { body: BODY });
    const isTold = (what: string): boolean =>
      server.problems.some(({ message, fields }) => message === `${what} could not be exported` && JSON.stringify(fields).includes('more than 64 KiB'));
    await until('each export has failed', () => ['spans', 'events', 'metrics'].every(isTold));
  });
}
