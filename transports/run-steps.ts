// The calls of tools of a block, and those that wait for people, as they come, from whichever server makes them: what a WebSocket shows with `steps`, and the stream of an answer
// with `?steps=true`. They have neither arguments nor results, and of what a server says while it works one line; the journal of the run has these.
import type { ApprovalFrame, Blocks, FollowOptions, RunProgressFrame, RunStepFrame, RunToolFrame, StopFollowing } from '../core/index.ts';

/** A frame about a run. */
export type RunFrame = RunStepFrame | RunToolFrame | RunProgressFrame | ApprovalFrame;

type Fact = Parameters<NonNullable<FollowOptions['onRun']>>[0];
type ToolFact = Exclude<Fact, { readonly approval: string }>;

/** Calls back with each frame about a block, or about one message of it, until the returned function is called. Throws BLOCK_NOT_FOUND. */
export function followSteps(blocks: Pick<Blocks, 'follow'>, block: string, send: (frame: RunFrame) => void, messageId?: string): StopFollowing {
  let last = '';
  const onRun = (fact: Fact): void => {
    if (messageId !== undefined && fact.id !== messageId) return;
    if ('approval' in fact) {
      send({ type: 'approval', id: fact.approval, block, state: fact.name === 'approval.decided' ? fact.state : 'pending' });
      return;
    }
    const { id, call } = fact;
    const n = Number(call.split('.')[0]);
    if (last !== `${id} ${n}`) send({ type: 'run', block, id, event: 'step', n });
    last = `${id} ${n}`;
    send({ type: 'run', block, id, call, ...detailsOf(fact) });
  };
  return blocks.follow(block, { onRun });
}

function detailsOf(fact: ToolFact): Omit<RunToolFrame, 'type' | 'block' | 'id' | 'call'> | Omit<RunProgressFrame, 'type' | 'block' | 'id' | 'call'> {
  const { tool } = fact;
  if (fact.name === 'tool.called') return { event: 'tool', tool, state: 'called' };
  if (fact.name === 'tool.finished') return { event: 'tool', tool, state: fact.outcome, isError: fact.isError, ...(fact.ms !== null && { ms: fact.ms }) };
  const { name: _name, block: _block, id: _id, call: _call, ...said } = fact;
  return { event: 'progress', ...said };
}
