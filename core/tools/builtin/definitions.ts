// The tools of the server `block`, which is this program: what models read of them. Pure: no I/O.
import { canonicalJson, sha256 } from '../canonical.ts';
import type { JsonRecord, ToolDefinition } from '../port.ts';

/** The server of the built-in tools. */
export const BLOCK_SERVER = 'block';
/** The names of some of them as models see them. */
export const FIND_TOOL = 'block__find_tool';
export const READ_RESULT_TOOL = 'block__read_result';
export const READ_SKILL = 'block__read_skill';
/** Their calls need no rule: they show what is approved or was read. */
export const FREE_TOOLS: ReadonlySet<string> = new Set(['block/find_tool', 'block/read_result', 'block/read_skill']);

type Annotations = NonNullable<ToolDefinition['annotations']>;
/** Reads, and nothing leaves. */
export const READS: Annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

/** A definition. Its pin is of its name and schema: what a description names besides may change while a run goes on. */
export function builtin(tool: string, description: string, properties: JsonRecord, required: readonly string[], annotations: Annotations): ToolDefinition {
  const inputSchema = { type: 'object', properties, required, additionalProperties: false } as const;
  return { server: BLOCK_SERVER, tool, pin: sha256(canonicalJson({ tool, inputSchema })), description, inputSchema, annotations };
}

/** Reads on in a result that was cut. */
export const readResultDefinition = builtin(
  'read_result',
  'Reads on in a result of a tool that was cut: some characters from an offset on, or the places of a text in it.',
  {
    ref: { type: 'string', description: 'As the notice before the result names it, such as 1.1' },
    offset: { type: 'integer', minimum: 0, description: 'The first character; default 0' },
    limit: { type: 'integer', minimum: 1, maximum: 100_000, description: 'As many characters; default 8000' },
    find: { type: 'string', minLength: 1, maxLength: 200, description: 'Gives the places of this text after the offset, in any case' },
  },
  ['ref'],
  READS,
);

/** Reads a skill. Which ones there are stands in the prompt. */
export const readSkillDefinition = builtin(
  'read_skill',
  'Reads a skill: how the user wants something done.',
  {
    name: { type: 'string', minLength: 1, maxLength: 64, description: 'The name of the skill' },
    file: { type: 'string', minLength: 1, maxLength: 1024, description: 'Another file of it; default SKILL.md' },
  },
  ['name'],
  READS,
);

/** Finds tools that are not in the list. Its description names their servers. */
export function findToolDefinition(others: readonly ToolDefinition[]): ToolDefinition {
  const counts = new Map<string, number>();
  for (const { server } of others) counts.set(server, (counts.get(server) ?? 0) + 1);
  const servers = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([server, count]) => `${server} (${count})`);
  return builtin(
    'find_tool',
    `Finds tools that are not in your list and adds them to it. Servers, and how many of their tools are to be found: ${servers.join(', ') || 'none'}.`,
    {
      query: { type: 'string', minLength: 1, maxLength: 500, description: 'Words for what the tool does, or its name' },
      limit: { type: 'integer', minimum: 1, maximum: 5, description: 'As many tools at most; default 5' },
    },
    ['query'],
    READS,
  );
}

const WRITES_HERE: Annotations = { readOnlyHint: false, idempotentHint: true, openWorldHint: false };
const message = { type: 'string', minLength: 1, maxLength: 20_000 } as const;

/** What a block with `block` in tools.servers has. The id of a call is the key of what it writes, so each may be made again. */
export const SERVER_TOOLS: readonly ToolDefinition[] = [
  builtin(
    'send',
    'Sends a message to another block and gives its answer.',
    {
      to: { type: 'string', minLength: 1, maxLength: 32, description: 'The name of the block' },
      message,
      wait: { type: 'boolean', description: 'False to go on without the answer; default true' },
    },
    ['to', 'message'],
    { ...WRITES_HERE, openWorldHint: true },
  ),
  builtin('remember', 'Keeps a fact in memory, for all later messages.', { text: { type: 'string', minLength: 1, maxLength: 500 } }, ['text'], WRITES_HERE),
  builtin(
    'later',
    'Sends a message to this block itself at a later time, once. Give either at or inMinutes.',
    {
      at: { type: 'string', maxLength: 40, description: 'ISO 8601 with a time zone, such as 2026-12-24T09:00:00+01:00' },
      inMinutes: { type: 'integer', minimum: 1, maximum: 525_600 },
      message: { ...message, maxLength: 4000 },
    },
    ['message'],
    WRITES_HERE,
  ),
];
