// What is said when a cap of a key is reached: to the caller, which cap and until when; to the owner, on the bus, also the command that raises it.
//
// not-to-callers: who calls may be anybody with a key. They learn nothing of other keys, of what is spent or of commands on the owner's machine.
// once-a-period: a program that goes on asking is refused each time, and the owner hears of it once until the period of the cap ends.
import type { CoreBus } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import type { NoRoom } from '../store/port.ts';
import type { NamedKey } from './named-key.ts';

/** Periods that are remembered (once-a-period). */
const MAX_TOLD = 2000;
const MINUTE_MS = 60_000;

/** What the reports need. */
export interface CapReportsOptions {
  readonly bus: Pick<CoreBus, 'emit'>;
  /** Epoch milliseconds. */
  now(): number;
}

/** Refuses calls for which a cap has no room, and tells the owner. */
export class CapReports {
  readonly #options: CapReportsOptions;
  readonly #told = new Set<string>();

  constructor(options: CapReportsOptions) {
    this.#options = options;
  }

  /** Throws KEY_CAP_REACHED unless there is room. */
  assertRoom(key: Pick<NamedKey, 'name'>, room: true | NoRoom): void {
    if (room !== true) throw this.refusal(key, room);
  }

  /** The error that `assertRoom` throws, where the caller decides whether to throw it. */
  refusal({ name }: Pick<NamedKey, 'name'>, room: NoRoom): BlockhouseError {
    const { bound, cap, isUnderWay, resets, retryAfterMs } = room;
    if (!isUnderWay) this.#tell(name, room);
    return new BlockhouseError('KEY_CAP_REACHED', isUnderWay ? closeText(name, bound, cap) : reachedText(name, bound, cap, resets), { retryAfterMs });
  }

  /** once-a-period. */
  #tell(key: string, { bound, cap, resets, retryAfterMs }: NoRoom): void {
    const period = Math.round((this.#options.now() + retryAfterMs) / MINUTE_MS);
    const place = `${bound.kind} ${bound.name} ${cap} ${period}`;
    if (this.#told.has(place)) return;
    if (this.#told.size >= MAX_TOLD) this.#told.clear();
    this.#told.add(place);
    const group = bound.kind === 'group' ? bound.name : null;
    this.#options.bus.emit('key.capped', { key, group, cap, resets, raise: raiseCommand(bound, cap) });
  }
}

/** The command with which the owner raises a cap such as `5 USD a day`. */
function raiseCommand({ kind, name }: NoRoom['bound'], cap: string): string {
  const [, unit = '', period = ''] = /(USD|tokens) a (day|week|month)$/.exec(cap) ?? [];
  const option = `--${unit.toLowerCase()}-per-${period} ${unit === 'USD' ? '<amount>' : '<count>'}`;
  return kind === 'key' ? `blockhouse key set ${name} ${option}` : `blockhouse key group set ${name} ${option}`;
}

function reachedText(name: string, bound: NoRoom['bound'], cap: string, resets: string): string {
  return bound.kind === 'key'
    ? `The key ${name} has reached its cap of ${cap}. It may be used again ${resets}.`
    : `The keys of the group ${bound.name}, one of which is ${name}, have reached their cap of ${cap}. They may be used again ${resets}.`;
}

function closeText(name: string, bound: NoRoom['bound'], cap: string): string {
  const whose = bound.kind === 'key' ? `the key ${name}` : `the group ${bound.name}, to which the key ${name} belongs,`;
  return `The calls of ${whose} that are under way may use up its cap of ${cap}. Try again when one of them has ended.`;
}
