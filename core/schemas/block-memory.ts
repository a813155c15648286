// memory.json: what a block remembers besides its messages. Pure: no I/O.
import type * as types from '../types.ts';
import { Taint } from './chat-entry.ts';
import { boolean, count, listOf, number, object, oneOf, orNull, string, time } from './fields.ts';

const id = { type: 'string', minLength: 1, maxLength: 256 } as const;

/** One fact in memory.json; pinned facts are in every prompt. */
export const Fact = object(
  {
    id,
    text: { type: 'string', maxLength: 262_144 },
    pinned: boolean,
    createdAt: time,
    by: { type: 'string', description: '`block` where the block has kept it itself with `block/remember`' },
    taint: listOf(Taint),
    messageId: { type: 'string', description: 'The message in whose run it was kept' },
  },
  ['createdAt', 'by', 'taint', 'messageId'],
);
export type Fact = types.Fact;

/**
 * One compaction of a block's memory. It starts when the window passes its threshold or its limit, or when a person asks for it. It writes a new
 * summary, or moves the window without one (`evicted`), or moves nothing (`failed`).
 */
export const Compaction = {
  type: 'object',
  required: ['id', 'at', 'trigger', 'outcome'],
  properties: {
    id,
    at: time,
    trigger: oneOf(['threshold', 'overflow', 'manual']),
    outcome: oneOf(['summarized', 'evicted', 'failed']),
    messages: { ...count, description: 'Number of entries that left the window' },
    tokensBefore: count,
    tokensAfter: count,
    model: orNull(string),
    costUsd: orNull(number),
    previousSummary: { type: 'string', description: 'The summary that this compaction replaced; undo restores it' },
    previousTaint: listOf(Taint),
    previousFirstKeptId: orNull(string),
    undone: boolean,
  },
} as const;
export type Compaction = types.Compaction;

/** memory.json: facts, summary and window. Tokens are estimates. */
export const MemoryFile = object(
  {
    summary: string,
    summaryUpdatedAt: orNull(time),
    taint: { ...listOf(Taint), description: 'What of somebody outside was read for what the summary sums up; the first ten' },
    facts: listOf(Fact),
    window: object({
      firstKeptId: { ...orNull(string), description: 'Id of the first entry that the model sees; null if it sees all' },
      messages: count,
      tokens: count,
      maxTokens: count,
      percent: { type: 'number', minimum: 0 },
    }),
    compactions: { ...listOf(Compaction), description: 'The last 20 compactions' },
    compactionCount: count,
  },
  ['summaryUpdatedAt', 'taint'],
);
/** The content that `MemoryFile` describes. */
export type BlockMemory = types.BlockMemory;
