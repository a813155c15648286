// Starts a block that is asleep and stops every other one, with an undo: a key that was meant for a field does no harm.
import { tell, tellFailure } from '../base/toast.ts';
import { startBlock, stopBlock } from '../data/blocks.ts';
import { isAsleep, rows } from '../data/fleet.ts';
import { startedText, stoppedText, WORDS } from '../text/index.ts';

/** Rejects with an ApiError. */
export async function startOrStop(name: string): Promise<void> {
  const state = rows.peek().get(name)?.peek().state;
  if (state === undefined) return;
  const [act, back, text] = isAsleep(state) ? [startBlock, stopBlock, startedText(name)] : [stopBlock, startBlock, stoppedText(name)];
  await act(name);
  tell(text, { label: WORDS.undo, run: () => void back(name).catch(tellFailure) });
}
