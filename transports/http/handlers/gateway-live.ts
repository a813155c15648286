// Handlers of `/api/gateway`: how the gateway does, and its requests. Nothing of any message.
import { BlockhouseError, type CallState, type EndedCall, type GatewayRequest, type PausedSource, type Window } from '../../../core/index.ts';
import { queryChoice } from '../wire/query.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';
import { sourceOf } from './credentials.ts';

const WINDOW_NAMES = ['15m', '90m', '24h'] as const satisfies readonly Window[];

/** `{window, adapters}`: state, load and series of each adapter, and of each connection. */
export const figures = async ({ core, req }: RouteContext) => {
  const window = queryChoice(req, 'window', WINDOW_NAMES) ?? '15m';
  const shown = core.settings();
  const figures = await core.view.figures(window);
  return ok({
    window,
    adapters: figures.map(({ id, load: { breaker, paused, missing, atWork, waiting, limits }, series }) => {
      const { displayName, defaultModel } = core.adapter(id);
      return {
        id,
        displayName,
        defaultModel,
        ready: missing === undefined,
        source: sourceOf(core, id, missing === undefined, shown),
        ...(missing !== undefined && { detail: missing }),
        breaker: breaker.phase,
        openUntil: breaker.phase === 'open' ? inTime(breaker.opensInMs) : null,
        paused: paused.map(pausedSource),
        atWork,
        waiting,
        limits,
        series: series.map((point) => ({ ...point, at: new Date(point.at).toISOString() })),
      };
    }),
  });
};

function inTime(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

function pausedSource({ scope, caller, key, model, opensInMs }: PausedSource) {
  return {
    scope,
    ...(caller !== undefined && { block: caller }),
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
    until: inTime(opensInMs),
  };
}

/** `{live, ended}`, the newest first. */
export const requests = async ({ core }: RouteContext) => {
  const { live, ended } = await core.view.calls();
  const now = Date.now();
  return ok({ live: live.map((call) => underWay(call, now)), ended: ended.map(over) });
};

/** `{success, message}`; its client gets CANCELLED, and a block keeps what it has. Fails with NOT_FOUND. */
export const end = async (context: RouteContext) => {
  const { core, server } = context;
  const requestId = param(context, 'id');
  const call = core.liveCalls().find((each) => each.requestId === requestId);
  if (call === undefined) {
    if (!(await core.view.endElsewhere(requestId))) throw new BlockhouseError('NOT_FOUND', 'There is no request with this id under way.');
  } else if (call.caller !== undefined) {
    if (call.messageId === undefined)
      throw new BlockhouseError('WRONG_STATE', `The block ${call.caller} is not answering a message; stop it to end this call.`);
    await core.blocks.cancel(call.caller, call.messageId);
  } else {
    const wasOpen = server.endRequest(requestId);
    if (!core.stopReading(requestId) && !wasOpen) throw new BlockhouseError('WRONG_STATE', 'The request was not made by a client of this server.');
  }
  return ok({ success: true as const, message: `The request ${requestId} is ended.` });
};

export function underWay(
  { requestId, adapter, model, caller, key, credential, phase, queuedMs, firstTextMs, durationMs, usage }: CallState,
  now: number,
): GatewayRequest {
  return {
    requestId,
    adapter,
    model,
    ...(caller !== undefined && { block: caller }),
    ...(key !== undefined && { key }),
    ...(credential !== undefined && { credential }),
    phase,
    startedAt: new Date(now - durationMs).toISOString(),
    queuedMs: rounded(queuedMs),
    firstTextMs: rounded(firstTextMs),
    durationMs: Math.round(durationMs),
    usage: usage ?? null,
  };
}

export function over({ at, fact }: EndedCall): GatewayRequest {
  const { requestId, adapter, model, caller, key, credential, queuedMs, firstTextMs, durationMs, usage, code } = fact;
  return {
    requestId,
    adapter,
    model,
    ...(caller !== undefined && { block: caller }),
    ...(key !== undefined && { key }),
    ...(credential !== undefined && { credential }),
    phase: 'ended',
    startedAt: new Date(at - durationMs).toISOString(),
    queuedMs: rounded(queuedMs),
    firstTextMs: rounded(firstTextMs),
    durationMs: Math.round(durationMs),
    usage: usage ?? null,
    ...(code !== undefined && { code }),
  };
}

export function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms);
}
