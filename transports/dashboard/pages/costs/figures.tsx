// The five figures above the costs: of today and of this month, whatever the range of the page.
import type { CostsReport } from '../../../../core/types.ts';
import { serverNow } from '../../base/clock.ts';
import { count, usd } from '../../base/format.ts';
import { usePoll } from '../../base/poll.ts';
import { turnOfEvents } from '../../data/events.ts';
import { changes, rows } from '../../data/fleet.ts';
import { get } from '../../data/http.ts';
import { useLoad } from '../../data/load.ts';
import { atThisPace } from '../../data/spending.ts';
import { capsText, costsText, eachText, monthPaceText, shareOfTodayText, unpricedModelsText } from '../../text/index.ts';

const READ_EVERY_MS = 60_000;

/** `path` is that of a report of the source by something, with its days. */
export function CostFigures({ isOfBlocks, path }: { readonly isOfBlocks: boolean; path(by: string, from: string): string }) {
  const today = new Date(serverNow()).toISOString().slice(0, 10);
  const month = useLoad(() => get<CostsReport>(path('day', `${today.slice(0, 8)}01`)), [isOfBlocks, today]);
  const models = useLoad(() => get<CostsReport>(path('model', today)), [isOfBlocks, today]);
  const purposes = useLoad(() => (isOfBlocks ? get<CostsReport>(path('purpose', today)) : Promise.resolve(undefined)), [isOfBlocks, today]);
  usePoll(() => Promise.all([month.reload(), models.reload(), purposes.reload()]), READ_EVERY_MS, [isOfBlocks, today], turnOfEvents);
  const { total, rows: days } = month.state.value.data ?? {};
  if (total === undefined || days === undefined) return null;
  const spent = days.find(({ key }) => key === today);
  const unpriced = models.state.value.data?.rows.filter(({ unpricedCalls }) => unpricedCalls > 0) ?? [];
  const unpricedCalls = unpriced.reduce((sum, row) => sum + row.unpricedCalls, 0);
  return (
    <dl class="stats cost-figures">
      <Figure label={costsText.today} value={usd(spent?.costUsd ?? (spent === undefined ? 0 : null))} more={isOfBlocks ? capsOf() : ''} />
      <Figure
        label={costsText.month}
        value={usd(total.calls === 0 ? 0 : total.costUsd)}
        more={total.calls > 0 && total.costUsd === null ? '' : monthPaceText(atThisPace(total.costUsd ?? 0, today))}
      />
      {isOfBlocks ? <Purposes report={purposes.state.value.data} today={spent?.costUsd ?? 0} /> : <Calls row={spent} />}
      <Figure label={costsText.unpriced} value={count(unpricedCalls)} more={unpricedModelsText(unpriced.map(({ key }) => key))} isBad={unpricedCalls > 0} />
    </dl>
  );
}

function capsOf(): string {
  changes.value;
  const caps = [...rows.value.values()].reduce((sum, row) => sum + (row.peek().budget?.dailyUsd ?? 0), 0);
  return caps > 0 ? capsText(caps) : '';
}

function Purposes({ report, today }: { readonly report: CostsReport | undefined; readonly today: number }) {
  const of = (purpose: string) => report?.rows.find(({ key }) => key === purpose);
  const [answers, summaries] = [of('chat'), of('summary')];
  return (
    <>
      <Figure label={costsText.answers} value={count(answers?.calls ?? 0)} more={eachText(answers)} />
      <Figure
        label={costsText.summaries}
        value={usd(summaries?.costUsd ?? (summaries === undefined ? 0 : null))}
        more={shareOfTodayText(summaries?.costUsd ?? 0, today)}
      />
    </>
  );
}

function Calls({ row }: { readonly row: CostsReport['rows'][number] | undefined }) {
  return (
    <>
      <Figure label={costsText.requestsToday} value={count(row?.calls ?? 0)} more={eachText(row)} />
      <Figure label={costsText.cached} value={count(row?.cacheRead ?? 0)} more={costsText.tokensToday} />
    </>
  );
}

function Figure({
  label,
  value,
  more = '',
  isBad = false,
}: {
  readonly label: string;
  readonly value: string;
  readonly more?: string;
  readonly isBad?: boolean;
}) {
  return (
    <div class="stat">
      <dt>{label}</dt>
      <dd class={isBad ? 'warn' : ''}>
        {value}
        {more !== '' && <small>{more}</small>}
      </dd>
    </div>
  );
}
