// What the list reads of a block, as facts. Pure: no I/O.
import { parseConfig } from '../../block/documents/document-codecs.ts';
import type { BlockState } from '../../schemas/block-pulse.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import { DOCUMENTS } from '../parts/documents.ts';
import type { BlockFacts, Standing } from '../port.ts';

/** What a statement returns of a block. */
export interface FactRow {
  readonly block: number;
  readonly name: string;
  readonly wanted: boolean;
  readonly state: BlockState;
  readonly owner: string | null;
  readonly queued: number;
  readonly processing: number;
  readonly failed: number;
  /** What it is sorted by, as text. */
  readonly key: string | null;
  readonly documents: Readonly<Record<'config' | 'costs' | 'pulse', unknown>> | null;
  readonly last_at: Date | null;
  readonly oldest_at: Date | null;
  readonly failed_since: Date | null;
  readonly failure: { readonly id: string; readonly at: string; readonly error: ChatEntry['error'] } | null;
}

/** How it stands for all servers. */
export function standingOf({ wanted, state, owner, documents }: FactRow): Standing {
  const { state: shown } = (documents?.pulse ?? {}) as { readonly state?: BlockState };
  return { isRunning: wanted, state: owner === null ? state : (shown ?? state), heldBy: owner };
}

/** Throws an Error that names the document which can't be used. */
export function factsOfRow(row: FactRow, now: number): BlockFacts {
  const { name, documents, queued, processing, failed, oldest_at, failed_since, failure, last_at } = row;
  const at = new Date(now).toISOString();
  const iso = (time: Date | string | null): string | null => (time === null ? null : new Date(time).toISOString());
  const last = failure === null ? null : { id: failure.id, at: iso(failure.at) ?? at, ...causeOf(failure.error) };
  return {
    config: used('config', () => parseConfig(documents?.config, name, at)),
    costs: used('costs', () => DOCUMENTS.costs.parse(documents?.costs)),
    pulse: used('pulse', () => DOCUMENTS.pulse.parse(documents?.pulse)),
    queue: { queued, processing, failed, oldestQueuedAt: iso(oldest_at) },
    failures: { count: failed, since: iso(failed_since), last },
    lastMessageAt: iso(last_at),
  };
}

function causeOf(error: ChatEntry['error']): { readonly code: string; readonly message: string } {
  return { code: error?.code ?? 'UNKNOWN', message: error?.message ?? 'The cause was not recorded.' };
}

function used<T>(kind: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${kind}.json can't be used: ${(error as Error).message}`, { cause: error });
  }
}
