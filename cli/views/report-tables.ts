// The tables of `costs`, `archive ls`, `nodes` and `queue`. Pure: no I/O.
import type { ArchiveInfo, ChatEntry, CostsReport, ServerNode } from '../../core/index.ts';
import { bytes, count, money, relative, spending, UNKNOWN } from '../terminal/format.ts';
import { type Cell, type Column, table } from '../terminal/layout.ts';
import type { View } from './block-text.ts';

const COSTS: readonly Column[] = [
  { title: '', min: 16 },
  { title: 'CALLS', align: 'right' },
  { title: 'INPUT', align: 'right', drop: 2 },
  { title: 'OUTPUT', align: 'right', drop: 1 },
  { title: 'CACHED', align: 'right', drop: 3 },
  { title: 'COST', align: 'right' },
];

/** The table of `costs`; the last row is the sum. */
export function costsTable({ by, rows, total }: CostsReport, view: Omit<View, 'now'>): string[] {
  const cells = [...rows, { key: 'total', ...total }].map(({ key, calls, input, output, cacheRead, costUsd, unpricedCalls }) => [
    key,
    count(calls),
    count(input),
    count(output),
    count(cacheRead),
    spending(costUsd, unpricedCalls),
  ]);
  return table([{ ...(COSTS[0] as Column), title: by.toUpperCase() }, ...COSTS.slice(1)], cells, view);
}

const ARCHIVES: readonly Column[] = [
  { title: 'ARCHIVE' },
  { title: 'BLOCK', drop: 2 },
  { title: 'ARCHIVED' },
  { title: 'SIZE', align: 'right', drop: 1 },
  { title: 'WAITING', align: 'right', drop: 4 },
  { title: 'COST', align: 'right', drop: 3 },
];

/** The table of `archive ls`. */
export function archiveTable(archives: readonly ArchiveInfo[], { now, ...view }: View): string[] {
  const rows = archives.map(({ archiveName, originalName, archivedAt, sizeBytes, queuedMessages, totals }) => [
    archiveName,
    originalName,
    relative(archivedAt, now),
    bytes(sizeBytes),
    queuedMessages === undefined ? UNKNOWN : count(queuedMessages),
    money(totals?.totalCost),
  ]);
  return table(ARCHIVES, rows, view);
}

const NODES: readonly Column[] = [
  { title: 'SERVER' },
  { title: 'VERSION', drop: 2 },
  { title: 'SINCE', drop: 1 },
  { title: 'LAST SIGN' },
  { title: 'BLOCKS', align: 'right' },
  { title: 'ADDRESS', drop: 3 },
];

/** The table of `nodes`; `*` marks the server that answers, and `drained` one that gives its blocks away. */
export function nodesTable(nodes: readonly ServerNode[], { now, ...view }: View): string[] {
  const rows = nodes.map(({ id, self, version, startedAt, seenAt, alive, draining, blocks, url }): Cell[] => [
    `${id}${self ? ' *' : ''}${draining ? ' drained' : ''}`,
    version,
    relative(startedAt, now),
    { text: `${relative(seenAt, now)}${alive ? '' : ' !'}`, paint: alive ? (text) => text : view.style.bad },
    count(blocks),
    url ?? UNKNOWN,
  ]);
  return table(NODES, rows, view);
}

const MESSAGES: readonly Column[] = [
  { title: 'ID' },
  { title: 'STATUS' },
  { title: 'TRIES', align: 'right', drop: 2 },
  { title: 'SENT', drop: 1 },
  { title: 'MESSAGE', min: 12 },
];

/** The table of `queue`. */
export function queueTable(entries: readonly ChatEntry[], { now, ...view }: View): string[] {
  const rows = entries.map(({ id, status, attempts, timestamp, content, error, nextAttemptAt }): Cell[] => [
    id,
    { text: status, paint: status === 'failed' ? view.style.bad : (text) => text },
    count(attempts ?? 0),
    relative(timestamp, now),
    [
      error == null ? '' : `[${error.message}]`,
      nextAttemptAt === undefined ? '' : Date.parse(nextAttemptAt) > now ? `[retry ${relative(nextAttemptAt, now)}]` : '[retry when the monitor is running]',
      content,
    ]
      .filter(Boolean)
      .join(' '),
  ]);
  return table(MESSAGES, rows, view);
}
