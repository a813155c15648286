// Moves the window of a block's memory, and has the block's model summarise the messages that leave it. Nothing is deleted, and undo is possible.
//
// never-back: if the memory was reset or moved in the meantime, nothing is changed, so that the window never moves back.
// one-claim: the memory is written with the claim with which the compaction began, so that the summary of a server that was given up meanwhile changes nothing.
// halt-holds: while the kill switch is set, no model is called for a summary either, and one that is being written ends.
import { randomBytes } from 'node:crypto';
import { estimateTokens } from '../../base/tokens.ts';
import { BlockhouseError } from '../../errors.ts';
import { textOf } from '../../gateway/parts.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { BlockMemory, Compaction } from '../../schemas/block-memory.ts';
import type { Claim } from '../../store/port.ts';
import { CallRefused } from '../actor/call-refused.ts';
import { taintOfSeen, unitedTaint } from '../../tools/taint.ts';
import { candidatesOf } from '../status/candidates.ts';
import { haltReason } from '../status/reasons.ts';
import type { BlockContext } from './block-context.ts';
import { recordCall } from './bookkeeping.ts';
import { reserveCall } from './budget-check.ts';
import { ModelCallFailure } from './call-model.ts';
import { fittedConfig } from './fitted-config.ts';
import { type CompactionPlan, planCompaction, summaryMessages, windowStand } from './window.ts';

const KEPT_COMPACTIONS = 20;
/** Above this there is no room left for the next exchange, so the window moves even without a summary. */
const OVERFULL_PERCENT = 100;

/** Resolves with the new memory. A failure of the model is written into memory.json and then thrown. Call it once at a time for each block. */
export async function compact(context: BlockContext, trigger: 'threshold' | 'manual', signal: AbortSignal): Promise<BlockMemory> {
  const { files, claim } = context;
  assertNotHalted(context);
  const config = await files.config.read();
  const memory = await files.memory.read();
  const plan = planCompaction({ config, memory, history: await files.conversation.entries() });
  if (plan === undefined) return memory;
  context.setTask({ messageId: null, startedAt: context.at(), attempt: 1, phase: 'compacting', outputChars: 0 });
  try {
    return await carryOut(context, { config, memory, plan, trigger: triggerOf(trigger, memory), claim }, signal);
  } finally {
    context.endTask(null);
  }
}

/** halt-holds. */
function assertNotHalted({ world }: BlockContext): void {
  const halt = world.halted();
  if (halt.halted) throw new BlockhouseError('WRONG_STATE', haltReason(halt).message);
}

function triggerOf(trigger: 'threshold' | 'manual', { window }: BlockMemory): Compaction['trigger'] {
  return trigger === 'threshold' && window.percent >= OVERFULL_PERCENT ? 'overflow' : trigger;
}

interface Job {
  readonly config: BlockConfig;
  /** The memory that the plan was made from. */
  readonly memory: BlockMemory;
  readonly plan: CompactionPlan;
  readonly trigger: Compaction['trigger'];
  /** one-claim. */
  readonly claim: Claim;
}

async function carryOut(context: BlockContext, job: Job, signal: AbortSignal): Promise<BlockMemory> {
  try {
    const { summary, model, costUsd } = await summarise(context, job, signal);
    return await move(context, job, { outcome: 'summarized', model, costUsd }, summary);
  } catch (error) {
    if (!(error instanceof ModelCallFailure)) throw error;
    const { failure, bill } = error;
    if (signal.aborted) {
      assertNotHalted(context);
      throw failure;
    }
    context.log.write('WARN', 'memory.compaction-failed', { code: failure.code, error: failure.message });
    const facts = { model: candidatesOf(job.config)[0]?.model ?? null, costUsd: bill?.costUsd ?? null };
    if (job.trigger === 'overflow') return move(context, job, { ...facts, outcome: 'evicted' }, undefined);
    await note(context, job, { ...facts, outcome: 'failed' });
    throw failure;
  }
}

async function summarise(
  context: BlockContext,
  { config, memory, plan }: Job,
  signal: AbortSignal,
): Promise<{ summary: string; model: string; costUsd: number | null }> {
  const candidates = candidatesOf(config);
  const messages = summaryMessages(memory.summary, plan.exchanges);
  const tokens = messages.reduce((sum, { role, content }) => sum + estimateTokens(textOf(content, role)), 0);
  let last = asFailure('ADAPTER_NOT_CONFIGURED', 'No model is set.');
  for (const candidate of candidates) {
    try {
      const reserve = (id: string) => reserveCall(context, { id, candidate, inputTokens: tokens }, signal);
      const call = { block: context.name, candidate, messages, purpose: 'summary', messageId: null, signal, reserve } as const;
      const { message, bill, isCut } = await context.world.calls.make(call);
      const summary = textOf(message.content, message.role).trim();
      await recordCall(context, bill, 'summary', null);
      if (isCut) throw asFailure('UPSTREAM_MALFORMED', 'The model did not finish its summary.');
      if (summary === '') throw asFailure('UPSTREAM_MALFORMED', 'The model answered with an empty summary.');
      return { summary, model: candidate.model, costUsd: bill.costUsd };
    } catch (error) {
      if (error instanceof CallRefused) throw refused(error);
      if (!(error instanceof ModelCallFailure)) throw error;
      if (error.bill !== undefined) await recordCall(context, error.bill, 'summary', null);
      last = error;
      if (signal.aborted) break;
    }
  }
  throw last;
}

/** halt-holds: neither the switch nor a database that is away is a failure of the model, so memory.json doesn't record them. */
function refused({ pause }: CallRefused): BlockhouseError | ModelCallFailure {
  if (pause.kind === 'wait') return new BlockhouseError('STORE_UNREACHABLE', pause.reason.message);
  if (pause.actor === 'budget') return asFailure('WRONG_STATE', 'The budget does not allow the call for a summary.');
  return new BlockhouseError('WRONG_STATE', pause.reason.message);
}

function asFailure(code: 'WRONG_STATE' | 'ADAPTER_NOT_CONFIGURED' | 'UPSTREAM_MALFORMED', message: string): ModelCallFailure {
  return new ModelCallFailure(new BlockhouseError(code, message), undefined);
}

type Facts = Pick<Compaction, 'outcome'> & { readonly model: string | null; readonly costUsd: number | null };

/** Moves the window, with a new summary, or, if evicted, with the old one. */
async function move(context: BlockContext, job: Job, facts: Facts, summary: string | undefined): Promise<BlockMemory> {
  const config = await fittedConfig(context);
  const history = await context.files.conversation.entries();
  const moved = await context.files.memory.update(
    (memory) => {
      if (memory.window.firstKeptId !== job.memory.window.firstKeptId) throw new BlockhouseError('WRONG_STATE', MOVED); // never-back
      const taint = unitedTaint(taintOfSeen({ entries: job.plan.exchanges }), memory.taint ?? []); // spreads (core/tools/taint.ts)
      const kept = summary === undefined ? memory : { ...withoutTaint(memory), summary, summaryUpdatedAt: context.at(), ...(taint.length > 0 && { taint }) };
      const before = { ...kept, window: { ...kept.window, firstKeptId: job.plan.firstKeptId } };
      const window = windowStand({ config, memory: before, history });
      const noted = withRecord(before, record(context, job, facts, memory, window.tokens));
      const value = { ...noted, window, compactionCount: memory.compactionCount + 1 };
      return { value, result: value };
    },
    { claim: job.claim },
  );
  report(context, job, facts);
  return moved;
}

const MOVED = 'The memory was changed while it was being summarised, so the summary was discarded.';

async function note(context: BlockContext, job: Job, facts: Facts): Promise<void> {
  await context.files.memory.update(
    (memory) => ({
      value: withRecord(memory, record(context, job, facts, memory, job.plan.tokensBefore)),
      result: undefined,
    }),
    { claim: job.claim },
  );
  report(context, job, facts);
}

function withRecord(memory: BlockMemory, entry: Compaction): BlockMemory {
  return { ...memory, compactions: [...memory.compactions, entry].slice(-KEPT_COMPACTIONS) };
}

function record(context: BlockContext, { plan, trigger }: Job, facts: Facts, memory: BlockMemory, tokensAfter: number): Compaction {
  return {
    id: `c${randomBytes(8).toString('hex')}`,
    at: context.at(),
    trigger,
    ...facts,
    messages: plan.messages,
    tokensBefore: plan.tokensBefore,
    tokensAfter,
    previousSummary: memory.summary,
    ...(memory.taint !== undefined && { previousTaint: memory.taint }),
    previousFirstKeptId: memory.window.firstKeptId,
  };
}

function report({ world, name, log }: BlockContext, { plan, trigger }: Job, { outcome, model }: Facts): void {
  log.write('INFO', 'memory.compacted', { outcome, trigger, messages: plan.messages, model });
  world.bus.emit('memory.compacted', { block: name, outcome, trigger });
}

function withoutTaint({ taint: _taint, ...memory }: BlockMemory): BlockMemory {
  return memory;
}

/** Undoes the last compaction that moved the window and is not undone yet. Throws WRONG_STATE when there is none. */
export async function undoCompaction(context: BlockContext): Promise<BlockMemory> {
  const config = await fittedConfig(context);
  const history = await context.files.conversation.entries();
  return context.files.memory.update((memory) => {
    const index = memory.compactions.findLastIndex(({ outcome, undone }) => outcome !== 'failed' && undone !== true);
    const last = memory.compactions[index];
    if (last === undefined) throw new BlockhouseError('WRONG_STATE', 'There is no compaction to undo.');
    const restored = {
      ...withoutTaint(memory),
      ...(last.previousTaint !== undefined && { taint: last.previousTaint }),
      summary: last.previousSummary ?? '',
      summaryUpdatedAt: context.at(),
      window: { ...memory.window, firstKeptId: last.previousFirstKeptId ?? null },
      compactions: memory.compactions.with(index, { ...last, undone: true }),
    };
    const value = { ...restored, window: windowStand({ config, memory: restored, history }) };
    return { value, result: value };
  });
}
