// The outcome of a message: makes the entry of its answer, and reports it to readers, the log and the bus.
import { textOf } from '../../gateway/parts.ts';
import type { ChatEntry, EntryError } from '../../schemas/chat-entry.ts';
import type { ContentPart, EntryStep, Taint } from '../../types.ts';
import type { Candidate } from '../status/candidates.ts';
import type { Fault } from './attempt.ts';
import type { Bill } from './billing.ts';
import type { BlockContext } from './block-context.ts';

/** The parts of an answer's entry. */
export interface AnswerParts {
  readonly message: ChatEntry;
  readonly candidate: Candidate;
  /** The entry keeps the text in it. */
  readonly content: readonly ContentPart[];
  readonly status: 'done' | 'interrupted';
  readonly bill: Bill | null;
  readonly stopReason?: ChatEntry['stopReason'];
  /** What a run with tools has done. */
  readonly run?: { readonly run: number; readonly steps: readonly EntryStep[] } | undefined;
  /** What of somebody outside was read for it. */
  readonly taint?: readonly Taint[] | undefined;
}

/** The entry of chat.json for an answer, complete or interrupted. */
export function answerEntry(context: Pick<BlockContext, 'files' | 'at'>, parts: AnswerParts): ChatEntry {
  const { message, candidate, content, status, bill, stopReason, run, taint = [] } = parts;
  const { provider, model } = candidate;
  return {
    id: context.files.conversation.newId(),
    role: 'assistant',
    content: textOf(content, 'assistant'),
    timestamp: context.at(),
    processed: true,
    status,
    channel: message.channel,
    replyTo: message.id,
    attempts: message.attempts ?? 1,
    error: null,
    provider,
    model,
    usage: bill?.usage ?? null,
    costUsd: bill?.costUsd ?? null,
    latencyMs: bill?.latencyMs ?? null,
    ttftMs: bill?.ttftMs ?? null,
    ...(stopReason !== undefined && { stopReason }),
    ...(run !== undefined && { run: run.run, ...(run.steps.length > 0 && { steps: run.steps }) }),
    ...(taint.length > 0 && { taint }),
    startedAt: message.startedAt ?? null,
    finishedAt: context.at(),
  };
}

/** A failure as chat.json keeps it. */
export function entryError({ code, message, retryable }: Fault): EntryError {
  return { code, message, retryable };
}

/** Reports that a message has its answer. */
export function reportAnswer({ feed, log, world, name }: BlockContext, answer: ChatEntry, bill: Bill | null, isCancelled: boolean): void {
  const { usage, costUsd, latencyMs, model, replyTo = '' } = answer;
  const shown = answer.status === 'done' ? 'done' : 'interrupted';
  const status = isCancelled ? 'cancelled' : shown;
  feed.emit({ id: replyTo, event: 'done', answerId: answer.id, status: shown, stopReason: answer.stopReason ?? 'unknown' });
  log.write('INFO', `reply.${status}`, { id: replyTo, model, in: usage?.inputTokens, out: usage?.outputTokens, cost: costUsd, ms: latencyMs });
  world.bus.emit('message.finished', {
    block: name,
    id: replyTo,
    status,
    answerId: answer.id,
    costUsd: bill?.costUsd,
    latencyMs: bill?.latencyMs,
    ...(bill?.usage && { usage: bill.usage }),
  });
}

/** Reports that a message has ended without an answer. */
export function reportUnanswered(context: BlockContext, id: string, status: 'failed' | 'cancelled', fault: Pick<Fault, 'code' | 'message'>): void {
  const { log, world, name } = context;
  reportAttemptOver(context, id, fault, false);
  log.write(status === 'failed' ? 'ERROR' : 'INFO', `message.${status}`, { id, code: fault.code, error: fault.message });
  world.bus.emit('message.finished', { block: name, id, status, code: fault.code });
}

/** Tells readers to discard the text of an attempt. With `willRetry` another one follows, now or later. */
export function reportAttemptOver({ feed }: BlockContext, id: string, { code, message }: Pick<Fault, 'code' | 'message'>, willRetry: boolean): void {
  feed.emit({ id, event: 'error', code, error: message, willRetry });
}
