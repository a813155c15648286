// What is spent: by blocks and by the clients of the gateway, against the caps.
import type { CostsReport } from '../../../../core/types.ts';
import { queryText, setQuery } from '../../base/address.ts';
import { serverNow } from '../../base/clock.ts';
import { usd } from '../../base/format.ts';
import { usePoll } from '../../base/poll.ts';
import { saveAs } from '../../base/save-as.ts';
import { turnOfEvents } from '../../data/events.ts';
import { changes, rows } from '../../data/fleet.ts';
import { get } from '../../data/http.ts';
import { useLoad } from '../../data/load.ts';
import { blockPath, route } from '../../data/route.ts';
import { hasBlocks } from '../../data/server.ts';
import { csvOf, type Days, dayIn, daysOf, RANGES, stackOf } from '../../data/spending.ts';
import { Segments } from '../../parts/fields.tsx';
import { SumsTable } from '../../parts/sums.tsx';
import { Bar, Button, Problem, toneOf } from '../../parts/widgets.tsx';
import { costsText, ofCapText, pricesText, unpricedText } from '../../text/index.ts';
import { Bill } from './bill.tsx';
import { CostFigures } from './figures.tsx';
import { Prices } from './prices.tsx';
import { StackedDays } from './stack.tsx';

const READ_EVERY_MS = 10_000;
/** What the bars of the days can be made of. */
const STACKED = ['block', 'key', 'connection', 'model'] as const;
const SOURCES = ['blocks', 'gateway'] as const;
const GROUPS = { blocks: ['block', 'connection', 'model', 'day'], gateway: ['key', 'connection', 'credential', 'model', 'day'] } as const;

/** The page. */
export default function Costs() {
  const { query } = route.value;
  const source = hasBlocks ? (SOURCES.find((each) => each === query.get('of')) ?? 'blocks') : 'gateway';
  const groups: readonly (keyof typeof costsText.by)[] = GROUPS[source];
  const by = groups.find((each) => each === query.get('by')) ?? groups[0] ?? 'block';
  const days = daysIn(query);
  const { from, to } = days;
  const path = (group: string, of: Days = {}): string => `/api/costs${queryText({ by: group, source: source === 'gateway' ? source : undefined, ...of })}`;
  const layers = STACKED.find((each) => each === by) ?? 'connection';
  const report = useLoad(() => get<CostsReport>(path(by, days)), [source, by, from, to]);
  const stacked = useLoad(() => get<CostsReport>(path(`day-${layers}`, days)), [source, layers, from, to]);
  usePoll(() => Promise.all([report.reload(), stacked.reload()]), READ_EVERY_MS, [source, by, from, to], turnOfEvents);
  const { data, error } = report.state.value;
  const spent = stacked.state.value.data;
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
        <Button label={costsText.csv} icon="download" disabled={data === undefined} run={() => data && saveReport(data, days)} />
      </header>
      <div class="page">
        <div class="costs-page">
          {error !== undefined && <Problem error={error} />}
          <CostFigures isOfBlocks={source === 'blocks'} path={(group, since) => path(group, { from: since })} />
          {source === 'blocks' && <Caps />}
          <div class="row wrap">
            <h2>{costsText.days}</h2>
            <span class="grow" />
            <RangeChoice days={days} />
          </div>
          {spent?.by === `day-${layers}` && <StackedDays stack={stackOf(spent, days)} />}
          {data !== undefined && data.by === by && <Report report={data} by={by} />}
          <Prices byModel={path('model')} />
          <Bill />
        </div>
      </div>
    </>
  );
}

/** The days that the address names; the last thirty otherwise. */
function daysIn(query: URLSearchParams): Days {
  const [from, to] = [dayIn(query.get('from')), dayIn(query.get('to'))];
  if (from !== undefined || to !== undefined) return { from, to };
  return daysOf(RANGES.find((each) => each === query.get('days')) ?? '30d', today());
}

function today(): string {
  return new Date(serverNow()).toISOString().slice(0, 10);
}

function saveReport(report: CostsReport, { from = '', to = '' }: Days): void {
  saveAs(
    ['costs', report.by, from, to]
      .filter((part) => part !== '')
      .join('-')
      .concat('.csv'),
    new Blob([csvOf(report)], { type: 'text/csv' }),
  );
}

/** Ranges as buttons, and two dates for any other one. */
function RangeChoice({ days: { from, to } }: { readonly days: Days }) {
  const { query } = route.value;
  const isOwn = dayIn(query.get('from')) !== undefined || dayIn(query.get('to')) !== undefined;
  const range = isOwn ? 'own' : (RANGES.find((each) => each === query.get('days')) ?? '30d');
  const options = [...RANGES.map((each) => [each, costsText.ranges[each]] as const), ['own', costsText.own] as const];
  const choose = (id: (typeof RANGES)[number] | 'own'): void =>
    setQuery(
      id === 'own' ? { from: from ?? today(), to: to ?? today(), days: undefined } : { days: id === '30d' ? undefined : id, from: undefined, to: undefined },
    );
  return (
    <div class="row wrap">
      {isOwn && (
        <>
          <DayField label={costsText.from} value={from} set={(day) => setQuery({ from: day })} />
          <DayField label={costsText.to} value={to} set={(day) => setQuery({ to: day })} />
        </>
      )}
      <Segments label={costsText.range} shape="ranges" options={options} value={range} choose={choose} />
    </div>
  );
}

function DayField({ label, value, set }: { readonly label: string; readonly value: string | undefined; set(day: string): void }) {
  return (
    <label class="row sm">
      {label}
      <input class="input" type="date" max={today()} value={value ?? ''} onChange={(event) => set(event.currentTarget.value)} />
    </label>
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
