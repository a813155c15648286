// What a block has spent: against its caps, by day, by model and by purpose.
import type { CostBucket } from '../../../../../core/types.ts';
import { serverNow } from '../../../base/clock.ts';
import { unpricedOf } from '../../../data/caps.ts';
import { useDetails } from '../../../data/details.ts';
import type { Details } from '../../../data/open-block.ts';
import { blockPath } from '../../../data/route.ts';
import { Days, dayOf } from '../../../parts/days.tsx';
import { Month } from '../../../parts/month.tsx';
import { SumsTable } from '../../../parts/sums.tsx';
import { Bar, Empty, Problem, Sum, type Tone, toneOf } from '../../../parts/widgets.tsx';
import { callsText, costsText, LABELS, ofCapText, purposeName, tokenCapText, unpricedText } from '../../../text/index.ts';

/** The tab. */
export function Costs({ name }: { readonly name: string }) {
  const { state } = useDetails(name);
  const { data, error } = state.value;
  return (
    <div class="page">
      {error !== undefined && <Problem error={error} />}
      {data !== undefined && <Spending name={name} details={data} />}
    </div>
  );
}

function Spending({ name, details: { config, costs } }: { readonly name: string; readonly details: Details }) {
  const { dailyUsd, monthlyUsd, dailyTokens } = config.budget ?? {};
  const { day, month, state } = costs.budget ?? {};
  const days = Object.entries(costs.byDay ?? {}).map(([day, sums]) => dayOf(day, sums));
  return (
    <div class="block-costs">
      <dl class="stats">
        <Figure label={costsText.today} spent={day?.usd ?? 0} unpriced={unpricedOf(costs, day?.key)} cap={dailyUsd} tone={toneOf(state)} />
        <Figure label={costsText.month} spent={month?.usd ?? 0} unpriced={unpricedOf(costs, month?.key)} cap={monthlyUsd} tone="" />
        <div class="stat">
          <dt>{costsText.all}</dt>
          <dd>
            <Sum usd={costs.totalCost} uncounted={costs.unpricedCalls ?? 0} />
            <small>{callsText(costs.calls)}</small>
          </dd>
        </div>
      </dl>
      <div class="inner">
        {(costs.unpricedCalls ?? 0) > 0 && <p class="warn">{unpricedText(costs.unpricedCalls ?? 0)}</p>}
        {dailyTokens !== null && dailyTokens !== undefined && <p class="t2">{tokenCapText(dailyTokens, day?.tokens ?? 0)}</p>}
        <p>
          <a class="link" href={blockPath(name, 'config', { field: 'budget' })}>
            {LABELS.changeCaps}
          </a>
        </p>
        <h2>{costsText.days}</h2>
        {days.length === 0 ? <Empty text={costsText.none} /> : <Days days={days} cap={dailyUsd} />}
        {monthlyUsd !== null && monthlyUsd !== undefined && (
          <>
            <h2>{costsText.monthSum}</h2>
            <Month days={days} cap={monthlyUsd} today={new Date(serverNow()).toISOString().slice(0, 10)} />
          </>
        )}
        <Buckets title={costsText.byModel} of={costsText.by.model} buckets={costs.byModel} nameOf={(key) => key} />
        <Buckets title={costsText.byPurpose} of={costsText.by.purpose} buckets={costs.byPurpose} nameOf={purposeName} />
      </div>
    </div>
  );
}

interface FigureProps {
  readonly label: string;
  readonly spent: number;
  /** Calls that `spent` does not have. */
  readonly unpriced: number;
  readonly cap: number | null | undefined;
  readonly tone: Tone;
}

function Figure({ label, spent, unpriced, cap, tone }: FigureProps) {
  const hasCap = cap !== null && cap !== undefined;
  return (
    <div class="stat">
      <dt>{label}</dt>
      <dd>
        <Sum usd={spent} uncounted={unpriced} />
        <small>{hasCap ? ofCapText(cap) : costsText.noCap}</small>
      </dd>
      {hasCap && <Bar part={spent} whole={cap} tone={tone} />}
    </div>
  );
}

interface BucketsProps {
  readonly title: string;
  /** What each row is one of. */
  readonly of: string;
  readonly buckets: Readonly<Record<string, CostBucket>> | undefined;
  nameOf(key: string): string;
}

function Buckets({ title, of, buckets, nameOf }: BucketsProps) {
  const rows = Object.entries(buckets ?? {}).map(([key, sums]) => [key, nameOf(key), sums] as const);
  if (rows.length === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <SumsTable of={of} rows={rows} />
    </>
  );
}
