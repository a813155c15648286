// What an entry says of a model: its price and its window. Pure: no I/O.
import { isObject } from '../../../core/base/json.ts';
import { type Deployment, numberOf } from './deployments.ts';
import type { ReportBook } from './report.ts';

type Fields = Record<string, unknown>;
const PARAMS = 'litellm_params';
const RATES = [
  ['input_cost_per_token', 'input'],
  ['output_cost_per_token', 'output'],
  ['cache_read_input_token_cost', 'cacheRead'],
  ['cache_creation_input_token_cost', 'cacheWrite'],
] as const;
const WINDOWS = [
  ['max_input_tokens', 'contextWindow'],
  ['max_output_tokens', 'maxOutput'],
] as const;

/** Adds price and window, which may stand in either of the two objects. */
export function addFacts(entry: Fields, deployment: Deployment, book: ReportBook): void {
  const { path, params, info, model, service } = deployment;
  const found = (name: string): { readonly value: unknown; readonly place: string } =>
    params[name] === undefined ? { value: info[name], place: `${path}.model_info.${name}` } : { value: params[name], place: `${path}.${PARAMS}.${name}` };
  const facts: Fields = {};
  const rates: Record<string, number> = {};
  for (const [theirs, ours] of RATES) {
    const cost = numberOf(found(theirs).value);
    if (cost !== undefined && cost >= 0 && cost <= 1) rates[ours] = Number((cost * 1e6).toPrecision(12));
  }
  if (rates['input'] !== undefined && rates['output'] !== undefined) {
    facts['price'] = rates;
    for (const [theirs, ours] of RATES) if (rates[ours] !== undefined) book.taken(found(theirs).place, `price.${ours}, for a million tokens`);
  } else for (const [theirs, ours] of RATES) if (rates[ours] !== undefined) book.left(found(theirs).place, 'A price needs both input and output.');
  for (const [theirs, ours] of WINDOWS) {
    const count = numberOf(found(theirs).value);
    if (count === undefined || !Number.isInteger(count) || count < 1) continue;
    facts[ours] = count;
    book.taken(found(theirs).place, ours);
  }
  const base = found('base_model');
  if (typeof base.value === 'string' && facts['price'] === undefined && /^.{1,200}$/.test(base.value)) {
    facts['price'] = base.value.includes('/') ? base.value : `${service}/${base.value}`;
    book.taken(base.place, 'price: as much as that model');
  }
  if (Object.keys(facts).length === 0 || model.includes('*')) return;
  const models = isObject(entry['models']) ? entry['models'] : {};
  entry['models'] = { ...models, [model]: { ...(models[model] as object | undefined), ...facts } };
}
