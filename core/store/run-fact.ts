// What happens in the run of a message, as the bus says it and as servers tell it each other. Pure: no I/O.
import type { CoreEvents } from '../bus.ts';

/** The facts of the bus that are meant. They have neither arguments nor results, and of what a server says while it works one line. */
export const RUN_FACTS = ['tool.called', 'tool.progressed', 'tool.finished', 'approval.requested', 'approval.decided'] as const;
type Name = (typeof RUN_FACTS)[number];
/** One of them, with its name. */
export type RunFact = { [N in Name]: { readonly name: N } & CoreEvents[N] }[Name];
