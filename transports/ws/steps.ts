// What a subscription with `steps` gets besides: the calls of tools of its block, and those that wait for people. They are facts of the bus, which have neither arguments nor
// results; the journal of the run has these.
import type { Core, CoreEvents, StopFollowing } from '../../core/index.ts';
import type { ServerFrame } from './frames.ts';

/** A frame about a run. */
export type RunFrame = Extract<ServerFrame, { readonly type: 'run' | 'approval' }>;

/** Calls back with each frame about a block, until the returned function is called. */
export function followSteps(events: Core['events'], block: string, send: (frame: RunFrame) => void): StopFollowing {
  let last = '';
  const run = (id: string, call: string, frame: Omit<Extract<RunFrame, { readonly event: 'tool' }>, 'type' | 'block' | 'id' | 'event' | 'call'>): void => {
    const n = Number(call.split('.')[0]);
    if (last !== `${id} ${n}`) send({ type: 'run', block, id, event: 'step', n });
    last = `${id} ${n}`;
    send({ type: 'run', block, id, event: 'tool', call, ...frame });
  };
  const on = {
    'tool.called': ({ block: of, id, call, tool }: CoreEvents['tool.called']) => void (of === block && run(id, call, { tool, state: 'called' })),
    'tool.finished': ({ block: of, id, call, tool, outcome, isError, ms }: CoreEvents['tool.finished']) =>
      void (of === block && run(id, call, { tool, state: outcome, isError, ...(ms !== null && { ms }) })),
    'approval.requested': ({ block: of, approval }: CoreEvents['approval.requested']) =>
      void (of === block && send({ type: 'approval', id: approval, block, state: 'pending' })),
    'approval.decided': ({ block: of, approval, state }: CoreEvents['approval.decided']) =>
      void (of === block && send({ type: 'approval', id: approval, block, state })),
  };
  for (const [name, hear] of Object.entries(on)) events.on(name as 'tool.called', hear as never);
  return () => {
    for (const [name, hear] of Object.entries(on)) events.off(name as 'tool.called', hear as never);
  };
}
