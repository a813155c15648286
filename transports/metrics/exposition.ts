// The text that Prometheus reads: its own format 0.0.4, or OpenMetrics 1.0 for who asks for it. Pure: no I/O.
import type { Family } from './families.ts';
import type { Histogram } from './series.ts';

/** A format of the text. */
export type Format = 'prometheus' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** The format that an `Accept` header prefers; Prometheus' own where it says nothing else. */
export function formatOf(accept: string | undefined): Format {
  return accept !== undefined && /\bapplication\/openmetrics-text\b(?![^,]*;\s*q=0(?:\.0*)?\s*(?:[;,]|$))/i.test(accept) ? 'openmetrics' : 'prometheus';
}

/** The values of the labels of a family, in its order. */
export type LabelValues = readonly string[];

/** Builds the text of one scrape. */
export class Exposition {
  readonly #format: Format;
  /** Labels of every sample: `worker="2",`. */
  readonly #common: string;
  readonly #lines: string[] = [];

  constructor(format: Format, common: Readonly<Record<string, string>> = {}) {
    this.#format = format;
    this.#common = pairs(Object.keys(common), Object.values(common));
  }

  /** One family with all its samples. A family without samples is left out. */
  family(family: Family, samples: Iterable<readonly [LabelValues, number | Histogram]>): void {
    let isNamed = false;
    for (const [values, value] of samples) {
      if (!isNamed) this.#head(family);
      isNamed = true;
      const labels = this.#common + pairs(family.labels, values);
      if (typeof value === 'number') this.#lines.push(line(family.name, labels, value));
      else this.#histogram(family.name, labels, value);
    }
  }

  /** Where a scrape may pause. */
  get length(): number {
    return this.#lines.length;
  }

  text(): string {
    return `${this.#lines.join('\n')}\n${this.#format === 'openmetrics' ? '# EOF\n' : ''}`;
  }

  #head({ name, kind, help }: Family): void {
    const named = this.#format === 'openmetrics' && kind === 'counter' ? name.replace(/_total$/, '') : name;
    this.#lines.push(`# HELP ${named} ${escapeHelp(help)}`, `# TYPE ${named} ${kind}`);
  }

  #histogram(name: string, labels: string, { edges, counts, sum }: Histogram): void {
    let count = 0;
    for (const [index, edge] of edges.entries()) {
      count += counts[index] ?? 0;
      this.#lines.push(line(`${name}_bucket`, `${labels}le="${this.#edge(edge)}",`, count));
    }
    count += counts[edges.length] ?? 0;
    this.#lines.push(line(`${name}_bucket`, `${labels}le="+Inf",`, count), line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, count));
  }

  /** OpenMetrics wants `1.0`. */
  #edge(edge: number): string {
    return this.#format === 'openmetrics' && Number.isInteger(edge) ? edge.toFixed(1) : String(edge);
  }
}

/** `a="x",b="y",` */
function pairs(names: readonly string[], values: LabelValues): string {
  let text = '';
  for (const [index, name] of names.entries()) text += `${name}="${escapeLabel(values[index] ?? '')}",`;
  return text;
}

function line(name: string, labels: string, value: number): string {
  return labels === '' ? `${name} ${value}` : `${name}{${labels.slice(0, -1)}} ${value}`;
}

const SPECIAL = /[\\"\n]/g;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function escapeLabel(text: string): string {
  return text.replace(SPECIAL, (character) => ESCAPES[character] ?? character);
}

function escapeHelp(text: string): string {
  return text.replace(/[\\\n]/g, (character) => ESCAPES[character] ?? character);
}
