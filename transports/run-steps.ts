// The calls of tools of a block, and those that wait for people, as they come, from whichever server makes them: what a WebSocket shows with `steps`, and the stream of an answer
// with `?steps=true`. They have neither arguments nor results; the journal of the run has these.
import type { ApprovalFrame, Blocks, FollowOptions, RunStepFrame, RunToolFrame, StopFollowing } from '../core/index.ts';

/** A frame about a run. */
export type RunFrame = RunStepFrame | RunToolFrame | ApprovalFrame;

type Fact = Parameters<NonNullable<FollowOptions['onRun']>>[0];

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
    send({ type: 'run', block, id, event: 'tool', call, ...stateOf(fact) });
  };
  return blocks.follow(block, { onRun });
}

function stateOf(fact: Exclude<Fact, { readonly approval: string }>): Pick<RunToolFrame, 'tool' | 'state' | 'isError' | 'ms'> {
  const { tool } = fact;
  if (fact.name === 'tool.called') return { tool, state: 'called' };
  const { outcome, isError, ms } = fact;
  return { tool, state: outcome, isError, ...(ms !== null && { ms }) };
}
