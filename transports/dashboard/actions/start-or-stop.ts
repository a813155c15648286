// Starts a block that is asleep and stops every other one, with an undo: a key that was meant for a field does no harm.
import type { BlockState } from '../../../core/types.ts';
import { tell, tellFailure } from '../base/toast.ts';
import { startBlock, stopBlock } from '../data/blocks.ts';
import { isAsleep, rows } from '../data/fleet.ts';
import { startedText, stoppedText, WORDS } from '../text/index.ts';

/** `state` is what the person sees; without it, that of the list. Rejects with an ApiError. */
export async function startOrStop(name: string, state: BlockState | undefined = rows.peek().get(name)?.peek().state): Promise<void> {
  if (state === undefined) return;
  const [act, back, text] = isAsleep(state) ? [startBlock, stopBlock, startedText(name)] : [stopBlock, startBlock, stoppedText(name)];
  await act(name);
  tell(text, { label: WORDS.undo, run: () => void back(name).catch(tellFailure) });
}
