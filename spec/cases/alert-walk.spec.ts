// The way of docs/observability.md from an alert to the message that caused it, followed step by step.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { createLogger, logFacts } from '../../cli/serve/logging.ts';
import { createMetrics } from '../../transports/metrics/index.ts';
import type { Mount } from '../../transports/http/index.ts';
import { createBlock, RUNNABLE } from '../support/block-calls.ts';
import { readScrape } from '../support/observability/scrape.ts';
import { RULES } from '../support/observability/rules.ts';
import { startServer } from '../support/server.ts';

type Json = Readonly<Record<string, unknown>>;

t.test('from an alert about failed calls, one comes to the message of the block whose call failed', async (t) => {
  const page = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');
  const way = page.split('## From an alert')[1]?.split('\n## ')[0] ?? '';
  const mounts: Mount[] = [];
  const server = await startServer(t, {
    http: { mounts },
    answer: (_request, res) => {
      res.writeHead(200, { 'content-type': 'application/x-ndjson' });
      res.write('{"message":{"role":"assistant","content":"Half an"},"done":false}\n');
      setImmediate(() => res.destroy());
    },
  });
  mounts.push(createMetrics(server.core, { isOpen: false }));
  let log = '';
  const stderr = new PassThrough();
  stderr.on('data', (bytes: Buffer) => {
    log += bytes.toString();
  });
  logFacts(server.core, createLogger('info', stderr as unknown as NodeJS.WriteStream));
  await createBlock(server, 'helper', { ...RUNNABLE, retry: { maxAttempts: 1 } });
  await server.call('POST', '/api/blocks/helper/start');
  const sent = await server.call('POST', '/api/blocks/helper/chat?wait=60', { body: { message: 'hi' } });

  // 1. The alert names a connection, and its query the code.
  const rule = RULES.find(({ alert }) => alert === 'BlockhouseCallsFail');
  t.match(rule?.cure, 'blockhouse_call_errors_total');
  const metrics = readScrape((await server.call('GET', '/metrics')).text);
  const [failed] = metrics.get('blockhouse_call_errors_total')?.samples ?? [];
  const { connection, code = 'none' } = failed?.labels ?? {};
  t.ok(failed !== undefined && failed.value >= 1, JSON.stringify(failed));

  // 2. The log has the call.
  t.match(way, 'blockhouse logs');
  const line = log
    .split('\n')
    .filter((each) => each.includes(code))
    .map((each) => JSON.parse(each) as Json)
    .find(({ msg }) => msg === 'call failed');
  t.match(line, { adapter: connection, block: 'helper', requestId: String, messageId: String });
  const requestId = String(line?.['requestId']);

  // 3. The page and the API have the request.
  t.match(way, 'GET /api/gateway/requests');
  const { json } = await server.call('GET', '/api/gateway/requests');
  const { ended } = json as { ended: readonly Json[] };
  t.match(
    ended.find((call) => call['requestId'] === requestId),
    { block: 'helper', adapter: connection, code },
  );
  t.match(await server.call('GET', `/api/gateway/requests/${requestId}`), { status: 200, json: { calls: [{ attempts: [{ code }] }] } });

  // 4. The API has the message, with the reason.
  t.match(way, 'GET /api/blocks/<block>/chat/<messageId>');
  const failing = await server.call('GET', `/api/blocks/helper/chat/${String(line?.['messageId'])}`);
  t.match(failing, { status: 200, json: { entry: { content: 'hi', status: 'failed', error: { code } } } });

  // 5. The ledger has the message, too.
  t.match(way, '`messageId`');
  const lines = readFileSync(join(server.workspace, 'ledger.jsonl'), 'utf8').trim().split('\n');
  const bill = lines.map((each) => JSON.parse(each) as Json).find(({ messageId }) => messageId === line?.['messageId']);
  t.match(bill, { block: 'helper', failed: true });
  const message = await server.call('GET', `/api/blocks/helper/chat/${String(bill?.['messageId'])}`);
  t.match(message, { status: 200 });
  t.match(message.text, '"hi"');
  t.equal(sent.status, 200, sent.text);
});
