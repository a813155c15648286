// The metrics of the process for a collector: those of `GET /metrics`, from the same table, and two that the conventions for generative AI define.
//
// one-under-way: a collector that is slow gets fewer of them, and nothing waits.
// cumulative: all figures are since the start of the process, as those of `GET /metrics` are.
import type { Attributes, HrTime } from '@opentelemetry/api';
import type { Metrics } from '../metrics/metrics.ts';
import type { Family } from '../metrics/families.ts';
import type { Histogram } from '../metrics/series.ts';
import { hrTime } from './clock.ts';
import type { GenAiFigures } from './gen-ai-figures.ts';
import type { MetricExporter, ResourceMetrics } from './packages.ts';

type MetricData = ResourceMetrics['scopeMetrics'][number]['metrics'][number];

/** `DataPointType` and `AggregationTemporality` of @opentelemetry/sdk-metrics, which is no package of our own choice; and `ValueType` of the API. */
const TYPES = { histogram: 0, gauge: 2, counter: 3 } as const;
const CUMULATIVE = 1;
const DOUBLE = 1;
const SUCCESS = 0;

/** What a push needs. */
export interface MetricPushOptions {
  readonly metrics: Pick<Metrics, 'families' | 'labels'>;
  readonly genAi: GenAiFigures;
  readonly exporter: Pick<MetricExporter, 'export'>;
  readonly resource: ResourceMetrics['resource'];
  readonly scope: ResourceMetrics['scopeMetrics'][number]['scope'];
  readonly everyMs: number;
  readonly timeoutMs: number;
  failed(error: Error): void;
}

/** Exports the metrics again and again. */
export class MetricPush {
  readonly #options: MetricPushOptions;
  readonly #start: HrTime = hrTime(Date.now());
  readonly #timer: NodeJS.Timeout;
  #underWay: Promise<void> | undefined;

  constructor(options: MetricPushOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.push(), options.everyMs).unref();
  }

  /** Never rejects. */
  push(): Promise<void> {
    this.#underWay ??= this.#push().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  /** The last figures, for `ms` at most. */
  async shutdown(ms: number): Promise<void> {
    clearInterval(this.#timer);
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    const last = async (): Promise<void> => {
      await this.#underWay;
      await this.push();
    };
    await Promise.race([last(), over]);
    clearTimeout(timer);
  }

  async #push(): Promise<void> {
    const { exporter, timeoutMs, failed } = this.#options;
    try {
      const figures = await this.#collect();
      await new Promise<void>((resolve, reject) => {
        setTimeout(() => reject(new Error(`The collector has not answered within ${timeoutMs} ms.`)), timeoutMs).unref();
        exporter.export(figures, ({ code, error }) => (code === SUCCESS ? resolve() : reject(error ?? new Error('The collector has refused it.'))));
      });
    } catch (error) {
      failed(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #collect(): Promise<ResourceMetrics> {
    const { metrics, genAi, resource, scope } = this.#options;
    const end = hrTime(Date.now());
    const all: MetricData[] = [];
    for await (const [family, samples] of metrics.families()) {
      const points = Array.from(samples, ([values, value]) => [{ ...metrics.labels, ...labelled(family, values) }, value] as const);
      if (points.length > 0) all.push(this.#data(family, unitOf(family.name), points, end));
    }
    for (const { family, unit, points } of genAi.all()) if (points.length > 0) all.push(this.#data(family, unit, points, end));
    return { resource, scopeMetrics: [{ scope, metrics: all }] };
  }

  #data({ name, help, kind }: Family, unit: string, points: readonly (readonly [Attributes, number | Histogram])[], endTime: HrTime): MetricData {
    const dataPoints = points.map(([attributes, value]) => ({
      attributes,
      startTime: this.#start,
      endTime,
      value: typeof value === 'number' ? value : bucketsOf(value),
    }));
    const descriptor = { name, description: help, unit, valueType: DOUBLE };
    // The enumerations are plain numbers here, so the compiler can't tell which form it is.
    return { descriptor, dataPointType: TYPES[kind], aggregationTemporality: CUMULATIVE, isMonotonic: kind === 'counter', dataPoints } as unknown as MetricData;
  }
}

function labelled({ labels }: Family, values: readonly string[]): Attributes {
  const attributes: Attributes = {};
  for (const [index, label] of labels.entries()) attributes[label] = values[index] ?? '';
  return attributes;
}

function bucketsOf({ edges, counts, sum }: Histogram): object {
  return { buckets: { boundaries: [...edges], counts: [...counts] }, sum, count: counts.reduce((total, count) => total + count, 0) };
}

/** Readers of such metrics take the unit from here, and leave a name as it is that ends with it already. */
function unitOf(name: string): string {
  if (/_seconds(?:_total)?$/.test(name)) return 's';
  return /_bytes$/.test(name) ? 'By' : '';
}
