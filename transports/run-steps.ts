// The calls of tools of a block, and those that wait for people, as they come: what a WebSocket shows with `steps`, and the stream of an answer with `?steps=true`. They are
// facts of the bus, which have neither arguments nor results, and of what a server says while it works one line; the journal of the run has these.
import type { ApprovalFrame, Core, CoreEvents, RunProgressFrame, RunStepFrame, RunToolFrame, StopFollowing } from '../core/index.ts';

/** A frame about a run. */
export type RunFrame = RunStepFrame | RunToolFrame | RunProgressFrame | ApprovalFrame;

/** Calls back with each frame about a block, or about one message of it, until the returned function is called. */
export function followSteps(events: Core['events'], block: string, send: (frame: RunFrame) => void, messageId?: string): StopFollowing {
  let last = '';
  const isOf = (fact: { readonly block: string; readonly id: string }): boolean => fact.block === block && (messageId ?? fact.id) === fact.id;
  const run = (frame: RunToolFrame | RunProgressFrame): void => {
    const { id, call } = frame;
    const n = Number(call.split('.')[0]);
    if (last !== `${id} ${n}`) send({ type: 'run', block, id, event: 'step', n });
    last = `${id} ${n}`;
    send(frame);
  };
  const of = (id: string, call: string) => ({ type: 'run', block, id, call }) as const;
  const on = {
    'tool.called': ({ id, call, tool }: CoreEvents['tool.called']) => run({ ...of(id, call), event: 'tool', tool, state: 'called' }),
    'tool.progressed': (fact: CoreEvents['tool.progressed']) => run({ type: 'run', event: 'progress', ...fact }),
    'tool.finished': ({ id, call, tool, outcome, isError, ms }: CoreEvents['tool.finished']) =>
      run({ ...of(id, call), event: 'tool', tool, state: outcome, isError, ...(ms !== null && { ms }) }),
    'approval.requested': ({ approval }: CoreEvents['approval.requested']) => send({ type: 'approval', id: approval, block, state: 'pending' }),
    'approval.decided': ({ approval, state }: CoreEvents['approval.decided']) => send({ type: 'approval', id: approval, block, state }),
  };
  const all = Object.entries(on).map(
    ([name, hear]) => [name as 'tool.called', (fact: CoreEvents['tool.called']) => void (isOf(fact) && hear(fact as never))] as const,
  );
  for (const [name, hear] of all) events.on(name, hear);
  return () => {
    for (const [name, hear] of all) events.off(name, hear);
  };
}
