// docs/observability.md: its tables, from the table of families and the alert rules.
import { readFileSync } from 'node:fs';
import { FAMILIES, type Family } from '../../../transports/metrics/families.ts';
import { RULES } from './rules.ts';

const TEMPLATE = new URL('page.template.md', import.meta.url);

/** The whole page. */
export function observabilityPage(): string {
  return readFileSync(TEMPLATE, 'utf8').replace('{{metrics}}', metricsTable()).replace('{{alerts}}', alertsTable());
}

function metricsTable(): string {
  const rows = Object.values<Family>(FAMILIES).map(
    ({ name, kind, labels, help }) => `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help.replaceAll('|', '\\|')} |`,
  );
  return ['| metric | kind | labels | what it says |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function alertsTable(): string {
  const plain = (text: string): string =>
    text
      .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '<$1>')
      .replaceAll(/\{\{ \$value \}\}/g, 'Some')
      .replaceAll('|', '\\|')
      .replaceAll('<', '&lt;');
  const rows = RULES.map(({ alert, severity, for: holds, summary, cure }) => `| \`${alert}\` | ${severity} | ${holds} | ${plain(summary)} ${plain(cure)} |`);
  return ['| alert | severity | after | what it means, and what to do |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
