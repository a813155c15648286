// What an approval is bound to: the hash of what is started, and of what a tool says of itself. Pure: no I/O.
//
// whole-definition: the hash of a tool covers all that a model or a rule can be led by; of a server, all that decides what is started and what it gets. The texts of `env` and
//   `headers` are in it as they stand, with references unresolved: a variable such as NODE_OPTIONS can start another program, and a secret can be rotated.
import { isDeeperThan } from '../../core/base/json.ts';
import { canonicalJson, sha256 } from '../../core/index.ts';
import type { ListedTool } from './server.ts';

/** Schemas of arguments may nest to 32 levels. */
const MAX_DEPTH = 40;

/** Of an entry whose references are not followed. */
export interface StartTemplate {
  readonly kind: 'stdio' | 'http';
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly sandbox?: string | undefined;
  /** Who signs in, and where. */
  readonly oauth?: Readonly<Record<string, unknown>> | undefined;
}

/** The hash of what is started (whole-definition). */
export function definitionHash({ kind, command, args, env, url, headers, sandbox, oauth }: StartTemplate): string {
  return sha256(canonicalJson({ kind, command, args, env, url, headers, sandbox, oauth }));
}

/** The hash of a tool (whole-definition). Throws an Error for one that nests too deep. */
export function toolHash({ name, title, description, inputSchema, outputSchema, annotations }: ListedTool): string {
  const tool = { name, title, description, inputSchema, outputSchema, annotations };
  if (isDeeperThan(tool, MAX_DEPTH)) throw new Error(`it nests deeper than ${MAX_DEPTH} levels`);
  return sha256(canonicalJson(tool));
}
