import t from 'tap';
import { readOtlpSettings } from '../../../transports/telemetry/settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

t.test('an address exports both, and the defaults are those of the specification', async (t) => {
  t.strictSame(readOtlpSettings(ENDPOINT), {
    traces: { protocol: 'http/protobuf', takesParents: true, hasContent: false, queue: { most: 2048, batch: 512, delayMs: 5000, timeoutMs: 30_000 } },
    metrics: { protocol: 'http/protobuf', everyMs: 60_000, timeoutMs: 30_000 },
    events: undefined,
  });
  t.strictSame(readOtlpSettings({}), { traces: undefined, metrics: undefined, events: undefined });
});

t.test('each of the two can be left out, and have variables of its own', async (t) => {
  t.match(readOtlpSettings({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }), { traces: undefined, metrics: {} });
  t.match(readOtlpSettings({ ...ENDPOINT, OTEL_METRICS_EXPORTER: 'none' }), { traces: {}, metrics: undefined });
  t.match(readOtlpSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c.example/t' }), { traces: {}, metrics: undefined });
  t.match(readOtlpSettings({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://c.example/m' }), { traces: undefined, metrics: {} });
  t.match(readOtlpSettings({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/protobuf' }), {
    traces: { protocol: 'http/json' },
    metrics: { protocol: 'http/protobuf' },
  });
  t.match(
    readOtlpSettings({
      ...ENDPOINT,
      OTEL_BSP_MAX_QUEUE_SIZE: '100',
      OTEL_BSP_SCHEDULE_DELAY: '0',
      OTEL_METRIC_EXPORT_INTERVAL: '5000',
      OTEL_PROPAGATORS: 'b3',
    }),
    { traces: { queue: { most: 100, batch: 100, delayMs: 0 }, takesParents: false }, metrics: { everyMs: 5000 } },
  );
  t.match(
    readOtlpSettings({ ...ENDPOINT, OTEL_TRACES_EXPORTER: '', OTEL_EXPORTER_OTLP_PROTOCOL: ' ' }),
    { traces: { protocol: 'http/protobuf' } },
    'empty is not set',
  );
});

t.test('content is exported where the variable says so, in its present words and in its older ones', async (t) => {
  const hasContent = (value: string) => readOtlpSettings({ ...ENDPOINT, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: value }).traces?.hasContent;
  for (const value of ['SPAN_ONLY', 'SPAN_AND_EVENT', 'true', 'span_only']) t.equal(hasContent(value), true, value);
  for (const value of ['NO_CONTENT', 'EVENT_ONLY', 'false', '', 'False']) t.equal(hasContent(value), false, value);
});

t.test('events are exported where the variable asks for them, with variables of their own', async (t) => {
  const CONTENT = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
  const events = (value: string, env: object = ENDPOINT) => readOtlpSettings({ ...env, [CONTENT]: value }).events;
  const usual = { protocol: 'http/protobuf', queue: { most: 2048, batch: 512, delayMs: 1000, timeoutMs: 30_000 } };
  for (const value of ['EVENT_ONLY', 'SPAN_AND_EVENT', 'event_only']) t.strictSame(events(value), usual, value);
  for (const value of ['NO_CONTENT', 'SPAN_ONLY', 'true', 'false', '']) t.equal(events(value), undefined, value);
  t.strictSame(events('EVENT_ONLY', { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://c.example/l' }), usual);
  t.equal(events('EVENT_ONLY', { ...ENDPOINT, OTEL_LOGS_EXPORTER: 'none' }), undefined);
  t.match(events('EVENT_ONLY', { ...ENDPOINT, OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/json', OTEL_BLRP_MAX_QUEUE_SIZE: '9', OTEL_BLRP_SCHEDULE_DELAY: '0' }), {
    protocol: 'http/json',
    queue: { most: 9, batch: 9, delayMs: 0 },
  });
  t.strictSame(readOtlpSettings({ ...ENDPOINT, OTEL_LOGS_EXPORTER: 'console' }).events, undefined, 'it is not asked for without events');
  const nowhere = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://c.example/m', [CONTENT]: 'EVENT_ONLY' };
  t.throws(() => readOtlpSettings(nowhere), {
    code: 'INVALID_REQUEST',
    message: /is EVENT_ONLY, and no collector gets events: set OTEL_EXPORTER_OTLP_LOGS_ENDPOINT/,
  });
});

t.test('what this server does not do is said with the name of the variable', async (t) => {
  const cases: [env: Record<string, string>, message: RegExp][] = [
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, /^OTEL_TRACES_EXPORTER must be otlp or none/],
    [{ OTEL_METRICS_EXPORTER: 'prometheus' }, /^OTEL_METRICS_EXPORTER must be otlp or none/],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /^OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf or http\/json; .*port 4318/],
    [{ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'x' }, /^OTEL_EXPORTER_OTLP_TRACES_PROTOCOL must be http\/protobuf or http\/json\.$/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'user:secret@host' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be the address of a collector/],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'collector' }, /^OTEL_EXPORTER_OTLP_METRICS_ENDPOINT must be/],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /^OTEL_TRACES_SAMPLER must be one of always_on, /],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/],
    [
      { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'yes' },
      /^OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT must be one of NO_CONTENT, SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT, true, false\.$/,
    ],
    [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'EVENT_ONLY', OTEL_LOGS_EXPORTER: 'console' }, /^OTEL_LOGS_EXPORTER must be otlp or none/],
    [{ OTEL_BSP_MAX_QUEUE_SIZE: '-1' }, /^OTEL_BSP_MAX_QUEUE_SIZE must be a whole number of 1 or more/],
    [{ OTEL_METRIC_EXPORT_INTERVAL: '1e3' }, /^OTEL_METRIC_EXPORT_INTERVAL must be a whole number/],
  ];
  for (const [env, message] of cases) {
    t.throws(() => readOtlpSettings({ ...ENDPOINT, ...env }), { code: 'INVALID_REQUEST', message }, JSON.stringify(env));
    t.throws(() => readOtlpSettings({ ...ENDPOINT, ...env }), { message: /^(?!.*secret)/ });
  }
});
