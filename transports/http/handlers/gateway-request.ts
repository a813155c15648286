// The handler of one request to models: what was asked, each attempt with its cause, and what was sent and answered where its key is debugged.
import { BlockhouseError, type CallState, type Core, type EndedCall, type FailedAttempt, type GatewayRequestDetail } from '../../../core/index.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';
import { over, rounded, underWay } from './gateway-live.ts';

type CallDetail = GatewayRequestDetail['calls'][number];
type Attempt = CallDetail['attempts'][number];

/** `{requestId, node?, calls, bodies}`. Fails with NOT_FOUND for a request that is not known any more. */
export const detail = async (context: RouteContext) => {
  const { core } = context;
  const requestId = param(context, 'id');
  const [{ live, ended }, bodies] = await Promise.all([core.view.calls(), core.bodies?.of(requestId) ?? []]);
  const now = Date.now();
  const calls = [
    ...ended.filter(({ fact }) => fact.requestId === requestId).map(endedDetail),
    ...live.filter((call) => call.requestId === requestId).map((call) => liveDetail(call, now)),
  ].sort((one, other) => (one.startedAt < other.startedAt ? -1 : 1));
  if (calls.length === 0 && bodies.length === 0) throw unknown(core);
  const { node } = core.storeHealth ?? {};
  return ok({ requestId, ...(node !== undefined && { node }), calls, bodies });
};

function unknown({ storeHealth }: Core): BlockhouseError {
  const { node, nodes = 1 } = storeHealth ?? {};
  const elsewhere =
    node === undefined || nodes < 2 ? '' : ` This is the server ${node}, which knows the requests of its own machine alone; another server may have it.`;
  return new BlockhouseError(
    'NOT_FOUND',
    `There is no request with this id, or it is not known any more: the server keeps the requests under way and the last 500, until it ends.${elsewhere}`,
  );
}

function endedDetail(call: EndedCall): CallDetail {
  const { kind, asked, model, path, attempts, failed = [], sentMs, firstTextMs, durationMs, credential, code } = call.fact;
  const made = failed.map(attemptOf);
  if (sentMs !== undefined && attempts > failed.length) made.push(lastOf({ sentMs, firstTextMs, credential }, durationMs, code));
  return { ...over(call), kind, asked: asked ?? model, ...(path !== undefined && { path }), attempts: made, costUsd: call.costUsd ?? null };
}

function liveDetail(call: CallState, now: number): CallDetail {
  const { kind, asked, model, path, attempts, failed = [], sentMs, firstTextMs, credential } = call;
  const made = failed.map(attemptOf);
  if (sentMs !== undefined && attempts > failed.length) made.push(lastOf({ sentMs, firstTextMs, credential }, null, undefined));
  return { ...underWay(call, now), kind, asked: asked ?? model, ...(path !== undefined && { path }), attempts: made, costUsd: null };
}

function attemptOf({ sentMs, endedMs, firstTextMs, credential, code, upstreamStatus, next, delayMs }: FailedAttempt): Attempt {
  return {
    sentMs: Math.round(sentMs),
    endedMs: Math.round(endedMs),
    firstTextMs: rounded(firstTextMs),
    ...(credential !== undefined && { credential }),
    code,
    ...(upstreamStatus !== undefined && { upstreamStatus }),
    ...(next !== undefined && { next }),
    ...(delayMs !== undefined && { delayMs: Math.round(delayMs) }),
  };
}

/** The one that was not settled as a failure. The first text of a call may be that of an earlier attempt. */
function lastOf(
  { sentMs, firstTextMs, credential }: Pick<CallState, 'firstTextMs'> & { readonly sentMs: number; readonly credential?: string | undefined },
  endedMs: number | null,
  code: string | undefined,
): Attempt {
  return {
    sentMs: Math.round(sentMs),
    endedMs: endedMs === null ? null : Math.round(endedMs),
    firstTextMs: firstTextMs !== undefined && firstTextMs >= sentMs ? Math.round(firstTextMs) : null,
    ...(credential !== undefined && { credential }),
    ...(code !== undefined && { code }),
  };
}
