// The figures of calls to models.
//
// bounded: a model has a name of its own here once a call to it has succeeded, and so do MAX_MODELS at most; all others count as "other". So a caller that makes up
//   names makes no series.
// few-instructions: a call that ends finds its series by names that are the same strings each time, and adds to some numbers.
import type { CoreEvents } from '../../core/index.ts';
import type { LabelValues } from './exposition.ts';
import { FAMILIES } from './families.ts';
import { Counts, Histogram, Shelves } from './series.ts';

type Finished = CoreEvents['call.finished'];

/** Of all connections together. */
const MAX_MODELS = 200;
/** Paths of the server's own routes: there are some dozens. */
const MAX_PATHS = 50;
const OTHER = 'other';
const STATUSES = ['ok', 'error', 'cancelled'] as const;
const TYPES = ['input', 'output', 'cache_read', 'cache_write'] as const;
const PAYERS = ['client', 'block'] as const;
type Payer = (typeof PAYERS)[number];

/** A call that used tokens, as a ledger has it. */
interface Paid {
  readonly connection: string;
  readonly model: string;
  /** Null if its price is not known. */
  readonly costUsd: number | null;
  readonly hasSucceeded: boolean;
}

/** Calls to one model, by one path, that ended in one way. */
class CallSeries {
  count = 0;
  readonly seconds = new Histogram(FAMILIES.callSeconds);
  firstToken: Histogram | undefined;
  outputToken: Histogram | undefined;

  add({ durationMs, firstTextMs, usage, stream }: Finished): void {
    this.count += 1;
    this.seconds.observe(durationMs / 1000);
    if (firstTextMs === undefined || stream !== true) return;
    this.firstToken ??= new Histogram(FAMILIES.firstTokenSeconds);
    this.firstToken.observe(firstTextMs / 1000);
    if (usage === undefined || usage.outputTokens < 2) return;
    this.outputToken ??= new Histogram(FAMILIES.outputTokenSeconds);
    this.outputToken.observe((durationMs - firstTextMs) / 1000 / (usage.outputTokens - 1));
  }
}

/** One model of one connection. */
class ModelFigures {
  readonly paths = new Shelves(() => new Shelves(() => new CallSeries()), MAX_PATHS);
  readonly tokens = new Float64Array(TYPES.length);
  readonly cost = new Float64Array(PAYERS.length);
  readonly unpriced = new Float64Array(PAYERS.length);
}

/** One connection. */
class ConnectionFigures {
  readonly models = new Shelves(() => new ModelFigures());
  readonly wait = new Histogram(FAMILIES.waitSeconds);
  readonly errors = new Counts();
  readonly retries = new Counts();
  /** By the reason of the end. */
  readonly answers = new Counts();
  attempts = 0;
}

/** Everything that is counted of calls. */
export class CallFigures {
  readonly #connections = new Shelves(() => new ConnectionFigures());
  #models = 0;
  /** Most calls are of the same model as the last one, and to compare a name is faster than to look for it. */
  #recent: { readonly adapter: string; readonly model: string; readonly figures: ModelFigures } | undefined;

  finished(fact: Finished): void {
    const { adapter, code, usage, queuedMs, attempts, answer } = fact;
    const connection = this.#connections.of(adapter);
    connection.attempts += attempts;
    if (queuedMs !== undefined) connection.wait.observe(queuedMs / 1000);
    if (answer?.stopReason !== undefined) connection.answers.add(answer.stopReason);
    const status = code === undefined ? 'ok' : code === 'CANCELLED' ? 'cancelled' : 'error';
    if (status === 'error') connection.errors.add(code as string);
    const model = this.#recentModel(connection, fact);
    const path = fact.path ?? (fact.key === undefined && fact.caller !== undefined ? 'block' : 'program');
    const byStatus = model.paths.find(path) ?? model.paths.of(model.paths.isFull ? OTHER : path);
    byStatus.of(status).add(fact);
    if (usage === undefined) return;
    const { tokens } = model;
    tokens[0] = (tokens[0] ?? 0) + usage.inputTokens;
    tokens[1] = (tokens[1] ?? 0) + usage.outputTokens;
    if (usage.cacheReadTokens !== undefined) tokens[2] = (tokens[2] ?? 0) + usage.cacheReadTokens;
    if (usage.cacheWriteTokens !== undefined) tokens[3] = (tokens[3] ?? 0) + usage.cacheWriteTokens;
  }

  retried({ adapter, code }: CoreEvents['call.retried']): void {
    this.#connections.of(adapter).retries.add(code);
  }

  /** A line of a ledger. */
  paid(payer: Payer, { connection, model, costUsd, hasSucceeded }: Paid): void {
    const { cost, unpriced } = this.#modelOf(this.#connections.of(connection), model, hasSucceeded);
    const place = PAYERS.indexOf(payer);
    if (costUsd === null) unpriced[place] = (unpriced[place] ?? 0) + 1;
    else cost[place] = (cost[place] ?? 0) + costUsd;
  }

  #recentModel(connection: ConnectionFigures, { adapter, model, code }: Finished): ModelFigures {
    const recent = this.#recent;
    if (recent !== undefined && recent.model === model && recent.adapter === adapter) return recent.figures;
    const figures = this.#modelOf(connection, model, code === undefined);
    if (connection.models.find(model) === figures) this.#recent = { adapter, model, figures };
    return figures;
  }

  /** bounded. */
  #modelOf({ models }: ConnectionFigures, model: string, hasSucceeded: boolean): ModelFigures {
    const known = models.find(model);
    if (known !== undefined) return known;
    if (!hasSucceeded || this.#models >= MAX_MODELS) return models.of(OTHER);
    this.#models += 1;
    return models.of(model);
  }

  *calls(): Generator<[LabelValues, number]> {
    for (const [labels, { count }] of this.#series()) yield [labels, count];
  }

  *seconds(): Generator<[LabelValues, Histogram]> {
    for (const [labels, { seconds }] of this.#series()) yield [labels, seconds];
  }

  *firstToken(): Generator<[LabelValues, Histogram]> {
    for (const [labels, { firstToken }] of this.#series()) if (firstToken !== undefined) yield [labels, firstToken];
  }

  *outputToken(): Generator<[LabelValues, Histogram]> {
    for (const [labels, { outputToken }] of this.#series()) if (outputToken !== undefined) yield [labels, outputToken];
  }

  *errors(): Generator<[LabelValues, number]> {
    for (const [name, { errors }] of this.#connections.entries()) for (const [code, count] of errors.entries()) yield [[name, code], count];
  }

  *retries(): Generator<[LabelValues, number]> {
    for (const [name, { retries }] of this.#connections.entries()) for (const [code, count] of retries.entries()) yield [[name, code], count];
  }

  *answers(): Generator<[LabelValues, number]> {
    for (const [name, { answers }] of this.#connections.entries()) for (const [reason, count] of answers.entries()) yield [[name, reason], count];
  }

  *attempts(): Generator<[LabelValues, number]> {
    for (const [name, { attempts }] of this.#connections.entries()) yield [[name], attempts];
  }

  *wait(): Generator<[LabelValues, Histogram]> {
    for (const [name, { wait }] of this.#connections.entries()) yield [[name], wait];
  }

  *tokens(): Generator<[LabelValues, number]> {
    for (const [connection, model, { tokens }] of this.#allModels()) {
      for (const [index, type] of TYPES.entries()) if (index < 2 || (tokens[index] ?? 0) > 0) yield [[connection, model, type], tokens[index] ?? 0];
    }
  }

  *cost(): Generator<[LabelValues, number]> {
    for (const [connection, model, { cost }] of this.#allModels())
      for (const [index, payer] of PAYERS.entries()) if ((cost[index] ?? 0) > 0) yield [[connection, model, payer], cost[index] ?? 0];
  }

  *unpriced(): Generator<[LabelValues, number]> {
    for (const [connection, model, { unpriced }] of this.#allModels())
      for (const [index, payer] of PAYERS.entries()) if ((unpriced[index] ?? 0) > 0) yield [[connection, model, payer], unpriced[index] ?? 0];
  }

  *#allModels(): Generator<[string, string, ModelFigures]> {
    for (const [connection, { models }] of this.#connections.entries()) for (const [model, figures] of models.entries()) yield [connection, model, figures];
  }

  *#series(): Generator<[LabelValues, CallSeries]> {
    for (const [connection, model, { paths }] of this.#allModels())
      for (const [path, byStatus] of paths.entries())
        for (const status of STATUSES) {
          const series = byStatus.find(status);
          if (series !== undefined) yield [[connection, model, path, status], series];
        }
  }
}
