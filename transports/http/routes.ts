// The one table of routes. The router, the published contract and the types of the CLI's client derive from it.
import { APPROVAL_ROUTES } from './routes/approvals.ts';
import { BLOCK_ROUTES } from './routes/blocks.ts';
import { CHAT_ROUTES } from './routes/chat.ts';
import { CLIENT_ROUTES } from './routes/clients.ts';
import { COMPATIBLE_ROUTES } from './routes/compatible-all.ts';
import { CONNECTION_ROUTES } from './routes/connections.ts';
import { CREDENTIAL_ROUTES } from './routes/credentials.ts';
import { GATEWAY_ROUTES } from './routes/gateway.ts';
import { GATEWAY_LIVE_ROUTES } from './routes/gateway-live.ts';
import { HOOK_ROUTES } from './routes/hooks.ts';
import { MCP_ROUTES } from './routes/mcp.ts';
import { NOTIFY_ROUTES } from './routes/notify.ts';
import { PRICE_ROUTES } from './routes/prices.ts';
import { SCHEDULE_ROUTES } from './routes/schedules.ts';
import { SERVER_ROUTES } from './routes/server.ts';
import { SESSION_ROUTES } from './routes/session.ts';
import { SKILL_ROUTES } from './routes/skills.ts';
import { TOOL_ROUTES } from './routes/tools.ts';
import { WORKSPACE_ROUTES } from './routes/workspace.ts';
import type { JsonReply, Written } from './wire/reply.ts';
import { routesOf } from './wire/route.ts';

const TABLE = {
  ...GATEWAY_ROUTES,
  ...SERVER_ROUTES,
  ...SESSION_ROUTES,
  ...CREDENTIAL_ROUTES,
  ...CONNECTION_ROUTES,
  ...PRICE_ROUTES,
  ...GATEWAY_LIVE_ROUTES,
  ...BLOCK_ROUTES,
  ...CHAT_ROUTES,
  ...SCHEDULE_ROUTES,
  ...HOOK_ROUTES,
  ...NOTIFY_ROUTES,
  ...MCP_ROUTES,
  ...TOOL_ROUTES,
  ...SKILL_ROUTES,
  ...APPROVAL_ROUTES,
  ...WORKSPACE_ROUTES,
  ...CLIENT_ROUTES,
  ...COMPATIBLE_ROUTES,
};

/** Each route by `METHOD /path`, with the types of its handler. */
export type RouteTable = typeof TABLE;

/** Every route of the server. */
export const ROUTES = routesOf(TABLE);

/** The parsed body of a route's 200 answer, inferred from its handler. */
export type AnswerOf<K extends keyof RouteTable> = Content<Awaited<ReturnType<RouteTable[K]['handler']>>>;
type Content<R> = R extends JsonReply<infer Body> ? (Body extends Written<infer Value> ? Value : Body) : never;
