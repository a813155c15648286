// Tells the bus, and the log of the block, what the records of a run say, once they are written. Never arguments, results or notes.
import type { CoreBus, CoreEvents } from '../../../bus.ts';
import type { LogStore } from '../../../store/store.ts';
import type { RunState } from '../../../tools/journal.ts';
import type { RunRecord } from '../../../types.ts';
import { stateAfter } from './shown.ts';

/** Who hears of records, and of which message they are. */
export interface RecordListener {
  readonly block: string;
  readonly bus: CoreBus;
  /** Left out where no monitor writes a log. */
  readonly log?: LogStore | undefined;
}

/** `state` has the record already. */
export function tellRecord({ block, bus, log }: RecordListener, id: string, state: RunState, record: RunRecord): void {
  const tell = <E extends 'approval.requested' | 'approval.decided' | 'tool.called' | 'tool.progressed' | 'tool.finished'>(
    event: E,
    { level = 'INFO', ...fact }: Omit<CoreEvents[E], 'block' | 'id'> & { readonly level?: 'INFO' | 'WARN' },
  ): void => {
    log?.write(level, event, { id, ...fact });
    bus.emit(event, { block, id, ...fact } as unknown as CoreEvents[E]);
  };
  const finished = (call: string, outcome: string, more: { readonly isError?: boolean; readonly ms?: number; readonly level?: 'WARN' } = {}): void =>
    tell('tool.finished', { call, tool: toolAt(state, call), outcome, isError: false, ms: null, ...more });
  if (record.t === 'ask') {
    const { id: approval, tool, because, expiresAt } = record.approval;
    tell('approval.requested', { approval, tool, because, expiresAt });
  } else if (record.t === 'decision') {
    const asked = state.askedFor(record.approval);
    if (asked !== undefined) tell('approval.decided', { approval: record.approval, tool: asked.approval.tool, state: stateAfter(record.decision) });
  } else if (record.t === 'call') tell('tool.called', { call: record.call, tool: toolAt(state, record.call) });
  else if (record.t === 'cancel') tell('tool.progressed', { call: record.call, tool: toolAt(state, record.call), state: 'cancelling', task: true });
  else if (record.t === 'result') finished(record.call, 'done', { isError: record.isError, ms: record.ms });
  else if (record.t === 'refused') finished(record.call, record.code);
  else if (record.t === 'unknown') finished(record.call, 'unknown', { level: 'WARN' });
}

function toolAt(state: RunState, place: string): string {
  return state.callAt(place)?.asked.tool ?? '';
}
