// A strict reader of what `GET /metrics` answers: it refuses whatever the two formats do not allow, so that a test of ours needs no Prometheus.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ScrapedFamily {
  readonly kind: string;
  readonly help: string;
  readonly samples: Sample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = { counter: [''], gauge: [''], histogram: ['_bucket', '_sum', '_count'] };

/** The families by name. Throws an Error that names the line. */
export function readScrape(text: string, format: 'prometheus' | 'openmetrics' = 'prometheus'): Map<string, ScrapedFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const lines = text.slice(0, -1).split('\n');
  if (format === 'openmetrics' && lines.pop() !== '# EOF') throw new Error('there is no # EOF at the end');
  const families = new Map<string, ScrapedFamily>();
  const seen = new Set<string>();
  let current: { name: string; family: ScrapedFamily } | undefined;
  let help: readonly [string, string] | undefined;
  for (const line of lines) {
    const head = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (head !== null) {
      const [, what, name = '', rest = ''] = head;
      if (what === 'HELP') {
        if (families.has(name)) throw new Error(`two families ${name}`);
        help = [name, rest];
      } else {
        if (help?.[0] !== name || SUFFIXES[rest] === undefined) throw new Error(`a type without its help, or unknown: ${line}`);
        current = { name, family: { kind: rest, help: help[1], samples: [] } };
        families.set(name, current.family);
      }
      continue;
    }
    const sample = readSample(line);
    if (current === undefined) throw new Error(`a sample before its family: ${line}`);
    const { name, family } = current;
    const base = format === 'openmetrics' && family.kind === 'counter' ? `${name}_total` : name;
    if (!(SUFFIXES[family.kind] ?? []).some((suffix) => sample.name === base + suffix)) throw new Error(`not of the family ${name}: ${line}`);
    const identity = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
    if (seen.has(identity)) throw new Error(`twice: ${line}`);
    seen.add(identity);
    family.samples.push(sample);
  }
  for (const [name, family] of families) checkFamily(name, family);
  return families;
}

function readSample(line: string): Sample {
  const [, name = '', inner, number = ''] = SAMPLE.exec(line) ?? [];
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (name === '' || Number.isNaN(value)) throw new Error(`not a sample: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  for (let at = 0; inner !== undefined && at < inner.length; at = LABEL.lastIndex) {
    const [, label = '', text = ''] = LABEL.exec(inner) ?? [];
    if (label === '' || Object.hasOwn(labels, label)) throw new Error(`bad labels: ${line}`);
    labels[label] = text.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
  }
  return { name, labels, value };
}

function checkFamily(name: string, { kind, samples }: ScrapedFamily): void {
  if (samples.length === 0) throw new Error(`${name} has no sample`);
  if (kind === 'counter' && samples.some(({ value }) => value < 0)) throw new Error(`the counter ${name} is negative`);
  if (kind !== 'histogram') return;
  const bySeries = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _, ...others } = sample.labels;
    const series = JSON.stringify(others);
    bySeries.set(series, [...(bySeries.get(series) ?? []), sample]);
  }
  for (const [series, all] of bySeries) {
    const buckets = all.filter((sample) => sample.name.endsWith('_bucket'));
    const edges = buckets.map(({ labels }) => (labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le'])));
    const isRising = (values: readonly number[], strictly: boolean) =>
      values.every((value, i) => i === 0 || (strictly ? value > (values[i - 1] ?? 0) : value >= (values[i - 1] ?? 0)));
    const counts = buckets.map(({ value }) => value);
    const count = all.find((sample) => sample.name === `${name}_count`)?.value;
    const isWhole = edges.at(-1) === Number.POSITIVE_INFINITY && counts.at(-1) === count && all.some((sample) => sample.name === `${name}_sum`);
    if (!isWhole || !isRising(edges, true) || !isRising(counts, false)) throw new Error(`the histogram ${name}${series} is not one`);
  }
}

/** The value of the one sample with these labels, and maybe more; undefined without one. */
export function oneOf(families: ReadonlyMap<string, ScrapedFamily>, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const all = [...families.values()].flatMap(({ samples }) => samples).filter((sample) => sample.name === name);
  const fitting = all.filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value));
  if (fitting.length > 1) throw new Error(`several samples of ${name} have ${JSON.stringify(labels)}`);
  return fitting[0]?.value;
}

/** The sum of all samples with these labels. */
export function sumOf(families: ReadonlyMap<string, ScrapedFamily>, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const all = [...families.values()].flatMap(({ samples }) => samples).filter((sample) => sample.name === name);
  return all.filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value)).reduce((sum, { value }) => sum + value, 0);
}
