import { createOtlpNetworkExportDelegate } from '@opentelemetry/otlp-exporter-base';
import * as nodeHttp from '@opentelemetry/otlp-exporter-base/node-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import DEFINITIONS from 'otlp-definitions/build/src/generated/root.js';
import t, { type Test } from 'tap';
import { createCollectorSender } from '../../../adapters/outbound/collector-sender.ts';
import type { Sent } from '../../../transports/telemetry/export-queue.ts';
import { ByteOutlet, type Post, readJsonPartialSuccess, readPartialSuccess } from '../../../transports/telemetry/outlets.ts';
import type { ByteBatch } from '../../../transports/telemetry/span-batch.ts';
import { startCollector } from '../../support/otlp/collector.ts';
import { withVariables } from '../../support/otlp/traced.ts';

interface Message {
  encode(message: object): { finish(): Uint8Array };
}
const RESPONSE = (DEFINITIONS as unknown as { opentelemetry: { proto: { collector: { trace: { v1: { ExportTraceServiceResponse: Message } } } } } })
  .opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
const answerOf = (partialSuccess?: object): Buffer => Buffer.from(RESPONSE.encode(partialSuccess === undefined ? {} : { partialSuccess }).finish());

const OWN = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', flags: 1 };

async function outletOf(collector: { readonly url: string }, post?: Post, variables = {}): Promise<ByteOutlet> {
  const origin = { resource: resourceFromAttributes({ 'service.name': 'x' }), scope: { name: 'x', version: '1.2' } };
  const plain = post && { post, createOtlpNetworkExportDelegate };
  return withVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...variables }, async () => new ByteOutlet(nodeHttp, origin, plain));
}

/** As a server sends, with the number of requests that were tried so. */
function senderOf(t: Test): { readonly post: Post; count: number } {
  const sender = createCollectorSender();
  t.teardown(() => sender.close());
  const counting = {
    count: 0,
    post: (...request: Parameters<Post>) => {
      counting.count += 1;
      return sender.post(...request);
    },
  };
  return counting;
}

function exported(outlet: ByteOutlet, batch: ByteBatch = outlet.open()): Promise<Sent> {
  batch.begin({ name: 'x', kind: 'INTERNAL', own: OWN, parent: undefined, from: 0, to: 1 });
  batch.end();
  return new Promise((resolve) => outlet.export(batch, resolve));
}

t.test('what a collector has not taken of a batch is said', async (t) => {
  const collector = await startCollector(t);
  const outlet = await outletOf(collector);
  t.strictSame(await exported(outlet), { failure: undefined, refused: 0 });
  collector.answer = (res) => res.writeHead(200).end(answerOf({ rejectedSpans: 300, errorMessage: 'too old' }));
  t.strictSame(await exported(outlet), { failure: undefined, refused: 300 });
  collector.answer = (res) => res.writeHead(200).end('\x08');
  t.strictSame(await exported(outlet), { failure: undefined, refused: 0 }, 'an answer that cannot be read takes nothing back');
  collector.answer = (res) => res.writeHead(400).end();
  t.match((await exported(outlet)).failure, Error);
});

t.test('the bytes of a batch are used again once the collector has it, and not after a failure', async (t) => {
  const collector = await startCollector(t);
  const outlet = await outletOf(collector);
  const first = outlet.open();
  await exported(outlet, first);
  const second = outlet.open();
  t.equal(second.bytes, first.bytes);
  collector.answer = (res) => res.writeHead(400).end();
  await exported(outlet, second);
  t.not(outlet.open().bytes, first.bytes);
});

t.test('the answer of a collector is read as the definitions write it', async (t) => {
  t.equal(readPartialSuccess(answerOf()), undefined);
  t.strictSame(readPartialSuccess(answerOf({ rejectedSpans: 70_000 })), { rejected: 70_000 });
  t.strictSame(readPartialSuccess(answerOf({ errorMessage: 'é'.repeat(100) })), { errorMessage: 'é'.repeat(100) });
  const unknown = Buffer.from([0x10, 0x01, 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x25, 1, 2, 3, 4, 0x2a, 1, 0x41]);
  t.strictSame(readPartialSuccess(Buffer.concat([unknown, answerOf({ rejectedSpans: 2 })])), { rejected: 2 }, 'fields of later definitions are left out');
  for (const bytes of [[0x0a], [0x0a, 5, 1], [0x0a, 0x80], [0x19, 1]]) t.throws(() => readPartialSuccess(Uint8Array.from(bytes)), RangeError);
});

t.test('so is one in JSON, in which a number may be a text', async (t) => {
  const read = (text: string) => readJsonPartialSuccess(Buffer.from(text));
  for (const text of ['', '{}', '{"other":1}']) t.equal(read(text), undefined, text);
  t.strictSame(read('{"partialSuccess":{"rejectedLogRecords":"3"}}'), { rejected: 3 });
  t.strictSame(read('{"partialSuccess":{"rejectedLogRecords":3,"errorMessage":"no"}}'), { rejected: 3, errorMessage: 'no' });
  t.strictSame(read('{"partialSuccess":{}}'), {});
  t.throws(() => read('<html>'), SyntaxError);
});

t.test('a collector that takes plain HTTP gets batches on one connection, with the headers of the variables', async (t) => {
  const collector = await startCollector(t);
  const plain = senderOf(t);
  const outlet = await outletOf(collector, plain.post, { OTEL_EXPORTER_OTLP_HEADERS: 'x-team=blue' });
  for (let count = 0; count < 3; count += 1) t.strictSame(await exported(outlet), { failure: undefined, refused: 0 });
  collector.answer = (res) => res.writeHead(200).end(answerOf({ rejectedSpans: 300 }));
  t.strictSame(await exported(outlet), { failure: undefined, refused: 300 });
  t.equal(plain.count, 4);
  t.equal(collector.spans.length, 3);
  t.match(collector.requests[0], { path: '/v1/traces', headers: { 'x-team': 'blue', 'content-type': 'application/x-protobuf', 'user-agent': 'x/1.2' } });
});

t.test('what such a collector cannot take now is repeated by the packages, until it takes one', async (t) => {
  const collector = await startCollector(t);
  const plain = senderOf(t);
  const outlet = await outletOf(collector, plain.post);
  const answers = [503, 503, 200, 200];
  collector.answer = (res) => res.writeHead(answers.shift() ?? 200, { 'retry-after': '0' }).end();
  t.strictSame(await exported(outlet), { failure: undefined, refused: 0 });
  t.equal(collector.requests.length, 3);
  t.equal(plain.count, 1);
  await exported(outlet);
  t.equal(plain.count, 2);
  answers.push(400);
  t.match((await exported(outlet)).failure, /400/, 'a refusal for good is none');
  t.equal(collector.requests.length, 5);
  await exported(outlet);
  t.equal(plain.count, 3, 'the packages try the next one first');
});

t.test('an answer that breaks off is a failure, and so is a collector that is away', async (t) => {
  const collector = await startCollector(t);
  const outlet = await outletOf(collector, senderOf(t).post, { OTEL_EXPORTER_OTLP_TIMEOUT: '300' });
  collector.answer = (res) => res.destroy();
  t.match((await exported(outlet)).failure, Error);
  const away = await outletOf({ url: 'http://127.0.0.1:1' }, senderOf(t).post, { OTEL_EXPORTER_OTLP_TIMEOUT: '300' });
  t.match((await exported(away)).failure, Error);
});

t.test('where no time is left, nothing is sent again', async (t) => {
  const collector = await startCollector(t);
  const sender = createCollectorSender();
  const closed = await outletOf(collector, sender.post);
  collector.answer = () => void sender.close();
  t.match((await exported(closed)).failure, Error);
  t.equal(collector.requests.length, 1);
  collector.answer = () => undefined;
  const plain = senderOf(t);
  const late = await outletOf(collector, plain.post, { OTEL_EXPORTER_OTLP_TIMEOUT: '200' });
  t.match((await exported(late)).failure, { code: 'UPSTREAM_TIMEOUT' });
  t.equal(collector.requests.length, 2);
  t.match((await exported(late)).failure, { code: 'UPSTREAM_TIMEOUT' });
  t.equal(plain.count, 2, 'the packages would wait for an answer that never ends');
});

t.test('the password of an address and the name of a host go to the collector', async (t) => {
  const collector = await startCollector(t);
  const url = collector.url.replace('//', '//ada:s%40cret@');
  await exported(await outletOf({ url }, senderOf(t).post));
  await exported(await outletOf(collector, senderOf(t).post, { OTEL_EXPORTER_OTLP_HEADERS: 'host=named' }));
  t.match(collector.requests, [{ headers: { authorization: `Basic ${Buffer.from('ada:s@cret').toString('base64')}` } }, { headers: { host: 'named' } }]);
  t.equal(collector.requests.length, 2);
});

t.test('what is compressed or encrypted is sent by the packages from the start', async (t) => {
  const collector = await startCollector(t);
  const plain = senderOf(t);
  const outlet = await outletOf(collector, plain.post, { OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' });
  t.strictSame(await exported(outlet), { failure: undefined, refused: 0 });
  t.equal(collector.requests[0]?.headers['content-encoding'], 'gzip');
  const encrypted = await outletOf({ url: 'https://127.0.0.1:1' }, plain.post, { OTEL_EXPORTER_OTLP_TIMEOUT: '300' });
  t.match((await exported(encrypted)).failure, Error);
  t.equal(plain.count, 0);
});
