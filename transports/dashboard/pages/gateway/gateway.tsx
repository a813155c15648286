// What the gateway does: its providers, its figures, its requests.
import { computed, signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { GatewayFigures } from '../../../../core/types.ts';
import { now } from '../../base/clock.ts';
import { setQuery } from '../../base/address.ts';
import { clockSeconds, count, duration, NONE, percent } from '../../base/format.ts';
import { usePoll } from '../../base/poll.ts';
import { type Connection, readConnections } from '../../data/connections.ts';
import { readProviders } from '../../data/credentials.ts';
import { turnOfEvents } from '../../data/events.ts';
import { readFigures, readRequests, WINDOWS } from '../../data/gateway.ts';
import { useLoad } from '../../data/load.ts';
import { pathOf, route } from '../../data/route.ts';
import { advanced, totalsOf } from '../../data/totals.ts';
import { ConnectionKeys } from '../../parts/connection-keys.tsx';
import { Segments } from '../../parts/fields.tsx';
import { Mark } from '../../parts/mark.tsx';
import { Table } from '../../parts/table.tsx';
import { Bar, Problem, Spark } from '../../parts/widgets.tsx';
import { gatewayLead, gatewayText, keyFromText, LABELS, pausedModelText, pausedText, playText, programsText, WINDOW_NAMES } from '../../text/index.ts';
import { Plots } from './plots.tsx';
import { Programs } from './programs.tsx';
import { RequestPage } from './request.tsx';
import { Requests } from './requests.tsx';

const FIGURES_EVERY_MS = 5000;
const REQUESTS_EVERY_MS = 1000;
/** Figures that were not read again for so long still hold: nothing was called. */
const QUIET_MS = 3 * FIGURES_EVERY_MS;
const shownUntil = computed(() => Math.floor(now.value / FIGURES_EVERY_MS) * FIGURES_EVERY_MS);

/** The page: what goes through it, and the programs that ask. */
export default function Gateway() {
  const isPrograms = route.value.query.get('tab') === 'programs';
  const id = route.value.query.get('request') ?? '';
  return (
    <>
      {isPrograms || id !== '' ? (
        <header class="top">
          <h1>{gatewayText.title}</h1>
        </header>
      ) : (
        <Head />
      )}
      <nav class="tabs" aria-label={programsText.parts}>
        <a href={pathOf('gateway')} aria-current={isPrograms ? undefined : 'page'}>
          {programsText.activity}
        </a>
        <a href={pathOf('gateway', { tab: 'programs' })} aria-current={isPrograms ? 'page' : undefined}>
          {programsText.title}
        </a>
      </nav>
      {id !== '' && !isPrograms ? <RequestPage id={id} /> : <div class="page">{isPrograms ? <Programs /> : <Activity />}</div>}
    </>
  );
}

const lead = signal('');

function Head() {
  return (
    <header class="top">
      <h1>{gatewayText.title}</h1>
      <span class="t2 clip about">{lead}</span>
      <span class="grow" />
      <Segments
        label={LABELS.window}
        options={WINDOWS.map((each) => [each, WINDOW_NAMES[each]])}
        value={shownWindow()}
        choose={(id) => setQuery({ window: id === '15m' ? undefined : id })}
      />
      <a class="btn about" href={pathOf('playground')}>
        {playText.title}
      </a>
    </header>
  );
}

function shownWindow(): (typeof WINDOWS)[number] {
  return WINDOWS.find((each) => each === route.value.query.get('window')) ?? '15m';
}

/** The providers, their figures and their requests. */
function Activity() {
  const window = shownWindow();
  const figures = useLoad(() => readFigures(window), [window]);
  const providers = useLoad(readProviders, []);
  const connections = useLoad(readConnections, []);
  const requests = useLoad(readRequests, []);
  const shown = useSignal<'live' | 'ended' | 'failed'>('live');
  usePoll(() => Promise.all([figures.reload(), connections.reload()]), FIGURES_EVERY_MS, [window], turnOfEvents);
  // A request that is under way changes without an event.
  usePoll(requests.reload, REQUESTS_EVERY_MS, [], () => ((requests.state.peek().data?.live.length ?? 0) > 0 ? {} : turnOfEvents()));
  const { data: read, error } = figures.state.value;
  const at = shownUntil.value;
  const data = read && (at - figures.state.value.at > QUIET_MS ? advanced(read, at) : read);
  const keys = providers.state.value.data;
  useEffect(() => {
    const atWork = data?.adapters.reduce((sum, adapter) => sum + adapter.atWork, 0) ?? 0;
    lead.value = data === undefined ? '' : gatewayLead(data.adapters.filter((adapter) => isReady(adapter, keys)).length, atWork);
  }, [data, keys]);
  return (
    <>
      {[error, connections.state.value.error, requests.state.value.error].map((each) => each !== undefined && <Problem key={String(each)} error={each} />)}
      {data !== undefined && <Providers data={data} keys={keys} connections={connections.state.value.data} />}
      {data !== undefined && <Plots data={data} />}
      {requests.state.value.data !== undefined && <Requests requests={requests.state.value.data} shown={shown} reload={requests.reload} />}
    </>
  );
}

interface ProvidersProps {
  readonly data: GatewayFigures;
  readonly connections: readonly Connection[] | undefined;
  readonly keys: Awaited<ReturnType<typeof readProviders>> | undefined;
}

function Providers({ data, keys, connections }: ProvidersProps) {
  const unfolded = useSignal<ReadonlySet<string>>(new Set());
  const toggle = (id: string): void => {
    const others = new Set(unfolded.peek());
    if (!others.delete(id)) others.add(id);
    unfolded.value = others;
  };
  return (
    <Table
      shape="providers-table"
      heads={[
        gatewayText.provider,
        gatewayText.state,
        gatewayText.keyFrom,
        gatewayText.model,
        gatewayText.atWork,
        [gatewayText.waiting, 'end'],
        gatewayText.activity,
        [gatewayText.firstText, 'end'],
        [gatewayText.whole, 'end'],
        [gatewayText.errors, 'end'],
      ]}
    >
      {data.adapters.map((adapter) => (
        <ProviderRow
          key={adapter.id}
          adapter={adapter}
          isReady={isReady(adapter, keys)}
          credential={keys?.find(({ id }) => id === adapter.id)?.credential}
          connection={connections?.find(({ name }) => name === adapter.id)}
          isUnfolded={unfolded.value.has(adapter.id)}
          toggle={toggle}
        />
      ))}
    </Table>
  );
}

/**
 * The figures come often, and neither look for credentials outside of auth.json and the environment nor ask whether a server without a key runs; the list of
 * providers, read once, has done both. A server that has answered since then is ready.
 */
function isReady({ id, ready, source, series }: GatewayFigures['adapters'][number], keys: ProvidersProps['keys']): boolean {
  const isUnsure = source === 'chain' || (source === null && series.every(({ requests, errors }) => requests === errors));
  return ready && !(isUnsure && keys?.find((each) => each.id === id)?.ready === false);
}

interface ProviderRowProps {
  readonly adapter: GatewayFigures['adapters'][number];
  readonly isReady: boolean;
  readonly credential: Awaited<ReturnType<typeof readProviders>>[number]['credential'];
  readonly connection: Connection | undefined;
  readonly isUnfolded: boolean;
  toggle(id: string): void;
}

function ProviderRow({ adapter, isReady: ready, credential, connection, isUnfolded, toggle }: ProviderRowProps) {
  const { id, atWork, waiting, limits, series } = adapter;
  const totals = totalsOf(series);
  const share = totals.requests === 0 ? 0 : (totals.errors / totals.requests) * 100;
  const isNamed = connection !== undefined && connection.adapter !== id;
  return (
    <>
      <tr>
        <td>
          <NameCell adapter={adapter} isReady={ready} isUnfolded={isUnfolded} toggle={(connection?.keys.length ?? 0) > 0 ? toggle : undefined} />
        </td>
        <StateCell adapter={adapter} isReady={ready} />
        <td class="t2 num">{keyFromText(connection, credential)}</td>
        <td class="t2">{isNamed ? NONE : adapter.defaultModel}</td>
        <td>
          <span class="load num">
            {count(atWork)} <Bar part={atWork} whole={limits.concurrency} tone="live" /> <span class="t3">{count(limits.concurrency)}</span>
          </span>
        </td>
        <td class={`num end${waiting === 0 ? ' t3' : ''}`}>{count(waiting)}</td>
        <td>
          <Spark values={thinned(series.map(({ requests }) => requests))} tone={share > 5 ? 'bad' : ''} />
        </td>
        <td class="num end">{duration(totals.firstTextP50)}</td>
        <td class="num end">{duration(totals.durationP50)}</td>
        <td class={`num end${share > 5 ? ' bad' : ''}`}>{totals.requests === 0 ? NONE : percent(share)}</td>
      </tr>
      {isUnfolded && connection !== undefined && (
        <tr>
          <td class="keys-of" colSpan={10}>
            <ConnectionKeys connection={connection} />
          </td>
        </tr>
      )}
    </>
  );
}

interface NameCellProps extends Pick<ProviderRowProps, 'adapter' | 'isReady' | 'isUnfolded'> {
  /** Undefined where there is nothing to unfold. */
  readonly toggle: ((id: string) => void) | undefined;
}

/** The name; where it has keys, a button that shows them. */
function NameCell({ adapter: { id, displayName, breaker }, isReady: ready, isUnfolded, toggle }: NameCellProps) {
  const readyMark = ready ? 'idle' : 'stopped';
  return (
    <span class="row">
      <Mark state={breaker === 'closed' ? readyMark : 'backoff'} named={false} />
      {toggle === undefined ? (
        <b class="b">{displayName}</b>
      ) : (
        <button type="button" class="unfold b" aria-expanded={isUnfolded} title={gatewayText.showKeys} onClick={() => toggle(id)}>
          {displayName}
        </button>
      )}
    </span>
  );
}

/** Whether a provider takes calls; where it does not, the way to its key. */
function StateCell({ adapter: { id, detail, breaker, openUntil, paused }, isReady: ready }: Pick<ProviderRowProps, 'adapter' | 'isReady'>) {
  const model = paused.find(({ scope }) => scope === 'model');
  if (breaker !== 'closed' || model?.model !== undefined)
    return (
      <td class="warn" title={detail}>
        {breaker === 'closed' && model?.model !== undefined
          ? pausedModelText(model.model, clockSeconds(model.until))
          : pausedText(openUntil === null ? undefined : clockSeconds(openUntil))}
      </td>
    );
  return (
    <td class={ready ? '' : 't3'} title={detail}>
      {ready ? (
        gatewayText.ready
      ) : (
        <a class="link" href={pathOf('settings', { key: id })}>
          {gatewayText.notReady}
        </a>
      )}
    </td>
  );
}

/** 24 bars of a longer series. */
function thinned(values: readonly number[]): number[] {
  const step = Math.max(1, Math.ceil(values.length / 24));
  return Array.from({ length: Math.ceil(values.length / step) }, (_, index) =>
    values.slice(index * step, (index + 1) * step).reduce((sum, value) => sum + value, 0),
  );
}
