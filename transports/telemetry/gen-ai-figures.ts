// The two metrics of the conventions for generative AI that a client of models has: how long operations took, and their tokens.
//
// bounded: names of models that clients make up make no series, as with `GET /metrics`.
import type { Attributes } from '@opentelemetry/api';
import type { Core, CoreEvents } from '../../core/index.ts';
import type { Family } from '../metrics/families.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Histogram, Shelves } from '../metrics/series.ts';
import { CONVENTION } from './attributes.ts';
import { operationOf } from './call-spans.ts';
import type { Upstreams } from './upstreams.ts';

const DURATION = {
  name: 'gen_ai.client.operation.duration',
  kind: 'histogram',
  help: 'GenAI operation duration.',
  labels: [],
} as const;
const TOKENS = {
  name: 'gen_ai.client.token.usage',
  kind: 'histogram',
  help: 'Number of input and output tokens used.',
  labels: [],
  edges: [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864],
} as const;
const MAX_MODELS = 200;
const OTHER = 'other';

interface Series {
  readonly attributes: Attributes;
  readonly seconds: Shelves<Histogram>;
  readonly input: Histogram;
  readonly output: Histogram;
}

/** One of the two with its points. */
export interface GenAiMetric {
  readonly family: Family;
  readonly unit: string;
  readonly points: readonly (readonly [Attributes, Histogram])[];
}

/** Counted from the facts of the bus. */
export class GenAiFigures {
  readonly #upstreams: Upstreams;
  readonly #tools: Metrics['tools'];
  readonly #duration: Family;
  readonly #series = new Map<string, Series>();
  readonly #models = new Set<string>();
  /** Most calls are like the last one. */
  #recent: { readonly adapter: string; readonly model: string; readonly operation: string; readonly series: Series } | undefined;

  constructor({ events }: Pick<Core, 'events'>, upstreams: Upstreams, tools: Metrics['tools']) {
    this.#upstreams = upstreams;
    this.#tools = tools;
    this.#duration = { ...DURATION, edges: tools.operationEdges };
    events.on('call.finished', (fact) => this.#finished(fact));
  }

  all(): readonly GenAiMetric[] {
    const series = [...this.#series.values()];
    const seconds = series.flatMap(({ attributes, seconds }) =>
      [...seconds.entries()].map(([code, histogram]) => [code === '' ? attributes : { ...attributes, [CONVENTION.error]: code }, histogram] as const),
    );
    const tokens = series.flatMap(({ attributes, input, output }) => [
      [{ ...attributes, [CONVENTION.tokenType]: 'input' }, input] as const,
      [{ ...attributes, [CONVENTION.tokenType]: 'output' }, output] as const,
    ]);
    return [
      { family: this.#duration, unit: 's', points: seconds },
      { family: TOKENS, unit: '{token}', points: tokens },
    ];
  }

  #finished(fact: CoreEvents['call.finished']): void {
    const { durationMs, usage, code = '' } = fact;
    const { seconds, input, output } = this.#of(fact);
    seconds.of(code).observe(durationMs / 1000);
    if (usage === undefined) return;
    input.observe(usage.inputTokens);
    if (usage.outputTokens > 0 || operationOf(fact) !== 'embeddings') output.observe(usage.outputTokens);
  }

  #of(fact: CoreEvents['call.finished']): Series {
    const operation = operationOf(fact);
    const recent = this.#recent;
    if (recent !== undefined && recent.model === fact.model && recent.adapter === fact.adapter && recent.operation === operation) return recent.series;
    const model = this.#nameOf(fact);
    const series = this.#seriesOf(fact, operation, model);
    if (model === fact.model) this.#recent = { adapter: fact.adapter, model, operation, series };
    return series;
  }

  #seriesOf(fact: CoreEvents['call.finished'], operation: string, model: string): Series {
    const key = `${operation}\n${fact.adapter}\n${model}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const { provider, address, port } = this.#upstreams.of(fact.adapter, undefined);
    const attributes: Attributes = { [CONVENTION.operation]: operation, [CONVENTION.provider]: provider, [CONVENTION.requestModel]: model };
    if (address !== undefined && port !== undefined) Object.assign(attributes, { [CONVENTION.address]: address, [CONVENTION.port]: port });
    const { Histogram, Shelves } = this.#tools;
    const series = { attributes, seconds: new Shelves(() => new Histogram(this.#duration)), input: new Histogram(TOKENS), output: new Histogram(TOKENS) };
    this.#series.set(key, series);
    return series;
  }

  /** bounded. */
  #nameOf({ adapter, model, code }: CoreEvents['call.finished']): string {
    const name = `${adapter}/${model}`;
    if (this.#models.has(name)) return model;
    if (code !== undefined || this.#models.size >= MAX_MODELS) return OTHER;
    this.#models.add(name);
    return model;
  }
}
