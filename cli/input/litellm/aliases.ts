// Makes aliases of the names of deployments, of their fallbacks and of further names. Pure: no I/O.
import type { Deployment } from './deployments.ts';
import { addFallbacks, addOtherNames, MAX_TARGETS } from './fallbacks.ts';
import type { ReportBook } from './report.ts';

/** What goes into models.json. */
export interface ImportedNames {
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  readonly defaultProvider: string | undefined;
}

const EVERYTHING = '*';

export function makeNames(
  source: Readonly<Record<string, unknown>>,
  deployments: readonly Deployment[],
  connectionOf: ReadonlyMap<Deployment, string>,
  book: ReportBook,
): ImportedNames {
  const groups = new Map<string, Deployment[]>();
  let defaultProvider: string | undefined;
  for (const deployment of deployments) {
    const { name, path, model } = deployment;
    const connection = connectionOf.get(deployment) ?? '';
    if (!model.includes('*')) groups.set(name, [...(groups.get(name) ?? []), deployment]);
    else if (name === EVERYTHING && model === EVERYTHING) {
      if (defaultProvider === undefined) book.taken(`${path}.model_name`, `defaultProvider: ${connection}`);
      else book.left(`${path}.model_name`, 'There is one default provider.');
      defaultProvider ??= connection;
    } else if (name === `${connection}/*` && model === EVERYTHING) book.taken(`${path}.model_name`, `all models of ${connection} have such names`);
    else book.left(`${path}.model_name`, `An alias leads to one model, so all models of ${connection} are called ${connection}/<model>.`);
  }
  const targets = new Map([...groups].map(([name, members]) => [name, targetsOf(name, members, connectionOf, book)]));
  addFallbacks(source, targets, book);
  addOtherNames(source, targets, book);
  const needed = [...targets].filter(([name, [first, ...more]]) => first !== undefined && (more.length > 0 || first !== name));
  return { aliases: Object.fromEntries(needed), defaultProvider };
}

/** In the order in which they are asked: by `order`, then the largest weight first. */
function targetsOf(name: string, members: readonly Deployment[], connectionOf: ReadonlyMap<Deployment, string>, book: ReportBook): string[] {
  const ranked = members.map((deployment) => ({
    deployment,
    order: numberIn(deployment, 'order') ?? 0,
    weight: numberIn(deployment, 'weight') ?? numberIn(deployment, 'rpm') ?? 0,
  }));
  const inOrder = [...ranked].sort((one, other) => one.order - other.order || other.weight - one.weight);
  const targets = [...new Set(inOrder.map(({ deployment }) => `${connectionOf.get(deployment)}/${deployment.model}`))];
  for (const { path, params } of members) {
    if (targets.length > MAX_TARGETS) book.left(`${path}.model_name`, `An alias has at most ${MAX_TARGETS} models; the first ones are taken.`);
    else
      book.taken(
        `${path}.model_name`,
        targets.length === 1 && targets[0] === name ? 'the model has this name anyway' : `the alias of ${targets.join(', then ')}`,
      );
    if (params['order'] !== undefined) book.taken(`${path}.litellm_params.order`, 'the order in the alias');
    if (params['weight'] === undefined || book.has(`${path}.litellm_params.weight`)) continue;
    if (targets.length === 1) book.left(`${path}.litellm_params.weight`, 'There is one model to ask.');
    else book.changed(`${path}.litellm_params.weight`, 'the order in the alias: the largest weight is asked first, and the next only if it fails');
  }
  return targets.slice(0, MAX_TARGETS);
}

function numberIn({ params }: Deployment, name: string): number | undefined {
  const value = params[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
