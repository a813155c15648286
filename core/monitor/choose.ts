// What a monitor does before its first message, and which message comes next.
//
// H1 No message is being answered while the next one is chosen: one that says so was left behind by something that broke off.
// H2 Messages grow too old only while nobody runs: what waits for a budget, a key or a network is kept, whatever the clock says.
import { completeEntries, countQueue, type Entries, recover } from '../block/chat-file.ts';
import type { BlockWorkshop } from '../block/workshop.ts';
import { toBlockhouseError } from '../errors.ts';
import type { BlockConfig, ChatEntry } from '../schemas/block.ts';
import { startSession } from './costs.ts';
import type { Choice } from '../block/machine-setup.ts';
import { faultReason, haltReason, unconfiguredReason } from './reasons.ts';

/** Begins a session: a log of its own, and the chat in order. */
export async function beginSession(shop: BlockWorkshop): Promise<void> {
  await shop.files.costs.update((costs) => ({ value: startSession(costs), result: undefined }));
  const { retry } = await shop.files.config.read();
  const { queued } = countQueue(await putInOrder(shop, retry));
  shop.log.write('INFO', 'monitor.started', { queued });
}

/** H1. With `isUrgent` no message waits for its time any longer. */
export async function chooseNext(shop: BlockWorkshop, isUrgent: boolean): Promise<Choice> {
  const halt = shop.world.halted();
  if (halt.halted) return { kind: 'pause', until: null, reason: haltReason(halt), actor: 'user' };
  const config = await shop.files.config.read();
  if (config.adapter === null) return { kind: 'fail', reason: unconfiguredReason(shop.name) };
  const entries = await putInOrder(shop, { ...config.retry, staleAfterMs: Number.POSITIVE_INFINITY }); // H2
  const next = entries.find((entry) => isNext(entry) && isFound(entries, entry));
  if (next === undefined) return { kind: 'nothing' };
  const due = next.nextAttemptAt === undefined ? 0 : Date.parse(next.nextAttemptAt);
  // What was written by hand may be no time at all.
  if (isUrgent || !(due > shop.world.now())) return { kind: 'reply', messageId: next.id };
  const { code, message } = next.error ?? { code: 'WAITING', message: 'The message is to be tried again later.' };
  return { kind: 'wait', until: due, reason: { code, message, fix: null } };
}

function isNext({ role, status }: ChatEntry): boolean {
  return role === 'user' && status === 'queued';
}

/** A message is begun by its id: only the first entry that bears it can be. */
function isFound(entries: Entries, entry: ChatEntry): boolean {
  return entries.find(({ id }) => id === entry.id) === entry;
}

/** Entries written by hand become whole, what broke off is queued again, what is too old expires. */
async function putInOrder(shop: BlockWorkshop, { staleAfterMs, maxAttempts }: BlockConfig['retry']): Promise<Entries> {
  const { files, ids, world } = shop;
  const before = await files.chat.read();
  const order = (entries: Entries): Entries => {
    const at = shop.at();
    return recover(completeEntries(entries, ids, at), { now: world.now(), at, staleAfterMs, maxAttempts });
  };
  // Looked at before it is put into the writer's queue: mostly there is nothing to do.
  if (order(before) === before) return before;
  const { after, changed } = await files.chat.update((entries) => {
    const value = order(entries);
    return { value, result: { after: value, changed: value.filter((entry, index) => entry !== entries[index] && isOver(entry)) } };
  });
  for (const { id, status, error } of changed) tellOver(shop, id, status as 'failed' | 'expired', error?.code);
  return after;
}

function isOver({ status }: ChatEntry): boolean {
  return status === 'failed' || status === 'expired';
}

function tellOver({ world, name, log }: BlockWorkshop, id: string, status: 'failed' | 'expired', code: string | undefined): void {
  log.write('WARN', `message.${status}`, { id, code });
  world.bus.emit('message.finished', { block: name, id, status, code });
}

/** How long a disk that refuses is left alone. */
const STORAGE_WAIT_MS = 15_000;

/** A fault of the disk, or a damaged file, as an outcome of the machine. Undefined for a defect. */
export function outcomeOfFault(shop: BlockWorkshop, error: unknown): (Choice & { readonly kind: 'wait' | 'fail' }) | undefined {
  const failure = toBlockhouseError(error);
  const reason = faultReason(shop.name, failure);
  if (failure.code === 'BLOCK_DAMAGED' || failure.code === 'INVALID_REQUEST') return { kind: 'fail', reason };
  if (failure.code === 'STORAGE_FULL' || failure.code === 'STORAGE_FAILED') return { kind: 'wait', until: shop.world.now() + STORAGE_WAIT_MS, reason };
  return undefined;
}
