// Work that can be ended early and still has its outcome: an actor that is a promise and takes `{type: 'abort', cause}`. Unlike an actor that is
// stopped, it goes on until its promise settles, so that the machine waits for what is left to be written.
import { type AnyActorRef, fromPromise, type NonReducibleUnknown, type PromiseActorLogic } from 'xstate';

/** Of one actor and all that it has invoked: the same for no two blocks. */
export type ActorSystem = AnyActorRef['system'];

export interface AbortableWork<I> {
  readonly input: I;
  readonly system: ActorSystem;
  /** Its reason is the cause: `stop`, also when the actor itself is stopped, or what the event says. */
  readonly signal: AbortSignal;
}

/** The actor logic of such work. */
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
