// Runs the built-in tools of a run.
import { isObject } from '../../../base/json.ts';
import { parseBytes } from '../../../base/strict-json.ts';
import { BlockhouseError, toBlockhouseError } from '../../../errors.ts';
import type { BlockMemory } from '../../../schemas/block-memory.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import { type LaterCall, laterOf, linksOf, withLater } from '../../../tools/builtin/later.ts';
import { type Reading, readOn } from '../../../tools/builtin/read-result.ts';
import { withFact } from '../../../tools/builtin/remember.ts';
import { chainFrom, sendProblem } from '../../../tools/builtin/send.ts';
import type { BlockWork } from '../../../tools/builtin/work.ts';
import { findTools } from '../../../tools/find.ts';
import type { RunState } from '../../../tools/journal.ts';
import type { Catalogue, ToolCallRequest, ToolOutcome } from '../../../tools/port.ts';
import { resultText } from '../../../tools/results.ts';
import type { ToolSettings } from '../../../tools/settings.ts';
import { taintOfRun } from '../../../tools/taint.ts';
import type { ContentPart, RunRecord } from '../../../types.ts';
import type { BlockContext } from '../block-context.ts';
import { replyOf } from './block-reply.ts';
import type { RunSkills } from './run-skills.ts';

interface SendCall {
  readonly to: string;
  readonly message: string;
  readonly wait?: boolean;
}

/** A result, and what it records besides. */
export interface BuiltinOutcome extends ToolOutcome {
  readonly records?: readonly RunRecord[];
}

/** What they work with. */
export interface BuiltinOptions {
  readonly context: BlockContext;
  readonly message: ChatEntry;
  work(): BlockWork;
  readonly settings: ToolSettings;
  readonly state: RunState;
  readonly skills: Pick<RunSkills, 'read'>;
  /** Present when a call is made. */
  catalogue(): Catalogue;
  /** Ids of the tools in the list. */
  listed(): ReadonlySet<string>;
}

/** Those of one run. */
export class Builtins {
  readonly #options: BuiltinOptions;

  constructor(options: BuiltinOptions) {
    this.#options = options;
  }

  /** Rejects with TOOL_NOT_BEGUN, and with TOOL_OUTCOME_UNKNOWN where `signal` has fired. Arguments are checked by then. */
  async call({ tool, arguments: args, callId }: ToolCallRequest, signal: AbortSignal): Promise<BuiltinOutcome> {
    const place = callId.slice(callId.lastIndexOf('/') + 1);
    switch (tool) {
      case 'find_tool':
        return this.#find(place, args as { readonly query: string; readonly limit?: number });
      case 'read_result':
        return this.#read(args as unknown as Reading);
      case 'read_skill':
        return this.#readSkill(args as { readonly name: string; readonly file?: string });
      case 'remember':
        return this.#remember(args as { readonly text: string }, callId);
      case 'later':
        return this.#later(args as unknown as LaterCall, callId);
      case 'send':
        return this.#send(args as unknown as SendCall, { callId, place }, signal);
      default:
        throw new BlockhouseError('TOOL_NOT_BEGUN', `There is no built-in tool ${tool}.`);
    }
  }

  /** From here on nothing is left behind that another try would not find: the id of the call is the key of what is written. */
  async #remember({ text }: { readonly text: string }, callId: string): Promise<BuiltinOutcome> {
    const { context, message, state } = this.#options;
    const taint = taintOfRun(state, message.id);
    const problem = await context.files.memory.update(
      (memory): { value: BlockMemory; result: string | undefined } => {
        const value = withFact(memory, text, { callId, messageId: message.id, at: context.at(), taint });
        return typeof value === 'string' ? { value: memory, result: value } : { value, result: undefined };
      },
      { claim: context.claim },
    );
    return problem === undefined ? said('Kept.') : refused(problem);
  }

  async #later(call: LaterCall, callId: string): Promise<BuiltinOutcome> {
    const { context, message, work, state } = this.#options;
    const isTainted = taintOfRun(state, message.id).length > 0;
    const one = laterOf(call, { callId, links: linksOf(message), isTainted }, context.world.now());
    if (typeof one === 'string') return refused(one);
    return toldOf(async () => {
      const entries = await context.files.conversation.entries();
      const schedule = { id: one.id, at: new Date(one.at).toISOString(), message: call.message };
      const problem = await work().changeSchedules(context.name, (before) => withLater(before, schedule, entries, context.world.now()));
      return problem === undefined ? said(`It will come at ${new Date(one.at).toISOString()}.`) : refused(problem);
    });
  }

  async #send({ to, message: content, wait = true }: SendCall, { callId, place }: { readonly callId: string; readonly place: string }, signal: AbortSignal) {
    const { context, message, settings, state } = this.#options;
    const { name, world, files } = context;
    const { chain = [] } = message;
    const now = world.now();
    const problem = sendProblem({ block: name, to, place, chain, settings: settings.send, state, entries: await files.conversation.entries(), now });
    if (problem !== undefined) return refused(problem);
    return toldOf(async () => {
      const work = this.#options.work();
      const messageId = await work.send({ to, content, clientId: callId, chain: chainFrom(name, chain, linksOf(message)) });
      if (!wait) return said(`Sent to ${to}.`);
      const { text, isFailed, note, tokens } = await replyOf(work, { from: name, to, messageId, signal });
      if (text !== undefined) return { ...said(text), tokens };
      return {
        ...said(isFailed ? `${to} has not answered: ${note}` : `The message was sent to ${to}, and there is no answer yet. ${note}`),
        isError: isFailed,
        tokens,
      };
    });
  }

  #find(place: string, { query, limit }: { readonly query: string; readonly limit?: number }): BuiltinOutcome {
    const { settings, state, catalogue, listed } = this.#options;
    const { tools, text } = findTools({ catalogue: catalogue(), settings, query, limit, listed: listed(), added: state.added });
    return { ...said(text), records: tools.length === 0 ? [] : [{ t: 'found', call: place, query, tools: [...tools] }] };
  }

  async #readSkill(asked: { readonly name: string; readonly file?: string }): Promise<BuiltinOutcome> {
    const { text, isError } = await this.#options.skills.read(asked);
    return { ...said(text), isError };
  }

  async #read(reading: Reading): Promise<BuiltinOutcome> {
    const { context, message, settings } = this.#options;
    const bytes = await context.files.conversation.result(message.id, reading.ref);
    if (bytes === undefined)
      return { ...said('There is no such result, or it was dropped to make room for newer ones. Call the tool again if you need it.'), isError: true };
    return said(readOn(wholeText(bytes), reading, settings.limits.resultTokens));
  }
}

function wholeText(bytes: Uint8Array): string {
  const whole = parseBytes(bytes);
  const parts = isObject(whole) && Array.isArray(whole['parts']) ? (whole['parts'] as unknown[]).filter(isObject) : [];
  return resultText(parts as unknown as ContentPart[]);
}

/** What a fault says goes to the model; a call that was cut off may have begun. */
async function toldOf(work: () => Promise<BuiltinOutcome>): Promise<BuiltinOutcome> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = toBlockhouseError(error);
    if (code === 'CANCELLED') throw new BlockhouseError('TOOL_OUTCOME_UNKNOWN', 'The call was cut off.', { cause: error });
    if (!TOLD.has(code)) throw error;
    return refused(message);
  }
}

const TOLD: ReadonlySet<string> = new Set(['BLOCK_NOT_FOUND', 'QUEUE_FULL', 'INVALID_REQUEST', 'WRONG_STATE']);

function refused(text: string): ToolOutcome {
  return { ...said(text), isError: true };
}

function said(text: string): ToolOutcome {
  return { kind: 'result', isError: false, parts: [{ type: 'text', text }], ms: 0 };
}
