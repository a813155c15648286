// What marks an echo block, which answers without a model, and what takes it away.
import type { ChatHistory } from '../../../core/types.ts';
import { navigate } from '../base/address.ts';
import { tell } from '../base/toast.ts';
import type { Entry } from '../data/fleet.ts';
import { get } from '../data/http.ts';
import { blockURL } from '../data/paths.ts';
import { blockPath, pathOf, route } from '../data/route.ts';
import { isStandIn, removeStandIn, useStandIn } from '../data/stand-in.ts';
import { ask } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { Button } from '../parts/widgets.tsx';
import { removeStandInText, standInText } from '../text/index.ts';

/** A line above every tab of an echo block. */
export function StandInStrip({ entry }: { readonly entry: Entry }) {
  useStandIn();
  if (!isStandIn(entry)) return null;
  return (
    <section class="strip stand-in" aria-label={standInText.mark}>
      <Icon name="warning" />
      <span class="grow">
        <b>{standInText.fact}</b> {standInText.rest}
      </span>
      <a class="btn small" href={blockPath(entry.name, 'config')}>
        {standInText.choose}
      </a>
      <Button label={standInText.remove} small run={() => endStandIn(entry.name)} />
    </section>
  );
}

/** Takes the block away, and back to the first steps. Asks if something was said in it. */
export async function endStandIn(name: string): Promise<void> {
  const { messages } = await get<ChatHistory>(blockURL(name, '/chat?limit=1'));
  if (messages.length > 0 && !(await ask({ title: standInText.removeTitle, text: standInText.removeText, does: removeStandInText(name), danger: true })))
    return;
  const isGone = await removeStandIn(name);
  tell(isGone ? standInText.removed : standInText.hasModel);
  if (isGone && route.value.block !== undefined) navigate(pathOf('start'));
}
