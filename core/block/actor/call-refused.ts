// Why no model is called although a message waits: the kill switch, a cap, or a database that does not answer. Pure: no I/O.
import type { HaltState } from '../../schemas/workspace-api.ts';
import { haltReason } from '../status/reasons.ts';
import type { ReplyOutcome } from './types.ts';

/** The monitor waits until a time, or until somebody changes something. */
export type Pause = Extract<ReplyOutcome, { readonly kind: 'pause' }>;

/** The monitor tries again after a while. */
export type Wait = Extract<ReplyOutcome, { readonly kind: 'wait' }>;

/** A call that the kill switch or a cap forbids, or that is not made while the database is away. No model was called. */
export class CallRefused extends Error {
  readonly pause: Pause | Wait;

  constructor(pause: Pause | Wait) {
    super(pause.reason.message);
    this.pause = pause;
  }
}

/** The pause that the kill switch demands; undefined while it is not set. */
export function haltPause(halt: HaltState): Pause | undefined {
  return halt.halted ? { kind: 'pause', until: null, reason: haltReason(halt), actor: 'user' } : undefined;
}
