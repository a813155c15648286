// What is spent: by blocks and by the clients of the gateway, against the caps.
import type { CostsReport } from '../../../../core/types.ts';
import { setQuery } from '../../base/address.ts';
import { usd } from '../../base/format.ts';
import { usePoll } from '../../base/poll.ts';
import { changes, rows } from '../../data/fleet.ts';
import { get } from '../../data/http.ts';
import { useLoad } from '../../data/load.ts';
import { blockPath, route } from '../../data/route.ts';
import { hasBlocks } from '../../data/server.ts';
import { Days, dayOf } from '../../parts/days.tsx';
import { Segments } from '../../parts/fields.tsx';
import { SumsTable } from '../../parts/sums.tsx';
import { Bar, Empty, Problem, toneOf } from '../../parts/widgets.tsx';
import { costsText, ofCapText, pricesText, unpricedText } from '../../text/index.ts';
import { Bill } from './bill.tsx';
import { Prices } from './prices.tsx';

const READ_EVERY_MS = 10_000;
const SOURCES = ['blocks', 'gateway'] as const;
const GROUPS = { blocks: ['block', 'connection', 'model', 'day'], gateway: ['key', 'connection', 'credential', 'model', 'day'] } as const;

/** The page. */
export default function Costs() {
  const { query } = route.value;
  const source = hasBlocks ? (SOURCES.find((each) => each === query.get('of')) ?? 'blocks') : 'gateway';
  const groups: readonly (keyof typeof costsText.by)[] = GROUPS[source];
  const by = groups.find((each) => each === query.get('by')) ?? groups[0] ?? 'block';
  const path = (group: string): string => `/api/costs?by=${group}${source === 'gateway' ? '&source=gateway' : ''}`;
  const report = useLoad(() => get<CostsReport>(path(by)), [source, by]);
  const days = useLoad(() => get<CostsReport>(path('day')), [source]);
  usePoll(() => Promise.all([report.reload(), days.reload()]), READ_EVERY_MS, [source, by]);
  const { data, error } = report.state.value;
  const spent = days.state.value.data;
  return (
    <>
      <header class="top">
        <h1>{costsText.title}</h1>
        {hasBlocks && (
          <Segments
            label={costsText.of}
            options={SOURCES.map((each) => [each, costsText[each]])}
            value={source}
            choose={(id) => setQuery({ of: id === 'blocks' ? undefined : id, by: undefined })}
          />
        )}
        <span class="grow" />
        <Segments
          label={costsText.group}
          shape="groups"
          options={groups.map((each) => [each, costsText.by[each]])}
          value={by}
          choose={(id) => setQuery({ by: id })}
        />
      </header>
      <div class="page">
        <div class="costs-page">
          {error !== undefined && <Problem error={error} />}
          {source === 'blocks' && <Caps />}
          <h2>{costsText.days}</h2>
          {spent?.rows.length === 0 && <Empty text={costsText.none} />}
          {spent !== undefined && spent.rows.length > 0 && <Days days={spent.rows.map(({ key, ...sums }) => dayOf(key, sums))} />}
          {data !== undefined && data.by === by && <Report report={data} by={by} />}
          <Prices byModel={path('model')} />
          <Bill />
        </div>
      </div>
    </>
  );
}

/** The blocks with a cap, the fullest first. */
function Caps() {
  changes.value;
  const list = [...rows.value.values()]
    .map((row) => row.peek())
    .flatMap(({ name, budget }) => (budget.dailyUsd === null ? [] : [{ name, spent: budget.spentUsd, cap: budget.dailyUsd, state: budget.state }]))
    .sort((one, other) => other.spent / other.cap - one.spent / one.cap)
    .slice(0, 12);
  if (list.length === 0) return null;
  return (
    <>
      <h2>{costsText.caps}</h2>
      <ul class="caps">
        {list.map(({ name, spent, cap, state }) => (
          <li key={name}>
            <a class="clip" href={blockPath(name, 'costs')}>
              {name}
            </a>
            <Bar part={spent} whole={cap} tone={toneOf(state)} />
            <span class="num">
              {usd(spent)} <span class="t3">{ofCapText(cap)}</span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Report({ report: { rows: list, total }, by }: { readonly report: CostsReport; readonly by: keyof typeof costsText.by }) {
  const unpriced = list.reduce((sum, { unpricedCalls }) => sum + unpricedCalls, 0);
  if (list.length === 0) return null;
  const nameOf = (key: string) => (by === 'block' && rows.value.has(key) ? <a href={blockPath(key, 'costs')}>{key}</a> : key || costsText.workspaceToken);
  return (
    <>
      {unpriced > 0 && (
        <p class="row wrap">
          <span class="warn">{unpricedText(unpriced)}</span>
          <a class="btn small" href="#prices">
            {pricesText.toPrices}
          </a>
        </p>
      )}
      <SumsTable of={costsText.by[by]} rows={list.map(({ key, ...sums }) => [key, nameOf(key), sums])} total={total} />
    </>
  );
}
