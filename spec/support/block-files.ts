// Files of a block for table tests: everything by default but what a case is about.

import { completeConfig, freshMemory, freshPulse } from '../../core/block/documents/document-codecs.ts';
import type { BlockConfig } from '../../core/schemas/block-config.ts';
import type { BlockMemory } from '../../core/schemas/block-memory.ts';
import type { BlockPulse } from '../../core/schemas/block-pulse.ts';
import type { ChatEntry } from '../../core/schemas/chat-entry.ts';

export const AT = '2026-11-20T14:03:22.123Z';

export function configOf(fields: Readonly<Record<string, unknown>> = {}, name = 'a'): BlockConfig {
  return completeConfig(fields, name, AT);
}

export function memoryOf(fields: Partial<BlockMemory> & { readonly firstKeptId?: string } = {}): BlockMemory {
  const { firstKeptId, ...rest } = fields;
  const fresh = freshMemory();
  return { ...fresh, window: { ...fresh.window, firstKeptId: firstKeptId ?? null }, ...rest };
}

export function pulseOf(fields: Partial<BlockPulse> = {}): BlockPulse {
  return { ...freshPulse(), ...fields };
}

/** A message that has its answer unless the fields say otherwise. */
export function userEntry(id: string, fields: Partial<ChatEntry> = {}): ChatEntry {
  return { id, role: 'user', content: `question ${id}`, timestamp: AT, processed: true, status: 'done', channel: 'web', ...fields };
}

export function answerEntry(id: string, replyTo?: string, fields: Partial<ChatEntry> = {}): ChatEntry {
  const to = replyTo === undefined ? {} : { replyTo };
  return { id, role: 'assistant', content: `answer ${id}`, timestamp: AT, processed: true, status: 'done', channel: 'web', ...to, ...fields };
}

/** A message and its answer: `1` makes `1` and `1a`. */
export function pair(id: string, fields: Partial<ChatEntry> = {}): ChatEntry[] {
  return [userEntry(id, fields), answerEntry(`${id}a`, id, fields)];
}
