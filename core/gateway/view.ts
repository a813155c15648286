// The gateway as people watch it: its figures and its requests, of all processes that serve the same port. This is the view of a process that serves alone.
import type { Gateway } from './gateway.ts';
import type { CallState, GatewayLoad } from './live.ts';
import type { EndedCall, Meter, MeterPoint, Window } from './meter.ts';

/** How a provider does. */
export interface AdapterFigures {
  readonly id: string;
  readonly load: GatewayLoad;
  readonly series: readonly MeterPoint[];
}

/** The calls under way, and those that have ended; the newest first. */
export interface GatewayCalls {
  readonly live: readonly CallState[];
  readonly ended: readonly EndedCall[];
}

/** Ends the work for a request of a client of this process; false if there is none of this id. */
export type EndRequest = (requestId: string) => boolean;

/** What people watch. */
export interface GatewayView {
  figures(window: Window): Promise<readonly AdapterFigures[]>;
  calls(): Promise<GatewayCalls>;
  /** Ends a request of a client of another process; false if none of them has it. */
  endElsewhere(requestId: string): Promise<boolean>;
  /** For a transport: how requests of its clients end, when another process asks. */
  addEnd(end: EndRequest): void;
}

/** What a view works with. */
export interface ViewOptions {
  readonly gateway: Pick<Gateway, 'adapterIds' | 'load' | 'live' | 'stopReading'>;
  readonly meter: Meter;
}

/** The view of one process. */
export function localView({ gateway, meter }: ViewOptions): GatewayView {
  return {
    figures: async (window) => gateway.adapterIds().map((id) => ({ id, load: gateway.load(id), series: meter.series(id, window) })),
    calls: async () => ({ live: gateway.live(), ended: meter.ended() }),
    endElsewhere: async () => false,
    addEnd: () => undefined,
  };
}
