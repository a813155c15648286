// What the calls of a run need beside their host: where whole results are kept, and what ends a call.
import { toBlockhouseError } from '../../../errors.ts';
import type { Claim } from '../../../store/port.ts';
import type { BlockContext } from '../block-context.ts';
import type { Cancelled } from '../../../tools/port.ts';

/** Keeps the whole of a result. False if it could not, which the log says. */
export async function keptResult(
  context: BlockContext,
  claim: Claim,
  { messageId, place, bytes }: { readonly messageId: string; readonly place: string; readonly bytes: Uint8Array },
): Promise<boolean> {
  try {
    await context.files.conversation.keepResult(claim, messageId, place, bytes);
    return true;
  } catch (error) {
    context.log.write('WARN', 'tool.result-not-kept', { id: messageId, call: place, error: toBlockhouseError(error).message });
    return false;
  }
}

/** For calls: what the kill switch ends is cancelled. */
export function endOf(signal: AbortSignal, mayCall: () => boolean): AbortSignal {
  const own = new AbortController();
  const end = (): void => own.abort(mayCall() ? signal.reason : ('cancel' satisfies Cancelled));
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return own.signal;
}
