// block/send: who may be written to, and how often. Pure: no I/O.
//
// own-chain: a message carries the blocks that it came through. One that is in it is not written to again, so no message goes round.
// no-ring: a block does not wait for one that waits for it, directly or through others, because neither could go on.
import type { ChainLink, ChatEntry } from '../../types.ts';
import type { RunState } from '../journal.ts';
import type { ToolSettings } from '../settings.ts';

const HOUR_MS = 3_600_000;
const TOOL = 'block/send';

/** What a call is judged with. */
export interface Sending {
  readonly block: string;
  readonly to: string;
  /** The place of the call. */
  readonly place: string;
  /** Of the message that is being answered. */
  readonly chain: readonly ChainLink[];
  readonly settings: ToolSettings['send'];
  readonly state: RunState;
  readonly entries: readonly ChatEntry[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Why a message is not sent; undefined where it may be. */
export function sendProblem({ block, to, place, chain, settings, state, entries, now }: Sending): string | undefined {
  const { to: allowed, hops, perMessage, perHour } = settings;
  if (!allowed.includes(to)) return `This block may not write to ${to}. It may write to ${allowed.join(', ') || 'none'}.`;
  const through = [...chain.flatMap((link) => (link.via === 'block' && link.block !== undefined ? [link.block] : [])), block];
  if (through.includes(to)) return `The message has come through ${to}, so it is not sent there again.`; // own-chain
  if (through.length > hops) return `The message has come through ${through.length} blocks, which is the most (tools.send.hops).`;
  const mine = state.calls.filter((call) => call.asked.tool === TOOL && call.place !== place && call.outcome?.t === 'result' && !call.outcome.isError);
  if (mine.length >= perMessage) return `This message has sent ${mine.length} messages to other blocks, which is the most (tools.send.perMessage).`;
  const before = entries.filter(({ finishedAt }) => finishedAt !== undefined && finishedAt !== null && Date.parse(finishedAt) > now - HOUR_MS);
  const sent = before.flatMap(({ steps = [] }) => steps.filter(({ tool, outcome, isError }) => tool === TOOL && outcome === 'done' && !isError)).length;
  if (sent + mine.length >= perHour)
    return `This block has sent ${sent + mine.length} messages to other blocks within an hour, which is the most (tools.send.perHour).`;
  return undefined;
}

/** The chain of a message to another block. */
export function chainFrom(block: string, chain: readonly ChainLink[], links: number): ChainLink[] {
  return [...chain, { via: 'block', block, ...(links > 0 && { links }) }];
}

/** Which blocks wait for which, in this process. */
export class Waits {
  readonly #waits = new Map<string, string[]>();

  /** False for a wait that would close a ring (no-ring). */
  begin(block: string, to: string): boolean {
    const seen = new Set<string>();
    const next = [to];
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      if (at === block) return false;
      if (!seen.has(at)) next.push(...(this.#waits.get(at) ?? []));
      seen.add(at);
    }
    this.#waits.set(block, [...(this.#waits.get(block) ?? []), to]);
    return true;
  }

  end(block: string, to: string): void {
    const left = [...(this.#waits.get(block) ?? [])];
    left.splice(left.indexOf(to), 1);
    if (left.length === 0) this.#waits.delete(block);
    else this.#waits.set(block, left);
  }
}
