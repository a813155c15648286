// Why a block stands still, what follows, and what helps: in the place where its answer would stand.
import { canCure, cure } from '../../../actions/cure.ts';
import { fullTime } from '../../../base/format.ts';
import type { Why } from '../../../data/cures.ts';
import type { OpenBlock } from '../../../data/open-block.ts';
import { Ago, Button, Copy } from '../../../parts/widgets.tsx';
import { panelText } from '../../../text/block.ts';

const STILL: ReadonlySet<string> = new Set(['failed', 'unconfigured', 'paused']);

/** True if the block needs a person, or stands still. */
export function standsStill(why: Why): boolean {
  return why.state !== 'waiting-approval' && (why.attention || STILL.has(why.state)); // the card of the call says more
}

/** Nothing while the block works by itself. */
export function WhyCard({ open }: { readonly open: OpenBlock }) {
  const why = open.why.value;
  if (why === undefined || !standsStill(why)) return null;
  const { since, next, fix } = why;
  const actions = (why.actions ?? []).filter(canCure);
  return (
    <section class="why-card" aria-labelledby="why-title" data-line>
      <div>
        <h2 id="why-title">{why.why}</h2>
        <dl>
          {since !== null && (
            <>
              <dt>{panelText.since}</dt>
              <dd title={fullTime(since)}>
                <Ago at={since} />
              </dd>
            </>
          )}
          <dt>{panelText.next}</dt>
          <dd>{next}</dd>
          {fix !== null && (
            <>
              <dt>{panelText.todo}</dt>
              <dd>{fix.startsWith('blockhouse ') ? <Command text={fix} /> : fix}</dd>
            </>
          )}
        </dl>
      </div>
      {actions.length > 0 && (
        <footer>
          {actions.map((action, index) => (
            <Button key={action.id} label={action.label} {...(index === 0 && { kind: 'primary' as const })} run={() => cure(action, open.name)} />
          ))}
        </footer>
      )}
    </section>
  );
}

function Command({ text }: { readonly text: string }) {
  return (
    <span class="cmd mono">
      <span class="break">{text}</span>
      <Copy text={text} iconOnly />
    </span>
  );
}
