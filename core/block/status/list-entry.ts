// What a block shows when it does nothing: its entry in the list of blocks, and its pulse. Pure: no I/O.
import { dateKey } from '../../base/calendar.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { BlockEntry } from '../../schemas/block-api.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { BlockCosts } from '../../schemas/block-costs.ts';
import type { BlockPulse, BlockState, BlockStatus, QueueCounts } from '../../schemas/block-pulse.ts';
import type { BlockFacts, Standing } from '../../store/port.ts';
import { failuresIn } from '../conversation/counts.ts';
import { explain } from './explain.ts';
import { isConfigured } from './readiness.ts';

const STATUS_OF: Readonly<Record<BlockState, BlockStatus>> = {
  unconfigured: 'SLEEPING',
  stopped: 'SLEEPING',
  starting: 'BUSY',
  idle: 'ACTIVE',
  working: 'BUSY',
  compacting: 'BUSY',
  backoff: 'BUSY',
  paused: 'SLEEPING',
  'waiting-approval': 'SLEEPING',
  stopping: 'BUSY',
  failed: 'ERROR',
};

/** The coarse status of a state. */
export function statusOf(state: BlockState): BlockStatus {
  return STATUS_OF[state];
}

/** The entry of a block whose documents are valid. `now` is in epoch milliseconds; days and hours are UTC. The entry is frozen. */
export function entryOf(facts: BlockFacts, now: number): BlockEntry {
  const today = new Date(now).toISOString().slice(0, 10);
  const { config, costs, pulse, queue, failures, lastMessageAt } = facts;
  const { status, state, lastPulse, nextWakeUp, error } = pulse;
  const { provider, model } = config.adapter ?? {};
  return deepFreeze({
    name: config.name,
    status,
    state,
    attention: pulse.attention,
    config: {
      description: config.description,
      adapter: provider === undefined || model === undefined ? null : { provider, model },
      tags: [...config.tags],
      enabled: config.enabled,
    },
    costs: costsOf(costs, today),
    pulse: { status, state, lastPulse, nextWakeUp, error },
    queue: queue.queued + queue.processing,
    failures,
    lastMessageAt,
    budget: budgetOf(config, costs, now),
    activity: activityIn(costs, now),
    ...(pulse.attention && { why: explain({ name: config.name, config, pulse, failures, now }).why }),
  });
}

/** As of the day in the budget's own time zone; what was spent on another day is nothing today. */
function budgetOf({ budget }: BlockConfig, { budget: stand }: BlockCosts, now: number): BlockEntry['budget'] {
  const isToday = stand.day.key === dateKey(now, budget.timezone);
  return { dailyUsd: budget.dailyUsd, spentUsd: isToday ? stand.day.usd : 0, state: isToday ? stand.state : 'ok' };
}

const HOUR_MS = 3_600_000;
const HOURS = Array.from({ length: 24 });

/** Answers in each of the last 24 hours, the present one last. */
function activityIn({ answersByHour }: BlockCosts, now: number): number[] {
  const counts = HOURS.map(() => 0);
  const first = Math.floor(now / HOUR_MS) - HOURS.length + 1;
  for (const [hour, answers] of Object.entries(answersByHour)) {
    const index = Date.parse(`${hour}:00Z`) / HOUR_MS - first;
    if (index in counts) counts[index] = answers;
  }
  return counts;
}

/** The entry of a block with a damaged file. */
export function damagedEntry(name: string, configError: string): BlockEntry {
  const pulse = { status: 'ERROR', state: 'failed', lastPulse: null, nextWakeUp: null, error: configError } as const;
  return deepFreeze({
    name,
    status: 'ERROR',
    state: 'failed',
    attention: true,
    config: { description: '', adapter: null, tags: [], enabled: false },
    costs: { totalInput: 0, totalOutput: 0, totalCost: null, calls: 0, today: null },
    pulse,
    queue: 0,
    failures: failuresIn([]),
    lastMessageAt: null,
    configError,
    why: configError,
    budget: { dailyUsd: null, spentUsd: 0, state: 'ok' },
    activity: HOURS.map(() => 0),
  });
}

function costsOf({ totalInput, totalOutput, totalCost, calls, byDay }: BlockCosts, today: string): BlockEntry['costs'] {
  return { totalInput, totalOutput, totalCost, calls, today: byDay[today]?.costUsd ?? null };
}

/** The pulse of a block without a monitor, made from what the last monitor left in pulse.json. `config` is undefined if config.json is damaged. */
export function restingPulse(pulse: BlockPulse, config: BlockConfig | undefined, queue: QueueCounts, gateway: Pick<Gateway, 'readiness'>): BlockPulse {
  const state = config !== undefined && isConfigured(gateway, config) ? 'stopped' : 'unconfigured';
  const resting = {
    ...pulse,
    state,
    status: statusOf(state),
    attention: false,
    reason: null,
    nextWakeUp: null,
    currentTask: null,
    error: null,
    queue,
  } as const;
  return withWish(resting, config);
}

/** The facts of a block that any server may have, with the pulse that people see: what its last owner has left there, while it runs. */
export function asItStands(facts: BlockFacts, standing: Standing, gateway: Pick<Gateway, 'readiness'>): BlockFacts {
  return { ...facts, pulse: pulseAsItStands(facts, standing, gateway) };
}

/** The same of a block whose configuration may be damaged, and which this server alone may have. */
export function pulseAsItStands(
  { pulse, config, queue }: Pick<BlockFacts, 'pulse' | 'queue'> & { readonly config: BlockConfig | undefined },
  standing: Standing | undefined,
  gateway: Pick<Gateway, 'readiness'>,
): BlockPulse {
  if (standing?.isRunning !== true) return restingPulse(pulse, config, queue, gateway);
  const isLeft = AT_REST.has(pulse.state) || (standing.heldBy === null && AT_WORK.has(pulse.state));
  return withWish({ ...pulse, ...(isLeft && { state: 'idle', status: statusOf('idle'), currentTask: null }), queue }, config);
}

/** What the pulse of a block that is to run says only until its next owner has written it. */
const AT_REST: ReadonlySet<BlockState> = new Set(['stopped', 'unconfigured']);
/** What a server has left that has ended, or given the block back. */
const AT_WORK: ReadonlySet<BlockState> = new Set(['starting', 'working', 'compacting', 'stopping']);

/** Takes the wanted state from config.json, if that can be read. */
export function withWish(pulse: BlockPulse, config: BlockConfig | undefined): BlockPulse {
  return config === undefined ? pulse : { ...pulse, desired: config.enabled ? 'running' : 'stopped' };
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) deepFreeze(inner as object);
  return Object.freeze(value);
}
