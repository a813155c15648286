// What a monitor does before its first message, and which message comes next.
//
// none-processing: no message is being answered while the next one is chosen. An entry that is `processing` was left behind by a run that broke off.
// expires-at-start: a message expires only at the start of a run. While the monitor runs, a message that waits for a budget, a key or a
//   network is kept, whatever the clock says.
import { toBlockhouseError } from '../../errors.ts';
import type { Recovered, RecoverRules } from '../../store/port.ts';
import { haltPause } from '../actor/call-refused.ts';
import type { Choice } from '../actor/types.ts';
import { startSession } from '../costs/costs.ts';
import { faultReason, unconfiguredReason } from '../status/reasons.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import type { BlockContext } from './block-context.ts';
import { recoverCosts } from './costs-recovery.ts';
import { hasRuns } from './has-tools.ts';

/** By block: when its monitor began, ISO 8601. */
const sessions = new WeakMap<BlockContext, string>();

/** True for a message that came before the monitor began: an earlier one, of this process or of another, may have worked on it. */
export function isOlderThanSession(context: BlockContext, { timestamp }: Pick<ChatEntry, 'timestamp'>): boolean {
  return timestamp < (sessions.get(context) ?? '');
}

/** Starts the counts of a session and puts the chat in order. */
export async function beginSession(context: BlockContext): Promise<void> {
  sessions.set(context, context.at());
  await catchUpCosts(context);
  await context.files.costs.update((costs) => ({ value: startSession(costs), result: undefined }));
  const config = await context.files.config.read();
  const { queued } = await putInOrder(context, config, config.retry);
  context.log.write('INFO', 'monitor.started', { queued });
}

/** costs.json is only for display. So an unreadable ledger doesn't prevent the start; it prevents the calls. */
async function catchUpCosts(context: BlockContext): Promise<void> {
  try {
    const calls = await recoverCosts(context);
    if (calls > 0) context.log.write('WARN', 'costs.recovered', { calls });
  } catch (error) {
    context.log.write('WARN', 'costs.not-recovered', { error: error instanceof Error ? error.message : String(error) });
  }
}

/** With `isUrgent`, a message doesn't wait for its next attempt any longer. */
export async function chooseNext(context: BlockContext, isUrgent: boolean): Promise<Choice> {
  if (context.world.member().isDraining) return { kind: 'nothing' }; // another server answers what waits
  const pause = haltPause(context.world.halted());
  if (pause !== undefined) return pause;
  const config = await context.files.config.read();
  if (config.adapter === null) return { kind: 'fail', reason: unconfiguredReason(context.name) };
  const { next } = await putInOrder(context, config, { ...config.retry, staleAfterMs: Number.POSITIVE_INFINITY }); // expires-at-start
  if (next === undefined) return { kind: 'nothing' };
  const waits = next.status === 'waiting-approval' ? await (await import('./run/parts.ts')).waitFor(context, next.id) : undefined;
  if (waits !== undefined) return waits;
  const now = context.world.now();
  const waitMs = isUrgent ? 0 : context.retryWait.left(next, now, config.retry.maxDelayMs);
  if (waitMs === 0) return { kind: 'reply', messageId: next.id };
  const { code, message } = next.error ?? { code: 'WAITING', message: 'The message will be retried later.' };
  return { kind: 'wait', until: now + Math.ceil(waitMs), reason: { code, message, fix: null } };
}

/** none-processing. */
async function putInOrder(context: BlockContext, config: BlockConfig, { staleAfterMs, maxAttempts }: RecoverRules): Promise<Recovered> {
  const runs = hasRuns(config) ? await (await import('./run/parts.ts')).runsInProcess(context) : undefined;
  const recovered = await context.files.conversation.recover(context.claim, { staleAfterMs, maxAttempts, ...(runs !== undefined && { runs }) });
  for (const { id, status, error } of recovered.over) reportOver(context, id, status as 'failed' | 'expired', error?.code);
  return recovered;
}

function reportOver({ world, name, log }: BlockContext, id: string, status: 'failed' | 'expired', code: string | undefined): void {
  log.write('WARN', `message.${status}`, { id, code });
  world.bus.emit('message.finished', { block: name, id, status, code });
}

/** Faults of the disk, the ledger and the database, which may pass without a change to the block, and how long to wait before they are tried again. With LEASE_LOST the actor is gone, and nobody waits. */
const WAITED_OUT: ReadonlyMap<string, number> = new Map([
  ['STORAGE_FULL', 15_000],
  ['STORAGE_FAILED', 15_000],
  ['WORKSPACE_DAMAGED', 15_000],
  ['STORE_UNREACHABLE', 1000],
  ['LEASE_LOST', 1000],
]);

/** What the monitor does after a fault of the disk, or because of a damaged file. Undefined for a defect. */
export function choiceAfterFault(context: BlockContext, error: unknown): (Choice & { readonly kind: 'wait' | 'fail' }) | undefined {
  const failure = toBlockhouseError(error);
  const reason = faultReason(context.name, failure);
  if (failure.code === 'BLOCK_DAMAGED' || failure.code === 'INVALID_REQUEST') return { kind: 'fail', reason };
  const waitMs = WAITED_OUT.get(failure.code);
  return waitMs === undefined ? undefined : { kind: 'wait', until: context.world.now() + waitMs, reason };
}
