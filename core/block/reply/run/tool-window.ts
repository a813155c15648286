// The window of a block with tools: the newest exchanges are shown with their calls and results as such, because a model imitates calls that it reads as prose.
//
// as-written: what is called is the journal's word. Steps that only stand in chat.json, as from a person's hand, are not shown as calls.
import type { BlockConfig } from '../../../schemas/block-config.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import { RunState } from '../../../tools/journal.ts';
import type { OfferedTool } from '../../../tools/offer.ts';
import { earlierMessages, runTokens } from '../../../tools/prompt.ts';
import type { Candidate } from '../../status/candidates.ts';
import type { BlockContext } from '../block-context.ts';
import { exchangesFrom } from '../exchanges.ts';
import { buildWindow, type Window } from '../window.ts';
import { definitionTokens } from './model-step.ts';

/** As many of the newest exchanges are shown with their calls. */
const WITH_CALLS = 3;

/** The runs of the newest exchanges before a message, by the id of their question. */
export type EarlierRuns = ReadonlyMap<string, RunState>;

/** Rejects with BLOCK_DAMAGED for a journal that can't be read. */
export async function earlierRuns({ files }: Pick<BlockContext, 'files'>, message: ChatEntry): Promise<EarlierRuns> {
  const { conversation } = files;
  const { window } = await files.memory.read();
  const exchanges = exchangesFrom(window.firstKeptId, await conversation.entries(), message.id).filter(({ question }) => question.id !== message.id);
  const runs = new Map<string, RunState>();
  for (const { question, answers } of exchanges.slice(Math.max(0, exchanges.length - Math.min(WITH_CALLS, message.window ?? WITH_CALLS)))) {
    if (question.run === undefined && answers.every(({ run }) => run === undefined)) continue;
    const state = new RunState(await conversation.steps(question.id));
    if (state.calls.length > 0) runs.set(question.id, state);
  }
  return runs;
}

/** The tools that were called in them, by `server/tool`. */
export function calledIn(runs: EarlierRuns): ReadonlySet<string> {
  return new Set([...runs.values()].flatMap(({ calls }) => calls.map(({ asked }) => asked.tool)));
}

/** What the window is made from. */
export interface ToolWindowOptions {
  readonly context: Pick<BlockContext, 'files'>;
  readonly config: BlockConfig;
  readonly messageId: string;
  readonly runs: EarlierRuns;
  readonly tools: readonly OfferedTool[];
  /** What the prompt says of skills. */
  readonly skills: string;
  readonly candidate: Candidate;
}

/** The window for one model: the state of another provider is not in it. */
export async function toolWindow({ context, config, messageId, runs, tools, skills, candidate }: ToolWindowOptions): Promise<Window> {
  const { provider, model } = candidate;
  const calls = [...runs].map(([id, state]) => {
    const messages = earlierMessages(state, { provider, model });
    return [id, { messages, tokens: runTokens(messages) }] as const;
  });
  const [memory, history] = [await context.files.memory.read(), await context.files.conversation.entries()];
  return buildWindow({ config, memory, history, messageId, tools: { definitionTokens: definitionTokens(tools), calls: new Map(calls), skills } });
}
