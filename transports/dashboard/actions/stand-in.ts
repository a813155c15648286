// Takes away a block that answers without a model.
import type { ChatHistory } from '../../../core/types.ts';
import { navigate } from '../base/address.ts';
import { tell } from '../base/toast.ts';
import { get } from '../data/http.ts';
import { blockURL } from '../data/paths.ts';
import { pathOf, route } from '../data/route.ts';
import { removeStandIn } from '../data/stand-in.ts';
import { ask } from '../parts/dialog.tsx';
import { removeStandInText, standInText } from '../text/index.ts';

/** Takes the block away, and back to the first steps. Asks if something was said in it. */
export async function endStandIn(name: string): Promise<void> {
  const { messages } = await get<ChatHistory>(blockURL(name, '/chat?limit=1'));
  if (messages.length > 0 && !(await ask({ title: standInText.removeTitle, text: standInText.removeText, does: removeStandInText(name), danger: true })))
    return;
  const isGone = await removeStandIn(name);
  tell(isGone ? standInText.removed : standInText.hasModel);
  if (isGone && route.value.block !== undefined) navigate(pathOf('start'));
}
