// Handlers of `/api/health`, `/api/auth/status` and the published contract.
import type { Core } from '../../../core/index.ts';
import { bearerToken } from '../../guard.ts';
import { wrongTokensOf } from '../../wrong-tokens.ts';
import { openApiDocument } from '../openapi.ts';
import { ok } from '../reply.ts';
import type { RouteContext } from '../route.ts';

/** `{status: "ok", version, uptimeSeconds, blocks, monitorsRunning}`. */
export const health = ({ core, server }: RouteContext) =>
  ok({ status: 'ok', version: core.version, uptimeSeconds: Math.round(server.uptimeMs() / 100) / 10, ...countsOf(core) });

/** A core that was never started has no blocks and serves only the gateway. */
function countsOf(core: Core): { readonly blocks: number; readonly monitorsRunning: number } {
  if (!core.started) return { blocks: 0, monitorsRunning: 0 };
  const { blocks, monitorsRunning } = core.blocks.counts();
  return { blocks, monitorsRunning };
}

/** `{authenticated}`: whether the request carries the right token. Fails with TOO_MANY_ATTEMPTS. */
export const authStatus = ({ core, req }: RouteContext) => ok({ authenticated: wrongTokensOf(core).isRight(core, req, bearerToken(req)) });

/** The OpenAPI document of the server's routes. */
export const openApi = ({ server }: RouteContext) => ok(openApiDocument(server.routes));
