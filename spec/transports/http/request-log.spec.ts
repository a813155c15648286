import type { IncomingMessage, ServerResponse } from 'node:http';
import t from 'tap';
import { BlockhouseError, type ErrorCode, internalError } from '../../../core/index.ts';
import { recordRequest } from '../../../transports/http/request-log.ts';
import { startServer } from '../../support/server.ts';

t.test('a log line has the path without its query, and its level follows the status', async (t) => {
  const server = await startServer(t);
  await server.call('GET', '/v1/health?token=canary');
  await server.call('GET', '/nowhere?token=canary');
  t.match(server.log, [
    { level: 'debug', message: 'request served', fields: { method: 'GET', path: '/v1/health', status: 200, ms: Number } },
    { level: 'info', fields: { method: 'GET', path: '/nowhere', status: 404, code: 'NOT_FOUND' } },
  ]);
  t.notMatch(JSON.stringify(server.log), 'canary');
});

t.test('the level of served requests can be set, and that of refused ones stays', async (t) => {
  const server = await startServer(t, { http: { requestLogLevel: 'info' } });
  await server.call('GET', '/v1/health');
  await server.call('GET', '/nowhere');
  t.same(
    server.log.map(({ level }) => level),
    ['info', 'info'],
  );
});

t.test('a failure of the server is logged as an error, and a refusal for a shutdown is not', async (t) => {
  const lines: [level: string, fields: Record<string, unknown>][] = [];
  const note = (level: string) => (fields: object) => void lines.push([level, { ...fields }]);
  const log = { debug: note('debug'), info: note('info'), error: note('error'), isLevelEnabled: () => false };
  const record = (failure?: BlockhouseError): void =>
    recordRequest(log, { method: 'GET', url: '/x' } as IncomingMessage, { statusCode: 200 } as ServerResponse, 'r', 1.26, failure);
  const cause = new Error('the cause');
  record(internalError(cause));
  for (const code of ['UPSTREAM_FAILED', 'SHUTTING_DOWN', 'NOT_FOUND'] as ErrorCode[]) record(new BlockhouseError(code, code));
  record();
  t.match(lines, [
    ['error', { requestId: 'r', code: 'INTERNAL_ERROR', err: cause, ms: 1.3 }],
    ['error', { code: 'UPSTREAM_FAILED', error: 'UPSTREAM_FAILED' }],
    ['info', { code: 'SHUTTING_DOWN' }],
    ['info', { code: 'NOT_FOUND', status: 404 }],
  ]);
  t.equal(lines.length, 4, 'a served request makes no line that the log would drop');
});
