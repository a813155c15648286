// Why a block is as it is, what helps, and how it came there.
import { canCure, cure } from '../../../actions/cure.ts';
import { fullTime } from '../../../base/format.ts';
import { readWhy } from '../../../data/blocks.ts';
import type { Cure, Why } from '../../../data/cures.ts';
import { useDetails } from '../../../data/details.ts';
import { useLoad } from '../../../data/load.ts';
import { Mark } from '../../../parts/mark.tsx';
import { Ago, Button, Copy, Problem } from '../../../parts/widgets.tsx';
import { actorName, historyText, stateName } from '../../../text/index.ts';

/** The tab. */
export function History({ name }: { readonly name: string }) {
  const details = useDetails(name);
  const transitions = details.state.value.data?.pulse.transitions ?? [];
  const { data: files, error: fault } = details.state.value;
  const isRead = files !== undefined || fault !== undefined;
  const { state } = useLoad(async () => (isRead ? readWhy(name) : undefined), [name, isRead, transitions.at(-1)?.at, fault]);
  const { data, error } = state.value;
  return (
    <div class="page">
      <div class="history">
        {error !== undefined && <Problem error={error} />}
        {data !== undefined && <WhyCard name={name} why={data} />}
        <section class="transitions">
          <h3>{historyText.transitions}</h3>
          {details.state.value.data !== undefined && transitions.length === 0 && <p class="t2">{historyText.noTransitions}</p>}
          <ol>
            {[...transitions].reverse().map(({ at, from, to, cause, actor }) => (
              <li key={`${at} ${from} ${to}`}>
                <span class="num t3">
                  <Ago at={at} />
                </span>
                <span class="to" title={`${stateName(from)} → ${stateName(to)}, ${fullTime(at)}`}>
                  <Mark state={to} named={false} />
                  {stateName(to)}
                </span>
                <span class="t2 break">{cause}</span>
                <span class="t3">{actorName(actor)}</span>
              </li>
            ))}
          </ol>
        </section>
      </div>
    </div>
  );
}

function WhyCard({ name, why: { state, why, next, fix, since, failed, actions = [] } }: { readonly name: string; readonly why: Why }) {
  return (
    <section class="why-card">
      <div>
        <h2 class="row">
          <Mark state={state} />
          {why}
        </h2>
        <dl>
          <dt>{historyText.next}</dt>
          <dd>{next}</dd>
          {since !== null && (
            <>
              <dt>{historyText.since}</dt>
              <dd>
                <Ago at={since} />
              </dd>
            </>
          )}
          {failed !== null && (
            <>
              <dt>{historyText.failed}</dt>
              <dd class="break">{failed}</dd>
            </>
          )}
          {fix !== null && (
            <>
              <dt>{historyText.command}</dt>
              <dd>
                <span class="cmd mono">
                  <span class="break">{fix}</span> <Copy text={fix} iconOnly />
                </span>
              </dd>
            </>
          )}
        </dl>
      </div>
      {actions.length > 0 && (
        <footer class="row wrap">
          {actions.map((action) => (
            <CureButton key={action.id} action={action} name={name} />
          ))}
        </footer>
      )}
    </section>
  );
}

function CureButton({ action, name }: { readonly action: Cure; readonly name: string }) {
  return canCure(action) ? <Button label={action.label} run={() => cure(action, name)} /> : <span class="t2">{action.label}.</span>;
}
