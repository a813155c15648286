// Promise actors that accept `{type: 'abort', cause}`. After an abort, such an actor still runs until its promise settles, so the machine waits
// for the last writes and gets an outcome. Stopping an actor would discard both.
import { type AnyActorRef, fromPromise, type NonReducibleUnknown, type PromiseActorLogic } from 'xstate';

/** xstate's system of one block's actor and the actors that it has invoked; each block has its own. */
export type ActorSystem = AnyActorRef['system'];

/** What the work gets. */
export interface AbortableWork<I> {
  readonly input: I;
  readonly system: ActorSystem;
  /** Its reason is the cause of the abort event, or `stop` if the actor itself was stopped. */
  readonly signal: AbortSignal;
}

/** Actor logic for abortable work. */
export function fromAbortable<O, I = NonReducibleUnknown>(work: (options: AbortableWork<I>) => Promise<O>): PromiseActorLogic<O, I> {
  const controllers = new WeakMap<AnyActorRef, AbortController>();
  const logic = fromPromise<O, I>(({ input, system, self, signal }) => {
    const controller = new AbortController();
    controllers.set(self, controller);
    signal.addEventListener('abort', () => controller.abort('stop'), { once: true });
    return work({ input, system, signal: controller.signal });
  });
  const transition: typeof logic.transition = (snapshot, event, scope) => {
    if (event.type !== 'abort') return logic.transition(snapshot, event, scope);
    controllers.get(scope.self)?.abort(event['cause']);
    return snapshot;
  };
  return { ...logic, transition };
}
