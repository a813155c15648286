// One log line for each request, at a level that follows its outcome.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { withoutTicket } from '../../core/base/url.ts';
import type { BlockhouseError, RequestLogLevel } from '../../core/index.ts';
import type { TransportLog } from '../log.ts';
import { isRepeated } from '../wrong-tokens.ts';

/** Logs a request that took `ms` milliseconds, without the query of its path; one that was served at `servedLevel`. Only an INTERNAL_ERROR is logged with its cause. */
export function recordRequest(
  log: TransportLog,
  req: IncomingMessage,
  res: ServerResponse,
  requestId: string,
  ms: number,
  failure: BlockhouseError | undefined,
  servedLevel: RequestLogLevel = 'debug',
): void {
  const status = failure?.status ?? res.statusCode;
  if (status < 400 && log.isLevelEnabled?.(servedLevel) === false) return;
  const fields = {
    requestId,
    method: req.method,
    path: withoutTicket(req.url?.split('?')[0] ?? '').slice(0, 200),
    status,
    ms: Math.round(ms * 10) / 10,
    ...(failure !== undefined && { code: failure.code }),
  };
  if (failure?.code === 'INTERNAL_ERROR') log.error({ ...fields, err: failure.cause ?? failure }, 'request failed');
  else if (failure !== undefined && status >= 500 && failure.code !== 'SHUTTING_DOWN') log.error({ ...fields, error: failure.message }, 'request failed');
  else if (status >= 400) log[isRepeated(failure) ? 'debug' : 'info']({ ...fields, error: failure?.message }, 'request refused');
  else log[servedLevel](fields, 'request served');
}
