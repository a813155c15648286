// The gateway as people watch it, in a process that serves alone.
import type { Gateway } from './gateway.ts';
import type { GatewayView } from './live.ts';
import type { Meter } from './meter.ts';

/** What a view works with. */
export interface ViewOptions {
  readonly gateway: Pick<Gateway, 'upstreams' | 'load' | 'live' | 'stopReading'>;
  readonly meter: Meter;
}

/** The view of one process. */
export function localView({ gateway, meter }: ViewOptions): GatewayView {
  return {
    figures: async (window) => gateway.upstreams().map(({ id }) => ({ id, load: gateway.load(id), series: meter.series(id, window) })),
    calls: async () => ({ live: gateway.live(), ended: meter.ended() }),
    endElsewhere: async () => false,
    addEnd: () => undefined,
  };
}
