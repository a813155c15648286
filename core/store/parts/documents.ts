// The documents of a block: how each is read, made and written. Pure: no I/O.
import { isObject } from '../../base/json.ts';
import { formatChat, parseChat } from '../../block/conversation/chat-file.ts';
import { noCosts } from '../../block/costs/costs.ts';
import {
  formatFile,
  freshMemory,
  freshPulse,
  parseConfig,
  parseCosts,
  parseMemory,
  parsePulse,
  parseSchedules,
} from '../../block/documents/document-codecs.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { BlockCosts } from '../../schemas/block-costs.ts';
import type { BlockMemory } from '../../schemas/block-memory.ts';
import type { BlockPulse } from '../../schemas/block-pulse.ts';
import type { Entries, ScheduleStates } from '../port.ts';

/** How the content of a document is read, made and written. */
export interface DocumentCodec<T> {
  /** Throws an Error that says what is wrong. */
  parse(value: unknown): T;
  /** The content in a new block. */
  missing(): T;
  /** The text of its file. */
  format(value: T): string;
}

/** The configuration is not among them, because it needs the name of its block and is never missing. */
export const DOCUMENTS = {
  memory: { parse: parseMemory, missing: () => freshMemory(), format: formatFile } satisfies DocumentCodec<BlockMemory>,
  costs: { parse: (value: unknown) => parseCosts(value, noCosts()), missing: noCosts, format: formatFile } satisfies DocumentCodec<BlockCosts>,
  pulse: { parse: parsePulse, missing: freshPulse, format: formatFile } satisfies DocumentCodec<BlockPulse>,
  chat: { parse: parseChat, missing: () => [], format: formatChat } satisfies DocumentCodec<Entries>,
};

/** What is remembered of the schedules of a block. A block without schedules has no such document. */
export const SCHEDULES: DocumentCodec<ScheduleStates> = { parse: parseSchedules, missing: () => ({}), format: formatFile };

/** The configuration of a block that is not active, for a stopped block with this name, or with its own. Throws an Error that says what is wrong. */
export function stoppedConfig(value: unknown, name: string | undefined, now: number): BlockConfig {
  const at = new Date(now).toISOString();
  const called = name ?? (isObject(value) ? value['name'] : undefined);
  if (!isObject(value) || typeof called !== 'string') throw new Error('it has no name');
  const config = parseConfig({ ...value, name: called }, called, at);
  return { ...config, enabled: false, updatedAt: at, rev: config.rev + 1 };
}
