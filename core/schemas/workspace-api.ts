// The bodies and answers of `/api` for the whole workspace: costs, search, the doctor, the kill switch. Pure: no I/O.
import type * as types from '../types.ts';
import { CostBucket } from './block-costs.ts';
import { Approval } from './chat-entry.ts';
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

/** What people can be notified of. */
export const NOTICE_EVENTS = ['approval.asked', 'message.failed', 'cap.reached', 'message.done'] as const;
const yes = { type: 'boolean', const: true } as const;
const noticeEvents = { type: 'array', items: oneOf(NOTICE_EVENTS), minItems: 1, maxItems: NOTICE_EVENTS.length } as const;
const noticeBlocks = { type: 'array', items: { type: 'string', minLength: 1, maxLength: 64 }, minItems: 1, maxItems: 100 } as const;

/** The body that makes a target of notifications, or replaces one. Its secret stays. */
export const SetNotifyTarget = closedObject(
  {
    url: { type: 'string', minLength: 1, maxLength: 2048, description: 'Where notices are sent by POST; http: only for loopback and private addresses' },
    events: { ...noticeEvents, description: `Default ${NOTICE_EVENTS.slice(0, 3).join(', ')}` },
    blocks: { ...noticeBlocks, description: 'Names, or beginnings such as team-*; without it, all blocks' },
    links: { ...boolean, description: 'Whether notices of approvals have a link that decides; default false. Needs publicURL' },
    publicURL: { type: 'string', minLength: 1, maxLength: 2048, description: 'Where people reach this server: the beginning of links in notices' },
    newSecret: { type: 'boolean', description: 'True makes another secret' },
  },
  ['events', 'blocks', 'links', 'publicURL', 'newSecret'],
);
export type SetNotifyTarget = types.SetNotifyTarget;

/** A target of notifications as it stands, without its secret. */
export const NotifyTarget = object({
  name: string,
  url: { type: 'string', description: 'Its origin; a path is shown as …, because it may be a secret' },
  events: listOf(oneOf(NOTICE_EVENTS)),
  blocks: orNull(listOf(string)),
  links: boolean,
  publicURL: orNull(string),
  state: { ...oneOf(['on', 'off']), description: 'off: it has answered 410, and gets nothing until it is set again' },
  pending: { ...count, description: 'Notices that were not delivered yet' },
  dropped: { ...count, description: 'Notices that were given up, because there were too many or after a day of tries' },
  last: { ...orNull(object({ at: time, status: { ...orNull(count), description: 'HTTP status; null without an answer' } })), description: 'The last try' },
});
export type NotifyTarget = types.NotifyTarget;
/** The targets by name. */
export const NotifyList = object({ targets: listOf(NotifyTarget) });
export type NotifyList = types.NotifyList;
/** A target was made or replaced. */
export const NotifySet = object(
  { success: yes, target: NotifyTarget, secret: { type: 'string', description: 'The secret, if one was made; it is shown this once' } },
  ['secret'],
);
export type NotifySet = types.NotifySet;
/** What became of a notice that was sent to try a target. */
export const NotifyTest = object({
  delivered: boolean,
  status: { ...orNull(count), description: 'HTTP status; null without an answer' },
  problem: { ...orNull(string), description: 'Why there was no answer' },
  ms: number,
});
export type NotifyTest = types.NotifyTest;

/** The form of a decision link. */
export const LinkDecision = closedObject({ decision: oneOf(['approve', 'deny']) });
export type LinkDecision = types.LinkDecision;
/** What a decision link shows. */
export const LinkedApproval = object({ approval: Approval });
export type LinkedApproval = types.LinkedApproval;
/** What was decided with it. */
export const LinkDecided = object({ success: yes, block: string, tool: string, decision: oneOf(['approve', 'deny']) });
export type LinkDecided = types.LinkDecided;
