// Counts the messages of a conversation by their status. Pure: no I/O.
import type { Failures } from '../../schemas/block-api.ts';
import type { QueueCounts } from '../../schemas/block-pulse.ts';
import type { BlockContents, BlockFacts, Entries } from '../../store/port.ts';
import { isWaiting } from './chat-file.ts';

/** Counts the messages that wait, are being answered, or have failed. */
export function countQueue(entries: Entries): QueueCounts {
  let queued = 0;
  let processing = 0;
  let failed = 0;
  let oldestQueuedAt: string | null = null;
  for (const entry of entries) {
    if (entry.role !== 'user') continue;
    if (entry.status === 'processing' || entry.status === 'waiting-approval') processing += 1;
    else if (entry.status === 'failed') failed += 1;
    else if (isWaiting(entry)) {
      queued += 1;
      oldestQueuedAt ??= entry.timestamp ?? null;
    }
  }
  return { queued, processing, failed, oldestQueuedAt };
}

/** The entries of which all that is counted here is the same, without their texts. */
export function countedOf(entries: Entries): Entries {
  const last = entries.length - 1;
  return entries.flatMap((entry, index) => {
    const { role, status } = entry;
    if (index < last && !isWaiting(entry) && !(role === 'user' && status === 'failed')) return [];
    const { content: _text, chain: _chain, steps: _steps, ...counted } = entry;
    return [{ ...counted, content: '' }];
  });
}

/** How many messages wait or are being answered. */
export function waitingIn(entries: Entries): number {
  const { queued, processing } = countQueue(entries);
  return queued + processing;
}

/** The messages that failed: how many, since when, and the last of them. */
export function failuresIn(entries: Entries): Failures {
  let count = 0;
  let since: string | null = null;
  let last: Failures['last'] = null;
  for (const { id, role, status, error, timestamp, finishedAt } of entries) {
    if (role !== 'user' || status !== 'failed') continue;
    const at = finishedAt ?? timestamp ?? '';
    count += 1;
    if (since === null || at < since) since = at;
    if (last === null || at >= last.at) last = { id: id ?? '', at, code: error?.code ?? 'UNKNOWN', message: error?.message ?? 'The cause was not recorded.' };
  }
  return { count, since, last };
}

/** What an entry of the list is made of. */
export function factsOf({ config, costs, pulse, chat }: BlockContents): BlockFacts {
  return { config, costs, pulse, queue: countQueue(chat), failures: failuresIn(chat), lastMessageAt: chat.at(-1)?.timestamp ?? null };
}
