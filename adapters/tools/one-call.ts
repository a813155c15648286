// One call of a tool that a person has asked for, without a block.
//
// approved-only: it names the definition that was shown, which must be the approved one.
// said-once: nothing is repeated, and what is not known is said.
import { randomBytes } from 'node:crypto';
import {
  argumentCheck,
  BlockhouseError,
  type CallTool,
  type ContentPart,
  invalidRequest,
  keyArgumentOf,
  marksOf,
  type ToolCalled,
  type ToolDefinition,
  toBlockhouseError,
  withoutArgument,
} from '../../core/index.ts';
import { approvalText, type Book, definitionOf, settingsOf } from './book.ts';
import type { ServerEntry } from './entry.ts';
import { stateOf } from './pins.ts';
import type { Sessions } from './server.ts';

/** Rejects with TOOL_NOT_APPROVED, INVALID_REQUEST, TOOL_SERVER_FAILED where it was surely not called, and TOOL_OUTCOME_UNKNOWN. */
export async function callOnce(book: Book, sessions: Sessions, entry: ServerEntry, asked: CallTool, signal: AbortSignal): Promise<ToolCalled['result']> {
  const { name } = entry;
  const definition = approved(book, entry, asked);
  const settings = settingsOf(entry);
  const key = keyArgumentOf(definition, settings);
  const wrong = argumentCheck(key === undefined ? definition.inputSchema : withoutArgument(definition.inputSchema, key.argument))(asked.arguments);
  if (wrong !== undefined) throw invalidRequest('arguments', `do not fit the schema of the tool: ${wrong}`);
  const callId = `test/${randomBytes(8).toString('hex')}/1.1`;
  try {
    await sessions.tidy();
    const server = await book.callable(name, asked.tool, asked.hash);
    const { callTimeoutMs: timeoutMs, maxResultBytes: maxBytes } = server.settings;
    const args = key === undefined ? asked.arguments : { ...asked.arguments, [key.argument]: callId };
    const call = { block: '', server: name, tool: asked.tool, arguments: args, pin: asked.hash, timeoutMs, maxBytes, callId };
    const outcome = await sessions.call(server, call, signal);
    if (outcome.kind === 'input-required')
      throw new BlockhouseError('TOOL_SERVER_FAILED', 'The tool asks a person before it goes on, and only a block can answer.');
    const { isError, parts, structuredContent, ms } = outcome;
    return {
      isError,
      text: parts.map(textOf).join('\n'),
      ...(structuredContent !== undefined && { structuredContent }),
      images: parts.filter(({ type }) => type === 'image').length,
      ms: Math.round(ms),
      bytes: Buffer.byteLength(JSON.stringify(parts)),
      marks: marksOf(definition, settings),
    };
  } catch (error) {
    const fault = toBlockhouseError(error);
    if (fault.code !== 'TOOL_NOT_BEGUN') throw fault;
    throw new BlockhouseError('TOOL_SERVER_FAILED', `The tool was not called: ${fault.message}`, { cause: fault });
  }
}

/** approved-only. */
function approved(book: Book, entry: ServerEntry, { tool, hash }: CallTool): ToolDefinition {
  const { name, fault } = entry;
  if (fault !== undefined) throw new BlockhouseError('TOOL_NOT_APPROVED', `${name} can't be called: ${fault}.`);
  const state = book.approvalOf(entry);
  if (state !== undefined) throw new BlockhouseError('TOOL_NOT_APPROVED', `${name} can't be called: ${approvalText(state, name)}.`);
  const known = book.pins.of(name).tools.get(tool);
  if (known?.pin === undefined || stateOf(known) !== 'approved' || known.pin.hash !== hash)
    throw new BlockhouseError(
      'TOOL_NOT_APPROVED',
      `${name}/${tool.slice(0, 128)} is not a tool that was approved. Look at it: \`blockhouse tools diff ${name}\`.`,
    );
  return definitionOf(name, tool, hash, known.pin.definition);
}

function textOf({ text, mediaType, data }: ContentPart): string {
  return text ?? `[image, ${mediaType ?? 'of an unknown kind'}, ${Math.floor(((data?.length ?? 0) * 3) / 4)} bytes]`;
}
