// Handlers of `/api/health`, `/api/auth/status` and the published contract, whose text is loaded when it is first asked for.
import { BlockhouseError, type Core } from '../../../core/index.ts';
import { bearerToken } from '../../guard.ts';
import { wrongTokensOf } from '../../wrong-tokens.ts';
import { documentReply } from '../wire/document.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';

/** `{status: "ok", version, uptimeSeconds, blocks, monitorsRunning, gatewayOnly?, standIn?}`. */
export const health = async ({ core, server }: RouteContext) =>
  ok({
    status: 'ok',
    version: core.version,
    uptimeSeconds: Math.round(server.uptimeMs() / 100) / 10,
    ...(await countsOf(core)),
    ...(core.gatewayOnly && { gatewayOnly: true }),
    ...(core.standIn && { standIn: core.standIn }),
  });

/** A core that was never started, or that serves the gateway alone, has no blocks. */
async function countsOf(core: Core): Promise<{ readonly blocks: number; readonly monitorsRunning: number }> {
  if (!core.started || core.gatewayOnly) return { blocks: 0, monitorsRunning: 0 };
  const { blocks, monitorsRunning } = await core.blocks.counts();
  return { blocks, monitorsRunning };
}

/** `{authenticated}`: whether the request carries the right token. Fails with TOO_MANY_ATTEMPTS. */
export const authStatus = ({ core, req }: RouteContext) => ok({ authenticated: wrongTokensOf(core).isRight(core, req, bearerToken(req)) });

/** `{nodes}`: the servers that share the workspace. */
export const nodes = async ({ core }: RouteContext) => ok({ nodes: await core.nodes() });

/** The server, which gives its blocks away from now on. Fails with NODE_NOT_FOUND, WRONG_STATE, STORE_UNREACHABLE. */
export const drain = async (context: RouteContext) => ok(await context.core.drain(param(context, 'node'), true));

/** The server, which takes blocks again. Fails as `drain` does. */
export const undrain = async (context: RouteContext) => ok(await context.core.drain(param(context, 'node'), false));

/** The OpenAPI document of the server's routes. */
export const openApi = async ({ server, req }: RouteContext) => {
  const { openApiText } = await import('../openapi/openapi.ts');
  return documentReply(req, openApiText(server.routes));
};

/** The AsyncAPI document of the WebSocket. Fails with NOT_FOUND on a server without one. */
export const asyncApi = async ({ server, req }: RouteContext) => {
  if (!server.hasWebSocket()) throw new BlockhouseError('NOT_FOUND', 'This server has no WebSocket, and so no contract of one.');
  const { asyncApiText } = await import('../../asyncapi.ts');
  return documentReply(req, asyncApiText());
};
