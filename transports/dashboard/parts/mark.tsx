// The state of a block: its shape and its colour both tell.
import { stateName } from '../text/common.ts';

const KNOWN = new Set(['idle', 'working', 'starting', 'stopping', 'compacting', 'stopped', 'unconfigured', 'backoff', 'paused', 'failed']);

/** A mark with a name for those who can't see it; without one beside words that say the same. */
export function Mark({ state, named = true }: { readonly state: string; readonly named?: boolean }) {
  const known = KNOWN.has(state) ? state : 'unknown';
  const shape = `mark ${state === 'waiting-approval' ? 'paused' : known}`;
  return named ? <span class={shape} role="img" aria-label={stateName(state)} title={stateName(state)} /> : <span class={shape} aria-hidden="true" />;
}

/** The mark and its name. */
export function StatePill({ state }: { readonly state: string }) {
  return (
    <span class={`pill ${state}`}>
      <Mark state={state} named={false} />
      {stateName(state)}
    </span>
  );
}
