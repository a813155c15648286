// The dashboard for Grafana: its panels, whose queries name metrics by the table of families, so that none can name one that does not exist.
import { FAMILIES, type FamilyKey } from '../../../transports/metrics/families.ts';

/** The name of a metric as it is scraped. */
export const metric = (key: FamilyKey): string => FAMILIES[key].name;

interface Query {
  readonly expr: string;
  readonly legend: string;
}

/** One plot. */
export interface Panel {
  readonly title: string;
  /** A unit of Grafana. */
  readonly unit: string;
  readonly queries: readonly Query[];
}

/** Panels under a heading. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Of the servers that the dashboard shows. */
const SHOWN = 'job=~"$job",instance=~"$instance"';
const RANGE = '[$__rate_interval]';

const of = (key: FamilyKey, further = ''): string => `${metric(key)}{${SHOWN}${further === '' ? '' : `,${further}`}}`;
const rate = (key: FamilyKey, by: string, further = ''): string => `sum by (${by}) (rate(${of(key, further)}${RANGE}))`;
const increase = (key: FamilyKey, by: string, further = ''): string => `sum by (${by}) (increase(${of(key, further)}[$__range]))`;
const quantile = (share: number, key: FamilyKey, by: string): string =>
  `histogram_quantile(${share}, sum by (le, ${by}) (rate(${metric(key)}_bucket{${SHOWN}}${RANGE})))`;

const plot = (title: string, unit: string, ...queries: readonly (readonly [expr: string, legend: string])[]): Panel => ({
  title,
  unit,
  queries: queries.map(([expr, legend]) => ({ expr, legend })),
});

/** All panels, from what people look at first. */
export const ROWS: readonly Row[] = [
  {
    title: 'Calls to models',
    panels: [
      plot('Calls a second, by connection', 'reqps', [rate('calls', 'connection'), '{{connection}}']),
      plot('Failed calls a second, by code', 'reqps', [rate('callErrors', 'connection, code'), '{{connection}} {{code}}']),
      plot('Answers a second, by why they ended', 'reqps', [rate('answers', 'connection, reason'), '{{connection}} {{reason}}']),
      plot('Repeated attempts a second', 'reqps', [rate('retries', 'connection, code'), '{{connection}} {{code}}']),
      plot(
        'Time to the first token',
        's',
        [quantile(0.5, 'firstTokenSeconds', 'connection'), '{{connection}} p50'],
        [quantile(0.95, 'firstTokenSeconds', 'connection'), '{{connection}} p95'],
      ),
      plot(
        'Time for each further token',
        's',
        [quantile(0.5, 'outputTokenSeconds', 'connection'), '{{connection}} p50'],
        [quantile(0.95, 'outputTokenSeconds', 'connection'), '{{connection}} p95'],
      ),
      plot(
        'Duration of calls',
        's',
        [quantile(0.5, 'callSeconds', 'connection'), '{{connection}} p50'],
        [quantile(0.95, 'callSeconds', 'connection'), '{{connection}} p95'],
      ),
    ],
  },
  {
    title: 'Money and tokens',
    panels: [
      plot('Cost of the range, by model', 'currencyUSD', [increase('cost', 'connection, model'), '{{connection}}/{{model}}']),
      plot('Cost of calls of tools, in the time shown', 'currencyUSD', [increase('toolCost', 'server'), '{{server}}']),
      plot('Calls without a known price', 'short', [increase('unpriced', 'connection, model'), '{{connection}}/{{model}}']),
      plot('Tokens a second', 'short', [rate('tokens', 'type'), '{{type}}']),
      plot('Cached share of the input', 'percentunit', [
        `sum by (connection) (rate(${of('tokens', 'type="cache_read"')}${RANGE})) / sum by (connection) (rate(${of('tokens', 'type="input"')}${RANGE}))`,
        '{{connection}}',
      ]),
      plot('Spent of the caps of keys', 'percentunit', [
        `max by (key, unit, period) (${of('keySpent')}) / max by (key, unit, period) (${of('keyCap')} > 0)`,
        '{{key}} {{unit}} a {{period}}',
      ]),
    ],
  },
  {
    title: 'Providers',
    panels: [
      plot('Places in use', 'percentunit', [`sum by (connection) (${of('running')}) / sum by (connection) (${of('places')})`, '{{connection}}']),
      plot('Calls that wait', 'short', [`sum by (connection) (${of('waiting')})`, '{{connection}}']),
      plot('Wait for a place', 's', [quantile(0.95, 'waitSeconds', 'connection'), '{{connection}} p95']),
      plot(
        'Paused',
        'short',
        [`max by (connection) (${of('paused')})`, '{{connection}}'],
        [`sum by (connection) (${of('pausedCallers')})`, '{{connection}} callers and models'],
      ),
      plot('Keys that are not used now', 'short', [`sum by (connection, state) (${of('keys', 'state!="ready"')})`, '{{connection}} {{state}}']),
      plot('Open streams', 'short', [`sum (${of('streaming')})`, 'streams']),
    ],
  },
  {
    title: 'Blocks',
    panels: [
      plot('Blocks by state', 'short', [`max by (state) (${of('blocks')})`, '{{state}}'], [`sum (${of('blocksRunning')})`, 'answer messages']),
      plot('Blocks that need a person', 'short', [`max (${of('attention')})`, 'blocks']),
      plot('Messages a second, by outcome', 'short', [rate('messages', 'outcome'), '{{outcome}}'], [`sum (rate(${of('queued')}${RANGE}))`, 'sent']),
      plot('Messages that wait', 'short', [`max (${of('waitingMessages')})`, 'messages']),
      plot('Oldest message that waits', 's', [`max by (instance) (${of('oldestWait')})`, '{{instance}}']),
      plot(
        'Messages of schedules and hooks, in the time shown',
        'short',
        [`sum (increase(${of('schedulesFired')}[$__range]))`, 'runs of schedules'],
        [increase('schedulesSkipped', 'reason'), 'runs left out: {{reason}}'],
        [`sum (increase(${of('hooksTaken')}[$__range]))`, 'deliveries of hooks'],
        [increase('notifyFailures', 'final'), 'notifications that failed, final: {{final}}'],
      ),
      plot(
        'Calls of tools and decisions, in the time shown',
        'short',
        [increase('toolCalls', 'outcome'), 'calls: {{outcome}}'],
        [`sum (increase(${of('approvalsRequested')}[$__range]))`, 'have waited for people'],
        [increase('approvals', 'outcome'), 'decisions: {{outcome}}'],
      ),
      plot(
        'Duration of calls of tools',
        's',
        [quantile(0.5, 'toolSeconds', 'server'), '{{server}} p50'],
        [quantile(0.95, 'toolSeconds', 'server'), '{{server}} p95'],
      ),
      plot(
        'Servers of tools, in the time shown',
        'short',
        [increase('toolCallsSent', 'server'), '{{server}} calls'],
        [increase('toolServersStarted', 'server'), '{{server}} starts'],
        [increase('toolServersExited', 'server'), '{{server}} ends'],
      ),
      plot('Compactions', 'short', [rate('compactions', 'outcome, trigger'), '{{outcome}} {{trigger}}']),
    ],
  },
  {
    title: 'Server',
    panels: [
      plot('HTTP requests a second, by status', 'reqps', [rate('requests', 'status'), '{{status}}']),
      plot('Slowest routes', 's', [`topk(5, ${quantile(0.95, 'requestSeconds', 'route')})`, '{{route}} p95']),
      plot('WebSockets', 'short', [`sum (${of('sockets')})`, 'open'], [`sum (rate(${of('socketsOpened')}${RANGE}))`, 'opened a second']),
      plot('Processor', 'percentunit', [`rate(${of('cpuSeconds')}${RANGE})`, '{{instance}}'], [of('loopBusy'), '{{instance}} event loop']),
      plot(
        'Memory',
        'bytes',
        [of('residentBytes'), '{{instance}}'],
        [of('heapUsedBytes'), '{{instance}} heap'],
        [of('heapTotalBytes'), '{{instance}} heap, whole'],
        [of('externalBytes'), '{{instance}} beside the heap'],
      ),
      plot('Delay of the event loop', 's', [of('loopP50'), '{{instance}} p50'], [of('loopP99'), '{{instance}} p99'], [of('loopMax'), '{{instance}} longest']),
      plot('Database', 's', [of('storeSeconds'), '{{instance}}'], [of('storeAway'), '{{instance}} away']),
      plot(
        'Time of the disk or the database',
        's',
        [quantile(0.5, 'storeAnswerSeconds', 'part'), '{{part}} p50'],
        [quantile(0.99, 'storeAnswerSeconds', 'part'), '{{part}} p99'],
      ),
      plot('Figures that could not be read', 'short', [`max by (instance, part) (${of('unread')})`, '{{instance}} {{part}}']),
      plot('Faults of the workspace', 'short', [rate('faults', 'instance'), '{{instance}}']),
      plot('Up since', 'dateTimeFromNow', [`${of('startSeconds')} * 1000`, '{{instance}}'], [`${of('info')} * 0`, '{{instance}} {{version}} {{store}}']),
    ],
  },
];

const WIDTH = 24;
const PANEL = { w: 8, h: 7 } as const;
const SOURCE = { type: 'prometheus', uid: '$source' } as const;

/** The dashboard as Grafana imports it. */
export function grafanaDashboard(): object {
  const panels: object[] = [];
  let y = 0;
  let id = 1;
  for (const row of ROWS) {
    panels.push({ id: id++, type: 'row', title: row.title, collapsed: false, gridPos: { x: 0, y, w: WIDTH, h: 1 }, panels: [] });
    y += 1;
    for (const [index, panel] of row.panels.entries()) {
      const perLine = WIDTH / PANEL.w;
      panels.push(shown(panel, id++, { ...PANEL, x: (index % perLine) * PANEL.w, y: y + Math.floor(index / perLine) * PANEL.h }));
    }
    y += Math.ceil(row.panels.length / (WIDTH / PANEL.w)) * PANEL.h;
  }
  const choice = (name: string, label: string, within = '') => ({
    name,
    label: name,
    type: 'query',
    datasource: SOURCE,
    query: { query: `label_values(${metric('info')}${within}, ${label})`, refId: name },
    refresh: 2,
    multi: true,
    includeAll: true,
    current: { text: 'All', value: '$__all' },
  });
  return {
    title: 'Blockhouse',
    uid: 'blockhouse',
    schemaVersion: 39,
    tags: ['blockhouse', 'llm'],
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: {
      list: [
        { name: 'source', label: 'source', type: 'datasource', query: 'prometheus' },
        choice('job', 'job'),
        choice('instance', 'instance', '{job=~"$job"}'),
      ],
    },
    panels,
  };
}

function shown({ title, unit, queries }: Panel, id: number, gridPos: object): object {
  return {
    id,
    type: 'timeseries',
    title,
    datasource: SOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(({ expr, legend }, index) => ({ refId: String.fromCharCode(65 + index), datasource: SOURCE, expr, legendFormat: legend })),
  };
}
