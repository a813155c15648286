// Examples in the published contract: bodies of requests and answers, each of which fits its schema. Pure: no I/O.
import type { ErrorCode } from '../../../core/index.ts';
import { TOKEN_HINT } from '../../wrong-tokens.ts';
import type { Example } from './example.ts';
import { BLOCK_EXAMPLES } from './examples-blocks.ts';
import { CLIENT_EXAMPLES } from './examples-clients.ts';
import { GATEWAY_EXAMPLES } from './examples-gateway.ts';
import { HOOK_EXAMPLES } from './examples-hooks.ts';
import { MCP_EXAMPLES } from './examples-mcp.ts';
import { NOTIFY_EXAMPLES } from './examples-notify.ts';
import { PROTOCOL_EXAMPLES } from './examples-protocols.ts';
import { APPROVAL_EXAMPLES } from './examples-approvals.ts';
import { SCHEDULE_EXAMPLES } from './examples-schedules.ts';
import { TOOL_EXAMPLES } from './examples-tools.ts';

/** What an error looks like in full. */
const errorExample = (status: number, code: ErrorCode, error: string, more: object = {}): Example => ({
  of: 'ErrorReport',
  summary: code,
  value: { error, status, code, requestId: 'req_46c8a32cf6c801a960927a83', ...more },
});

const INVALID = [{ path: 'config.temperature', message: 'must be <= 1' }];

/** Each example under its name in the document. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  ...GATEWAY_EXAMPLES,
  ...BLOCK_EXAMPLES,
  ...SCHEDULE_EXAMPLES,
  ...APPROVAL_EXAMPLES,
  ...HOOK_EXAMPLES,
  ...NOTIFY_EXAMPLES,
  ...MCP_EXAMPLES,
  ...TOOL_EXAMPLES,
  ...CLIENT_EXAMPLES,
  ...PROTOCOL_EXAMPLES,
  InvalidRequest: { ...errorExample(400, 'INVALID_REQUEST', 'config.temperature must be <= 1.', { details: INVALID }), operations: ['chat'] },
  Unauthorized: errorExample(401, 'UNAUTHORIZED', TOKEN_HINT),
  ForeignOrigin: errorExample(
    403,
    'FORBIDDEN_ORIGIN',
    'Requests from web pages of other sites are refused. To let the pages of an origin call /v1, add it to BLOCKHOUSE_WEB_ORIGINS and restart the server.',
  ),
  BlockNotFound: errorExample(404, 'BLOCK_NOT_FOUND', 'There is no block "grace"; `blockhouse ls` lists them, and `blockhouse new grace` makes one.'),
  NameTaken: errorExample(409, 'NAME_TAKEN', 'A block named ada already exists; choose another name.'),
};

/** The same by the schema that they are of: the document asks for them once for each body of each route. */
const BY_SCHEMA = new Map<string, [name: string, example: Example][]>();
for (const [name, example] of Object.entries(EXAMPLES)) BY_SCHEMA.set(example.of, [...(BY_SCHEMA.get(example.of) ?? []), [name, example]]);

/** The examples for a body of an operation, as references by name; undefined where there are none. A request has no status and no error codes. */
export function examplesFor(schema: string, operation: string, status?: number, codes: readonly string[] = []): object | undefined {
  const found = (BY_SCHEMA.get(schema) ?? []).filter(
    ([, { of, operations, status: only, value }]) =>
      (operations?.includes(operation) ?? true) &&
      (only === undefined || only === status) &&
      (of !== 'ErrorReport' || codes.includes((value as { code: string }).code)),
  );
  return found.length === 0 ? undefined : Object.fromEntries(found.map(([name]) => [name, { $ref: `#/components/examples/${name}` }]));
}
