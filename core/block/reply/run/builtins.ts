// Runs the built-in tools of a run.
import { isObject } from '../../../base/json.ts';
import { parseBytes } from '../../../base/strict-json.ts';
import { BlockhouseError } from '../../../errors.ts';
import type { Conversation } from '../../../store/port.ts';
import { readOn, type Reading } from '../../../tools/builtin/read-result.ts';
import { findTools } from '../../../tools/find.ts';
import type { RunState } from '../../../tools/journal.ts';
import type { Catalogue, ToolCallRequest, ToolOutcome } from '../../../tools/port.ts';
import { resultText } from '../../../tools/results.ts';
import type { ToolSettings } from '../../../tools/settings.ts';
import type { ContentPart, RunRecord } from '../../../types.ts';

/** A result, and what it records besides. */
export interface BuiltinOutcome extends ToolOutcome {
  readonly records?: readonly RunRecord[];
}

/** What they work with. */
export interface BuiltinOptions {
  readonly messageId: string;
  readonly conversation: Conversation;
  readonly settings: ToolSettings;
  readonly state: RunState;
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

  /** Rejects with TOOL_NOT_BEGUN. Arguments are checked by then. */
  async call({ tool, arguments: args, callId }: ToolCallRequest): Promise<BuiltinOutcome> {
    const place = callId.slice(callId.lastIndexOf('/') + 1);
    switch (tool) {
      case 'find_tool':
        return this.#find(place, args as { readonly query: string; readonly limit?: number });
      case 'read_result':
        return this.#read(args as unknown as Reading);
      default:
        throw new BlockhouseError('TOOL_NOT_BEGUN', `There is no built-in tool ${tool}.`);
    }
  }

  #find(place: string, { query, limit }: { readonly query: string; readonly limit?: number }): BuiltinOutcome {
    const { settings, state, catalogue, listed } = this.#options;
    const { tools, text } = findTools({ catalogue: catalogue(), settings, query, limit, listed: listed(), added: state.added });
    return { ...said(text), records: tools.length === 0 ? [] : [{ t: 'found', call: place, query, tools: [...tools] }] };
  }

  async #read(reading: Reading): Promise<BuiltinOutcome> {
    const { conversation, messageId, settings } = this.#options;
    const bytes = await conversation.result(messageId, reading.ref);
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

function said(text: string): ToolOutcome {
  return { kind: 'result', isError: false, parts: [{ type: 'text', text }], ms: 0 };
}
