// Why a block that was asked as a model gives no answer. Pure: no I/O.
import { type AwaitedMessage, BlockhouseError } from '../../../core/index.ts';

/** The error of a message that has an outcome, and no whole answer. Applications read no words of a provider, which may name an address of the operator's. */
export function failureOf({ entry, answer }: Pick<AwaitedMessage, 'entry' | 'answer'>, block: string): BlockhouseError {
  const { id, status, error } = entry;
  const of = `The message ${id} of the block ${block}`;
  if (status === 'failed') {
    const code = error?.code ?? 'unknown';
    return failed(`${of} has failed (${code}): ${error?.message ?? 'the cause is not known.'}`, `${of} has failed (${code}).`);
  }
  if (status === 'cancelled') return failed(`${of} was cancelled.`);
  if (status === 'expired') return failed(`${of} has expired: it waited too long to be answered.`);
  return failed(answer === null ? `${of} has no answer.` : `The answer to the message ${id} was interrupted, because the block ${block} was stopped.`);
}

function failed(message: string, forKeys?: string): BlockhouseError {
  return new BlockhouseError('MESSAGE_FAILED', message, { forKeys });
}
