// The alert rules for Prometheus, which name metrics by the table of families.
import type { FamilyKey } from '../../../transports/metrics/families.ts';
import { metric } from './panels.ts';

/** One alert. */
export interface Rule {
  readonly alert: string;
  readonly expr: string;
  /** How long it must hold before it fires. */
  readonly for: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  /** What to look at; the page docs/observability.md has the same under the name of the alert. */
  readonly cure: string;
}

/** What has grown within this time. Of a series that begins with 1, Prometheus says that it has grown by nothing: there is no 0 before it. */
function grown(key: FamilyKey, within: string, labels = ''): string {
  const series = `${metric(key)}${labels}`;
  return `(increase(${series}[${within}]) > 0 or (${series} unless ${series} offset ${within}))`;
}

/** Those that need somebody at night come first. */
export const RULES: readonly Rule[] = [
  {
    alert: 'BlockhouseDown',
    expr: `absent(${metric('info')})`,
    for: '2m',
    severity: 'critical',
    summary: 'No server of Blockhouse is scraped.',
    cure: 'Look whether its process runs (`blockhouse status`), and whether the scrape has the right token.',
  },
  {
    alert: 'BlockhouseDatabaseAway',
    expr: `${metric('storeAway')} == 1`,
    for: '1m',
    severity: 'critical',
    summary: 'The database does not answer {{ $labels.instance }}.',
    cure: 'Blocks wait until it is back; calls of keys without caps go on. Look at the database and at the network before it.',
  },
  {
    alert: 'BlockhouseWorkspaceFaults',
    expr: `increase(${metric('faults')}[10m]) > 0`,
    for: '0m',
    severity: 'critical',
    summary: '{{ $labels.instance }} could not write to its workspace.',
    cure: 'Look for a full disk. The log has the file under `workspace.fault`, and `blockhouse doctor` checks all files.',
  },
  {
    alert: 'BlockhouseProviderPaused',
    expr: `max by (connection) (${metric('paused')}) == 1`,
    for: '2m',
    severity: 'critical',
    summary: '{{ $labels.connection }} is not called, because its calls fail.',
    cure: 'The log says why (`provider paused`); `blockhouse models {{ $labels.connection }}` tries the key and the address.',
  },
  {
    alert: 'BlockhouseCallsFail',
    expr: `sum by (connection) (rate(${metric('callErrors')}{code!~"KEY_.*|PRICE_UNKNOWN"}[10m])) / sum by (connection) (rate(${metric('calls')}[10m])) > 0.1 and sum by (connection) (rate(${metric('calls')}[10m])) > 0.05`,
    for: '10m',
    severity: 'warning',
    summary: 'More than a tenth of the calls to {{ $labels.connection }} fail.',
    cure: `\`sum by (code) (rate(${metric('callErrors')}[10m]))\` says with which codes; docs/errors.md has the cure of each.`,
  },
  {
    alert: 'BlockhouseQueueLong',
    expr: `sum by (connection) (${metric('waiting')}) > 0 and sum by (connection) (${metric('running')}) >= sum by (connection) (${metric('places')})`,
    for: '5m',
    severity: 'warning',
    summary: 'All places of {{ $labels.connection }} have been taken for five minutes, and calls wait.',
    cure: 'Raise the limits of the connection if the provider allows more, or give keys places of their own (`--in-flight`).',
  },
  {
    alert: 'BlockhouseMessageWaits',
    expr: `max by (instance) (${metric('oldestWait')}) > 600`,
    for: '1m',
    severity: 'warning',
    summary: 'A message waits for its answer on {{ $labels.instance }} for more than ten minutes.',
    cure: '`blockhouse ls` shows the blocks with waiting messages, and `blockhouse why <block>` what keeps one from answering.',
  },
  {
    alert: 'BlockhouseBlockNeedsPerson',
    expr: `max (${metric('attention')}) > 0`,
    for: '15m',
    severity: 'warning',
    summary: '{{ $value }} blocks need a person.',
    cure: '`blockhouse why <block>`, or *Needs you* on the page, says what each needs.',
  },
  {
    alert: 'BlockhouseToolServerEnds',
    expr: `sum by (server) (increase(${metric('toolServersExited')}[15m])) > 5`,
    for: '0m',
    severity: 'warning',
    summary: 'The server of tools {{ $labels.server }} ends again and again.',
    cure: '`blockhouse tools test {{ $labels.server }}` starts it and shows what it says when it ends.',
  },
  {
    alert: 'BlockhouseToolCallsUnknown',
    expr: `sum ${grown('toolCalls', '1h', '{outcome="unknown"}')} > 0`,
    for: '0m',
    severity: 'warning',
    summary: 'Of a call of a tool it is not known whether it ran.',
    cure: '`blockhouse approvals` lists such calls; say of each whether it did.',
  },
  {
    alert: 'BlockhouseKeyNearCap',
    expr: `max by (key, unit, period) (${metric('keySpent')}) / max by (key, unit, period) (${metric('keyCap')} > 0) > 0.9`,
    for: '0m',
    severity: 'warning',
    summary: 'The key {{ $labels.key }} has spent more than nine tenths of its {{ $labels.unit }} for the {{ $labels.period }}.',
    cure: 'Its calls are refused when the cap is reached. `blockhouse costs --gateway` says what each key has spent, and `blockhouse key set` changes the cap.',
  },
  {
    alert: 'BlockhouseUnpricedCalls',
    expr: `sum by (connection, model) ${grown('unpriced', '1h')} > 0`,
    for: '0m',
    severity: 'warning',
    summary: 'Calls of {{ $labels.connection }}/{{ $labels.model }} have no known price, so that caps in USD do not count them.',
    cure: 'Set a price: `blockhouse prices set {{ $labels.connection }}/{{ $labels.model }}`.',
  },
  {
    alert: 'BlockhouseKeysRefused',
    expr: `sum by (connection) (${metric('keys')}{state=~"refused|empty"}) > 0`,
    for: '5m',
    severity: 'warning',
    summary: 'A key of {{ $labels.connection }} is refused by its provider, or its account is empty.',
    cure: '`blockhouse auth ls` says which key it is; others of the connection answer meanwhile.',
  },
  {
    alert: 'BlockhouseEventLoopSlow',
    expr: `${metric('loopP99')} > 0.25`,
    for: '5m',
    severity: 'warning',
    summary: 'The event loop of {{ $labels.instance }} is late by more than a quarter of a second.',
    cure: 'The process needs more of a processor: see docs/scale.md for `--workers` and several servers.',
  },
];

/** As Prometheus loads it. */
export function alertRules(): string {
  const rules = RULES.map(
    ({ alert, expr, for: holds, severity, summary, cure }) =>
      `      - alert: ${alert}\n        expr: ${JSON.stringify(expr)}\n        for: ${holds}\n        labels:\n          severity: ${severity}\n        annotations:\n          summary: ${JSON.stringify(summary)}\n          description: ${JSON.stringify(cure)}\n`,
  );
  return `# Alert rules for Prometheus. Made by \`npm run generate\`; docs/observability.md says how to use them.\ngroups:\n  - name: blockhouse\n    rules:\n${rules.join('')}`;
}
