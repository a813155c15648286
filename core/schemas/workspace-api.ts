// The bodies and answers of `/api` for the whole workspace: costs, search, the doctor, the kill switch. Pure: no I/O.
import type * as types from '../types.ts';
import { CostBucket } from './block-costs.ts';
import { boolean, closedObject, count, listOf, number, object, oneOf, orNull, string, time } from './fields.ts';

/** Sums of the ledger by block, model, UTC day and so on, or by two of these (`2026-11-27 provider/model`); of the gateway's ledger by key in place of block. */
export const CostsReport = object({
  by: oneOf(['block', 'key', 'connection', 'credential', 'model', 'purpose', 'day', 'day-block', 'day-key', 'day-connection', 'day-model']),
  rows: listOf({ ...CostBucket, required: ['key', ...CostBucket.required], properties: { key: string, ...CostBucket.properties } }),
  total: CostBucket,
});
export type CostsReport = types.CostsReport;

/** The largest file of a provider's bill. */
export const MAX_BILL_BYTES = 8 * 1024 * 1024;
/** What one side says of a model on a day; absent for what it does not tell. */
const BillSums = object({ usd: number, input: number, output: number }, ['usd', 'input', 'output']);
const OwnSums = object({ ...BillSums.properties, calls: count, unpricedCalls: count }, ['usd', 'input', 'output']);
/** A provider's bill beside the ledgers of blocks and of clients: the days and models that agree, and each on which they don't. */
export const BillComparison = object({
  connection: { type: 'string', description: 'The provider or connection whose calls were compared' },
  matched: { ...count, description: 'The days and models that agree' },
  differs: listOf(
    object({
      date: { type: 'string', description: 'A UTC day, such as 2026-11-27' },
      model: { type: 'string', description: '* if the bill names no models' },
      ours: orNull(OwnSums),
      theirs: orNull(BillSums),
    }),
  ),
});
export type BillComparison = types.BillComparison;

/** A problem that the doctor found, with its place and its fix. */
export const Finding = object({
  severity: oneOf(['error', 'warning']),
  place: { type: 'string', description: 'Path inside the workspace' },
  problem: string,
  fix: string,
});
export type Finding = types.Finding;
/** What the doctor has examined and found. */
export const DoctorReport = object({
  ok: { type: 'boolean', description: 'False if a finding is an error' },
  checked: object({ blocks: count, files: count, messages: count }),
  findings: listOf(Finding),
});
export type DoctorReport = types.DoctorReport;

/** A server of the workspace. */
export const ServerNode = object({
  id: { type: 'string', description: 'Made for each start, and after a server was given up; never used again' },
  self: { type: 'boolean', description: 'True for the server that answers' },
  version: string,
  url: { ...orNull(string), description: 'Where it answers; null while it starts' },
  startedAt: { ...time, description: 'Since when it shares the workspace' },
  seenAt: { ...time, description: 'Its last sign of life' },
  alive: { type: 'boolean', description: 'False for a server that gives no sign of life; others take its blocks' },
  draining: { type: 'boolean', description: 'True for a server that takes no blocks, and gives away those that it has' },
  blocks: { ...count, description: 'Blocks that it has: those that have something to do, or had a moment ago' },
});
export type ServerNode = types.ServerNode;
/** The servers of the workspace, the oldest first. */
export const NodeList = object({ nodes: listOf(ServerNode) });

/** The kill switch: whether it is set, since when and why. */
export const HaltState = object({ halted: boolean, since: orNull(string), reason: orNull(string) });
export type HaltState = types.HaltState;
/** The body that sets the kill switch. */
export const SetHalt = { type: 'object', additionalProperties: false, properties: { reason: { type: 'string', maxLength: 500 } } } as const;
export type SetHalt = types.SetHalt;

/** A search in what was said to blocks. */
export const SearchQuery = closedObject(
  {
    q: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'Words, and texts between quotation marks, at most eight. A text fits that has them all, also within longer words, in any case',
    },
    limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Most texts to return, the newest first; default 20' },
    block: { type: 'string', minLength: 1, maxLength: 64, description: 'Only what was said to this block' },
  },
  ['limit', 'block'],
);
export type SearchQuery = types.SearchQuery;

/** A text that fits. */
export const SearchHit = object({
  block: { type: 'string', description: 'Name of the block; of an archived one, the name that it had' },
  archive: { ...orNull(string), description: 'Name in the archive; null for an active block' },
  by: { ...oneOf(['message', 'answer', 'summary', 'fact']), description: 'Whose words they are: the last two are of the memory of the block' },
  id: { ...orNull(string), description: 'Id of the message, the answer or the fact; null for the summary' },
  at: orNull(time),
  excerpt: { type: 'string', description: 'The text around the first word that was found, with … where it is cut' },
  marks: {
    ...listOf({ type: 'array', items: count, minItems: 2, maxItems: 2 }),
    description: 'Where the words stand in the excerpt: the index of the first character, and of the one after the last, in UTF-16',
  },
});
export type SearchHit = types.SearchHit;

/** What was found. */
export const SearchResult = object({
  hits: listOf(SearchHit),
  total: { ...count, description: 'How many texts fit in all' },
  complete: { ...boolean, description: "False if there may be more: a block can't be read, or there are too many to look at" },
  unreadable: { ...listOf(string), description: "Blocks whose texts can't be read, some of them" },
});
export type SearchResult = types.SearchResult;
