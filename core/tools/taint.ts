// What is tainted: somebody outside may have written what a model reads, and with it what the model does next. Pure: no I/O.
//
// own-reads: a run is tainted once it has read output of a tool that is not `closedWorld`, be it a result or the last words of a server that could not be called.
// by-its-way: a message that came with a key, through a hook, from another block or over MCP is tainted from its beginning, unless its key was trusted when it came.
// spreads: what a model sees of a tainted message, be it in the conversation, in the summary of it, or as a fact, taints what it does and says then. So an answer keeps what
//   has tainted it, however long ago that was, and so does a message that a person asks again (core/block/conversation/chat-changes.ts).
import type { ChatEntry, Taint } from '../types.ts';
import type { CallState, RunState } from './journal.ts';

/** As many are kept; one is enough. */
const MAX_KEPT = 10;

/** What a model sees besides a run. */
export interface SeenBefore {
  /** Entries of the conversation, and the message itself. */
  readonly entries: readonly ChatEntry[];
  /** Those of the summary and of facts, where the prompt has them. */
  readonly remembered?: readonly Taint[] | undefined;
}

/** by-its-way, and spreads. */
export function taintOfSeen({ entries, remembered = [] }: SeenBefore): readonly Taint[] {
  return unitedTaint(
    entries.flatMap((entry) => taintOfEntry(entry)),
    remembered,
  );
}

function taintOfEntry({ id, chain = [], taint = [] }: ChatEntry): readonly Taint[] {
  return [...chain.flatMap(({ via, trusted }): Taint[] => (via === 'api' || trusted === true ? [] : [{ messageId: id, via }])), ...taint];
}

/** own-reads, and what its beginning says. `isClosed` decides about results that do not say it themselves. */
export function taintOfRun(state: RunState, messageId: string, isClosed: (tool: string) => boolean = () => false): readonly Taint[] {
  const read = state.calls.filter((call) => isOpenRead(call, isClosed)).map(({ asked }): Taint => ({ messageId, tool: asked.tool }));
  return unitedTaint(read, state.run?.taint ?? []);
}

function isOpenRead({ asked, outcome }: CallState, isClosed: (tool: string) => boolean): boolean {
  if (outcome === undefined) return false;
  if (outcome.t !== 'result') return outcome.open === true; // it may quote the last words of a server
  if (outcome.by === 'person') return false;
  return outcome.open ?? !isClosed(asked.tool);
}

/** Each once, the first ones. */
export function unitedTaint(...lists: readonly (readonly Taint[])[]): readonly Taint[] {
  const found = new Map<string, Taint>();
  for (const one of lists.flat()) {
    if (found.size >= MAX_KEPT) break;
    found.set(`${one.messageId} ${one.tool ?? ''} ${one.via ?? ''}`, one);
  }
  return [...found.values()];
}

/** As a part of a sentence: `web/fetch in message m1`. */
export function taintText({ tool, via, messageId }: Taint): string {
  return tool === undefined ? `message ${messageId}, which came ${WAYS[via ?? 'key']}` : `${tool} in message ${messageId}`;
}

const WAYS: Readonly<Record<NonNullable<Taint['via']>, string>> = {
  key: 'with a key',
  hook: 'through a hook',
  block: 'from another block',
  mcp: 'over MCP',
};
