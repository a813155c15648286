// What marks a block that answers without a model, and takes it away.

import { endStandIn } from '../../actions/stand-in.ts';
import type { Entry } from '../../data/fleet.ts';
import { blockPath } from '../../data/route.ts';
import { isStandIn, useStandIn } from '../../data/stand-in.ts';
import { Icon } from '../../parts/icon.tsx';
import { Button } from '../../parts/widgets.tsx';
import { standInText } from '../../text/index.ts';

/** A line above every tab of a stand-in. */
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
