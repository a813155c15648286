import t from 'tap';
import { loadPackages, type Loaders } from '../../../transports/telemetry/packages.ts';
import { readOtlpSettings } from '../../../transports/telemetry/settings.ts';

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
