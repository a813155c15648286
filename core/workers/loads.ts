// How busy a provider is over all processes that call it. Pure: no I/O.
import type { BreakerState, GatewayLoad } from '../gateway/live.ts';

/** The worst last: people look at what does not work. */
const PHASES: readonly BreakerState['phase'][] = ['closed', 'trying', 'open'];

/** The sum of the loads; undefined without any. Each process has a breaker of its own, and the worst is shown. */
export function joinedLoads(loads: readonly GatewayLoad[]): GatewayLoad | undefined {
  const [first] = loads;
  if (first === undefined) return undefined;
  const sum = (of: (load: GatewayLoad) => number): number => loads.reduce((total, load) => total + of(load), 0);
  const [breaker = first.breaker] = loads.map((load) => load.breaker).sort((one, other) => PHASES.indexOf(other.phase) - PHASES.indexOf(one.phase));
  return {
    atWork: sum(({ atWork }) => atWork),
    waiting: sum(({ waiting }) => waiting),
    limits: { concurrency: sum(({ limits }) => limits.concurrency), waiting: sum(({ limits }) => limits.waiting) },
    breaker,
    paused: loads.flatMap(({ paused }) => paused),
    missing: first.missing,
  };
}
