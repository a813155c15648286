// Makes aliases of the names of deployments, of their fallbacks and of further names. Pure: no I/O.
import type { AliasTarget } from '../../../core/index.ts';
import type { Deployment } from './deployments.ts';
import { addFallbacks, addOtherNames, MAX_TARGETS } from './fallbacks.ts';
import type { ReportBook } from './report.ts';
import { distinct, type Ranked, shownTargets, weighted } from './targets.ts';

/** What goes into models.json. */
export interface ImportedNames {
  readonly aliases: Readonly<Record<string, readonly AliasTarget[]>>;
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

/** In the order in which they are asked: by `order`, and those of the first order that has several models by weight. */
function targetsOf(name: string, members: readonly Deployment[], connectionOf: ReadonlyMap<Deployment, string>, book: ReportBook): AliasTarget[] {
  const hasWeights = members.some((member) => numberIn(member, 'weight') !== undefined);
  const ranked = members.map(
    (member): Ranked => ({
      model: `${connectionOf.get(member)}/${member.model}`,
      order: numberIn(member, 'order') ?? 0,
      weight: numberIn(member, hasWeights ? 'weight' : 'rpm'),
    }),
  );
  const all = [...new Set(ranked.map(({ order }) => order))].sort((one, other) => one - other).map((order) => ranked.filter((one) => one.order === order));
  const groups = all.map((group) => [...new Set(group.map(({ model }) => model))]);
  const drawn = groups.findIndex((models) => models.length > 1);
  const targets = distinct(groups.flatMap((models, at): AliasTarget[] => (at === drawn ? weighted(models, all[at] ?? []) : models)));
  const shown = shownTargets(targets);
  for (const { path, params } of members) {
    if (targets.length > MAX_TARGETS) book.left(`${path}.model_name`, `An alias has at most ${MAX_TARGETS} models; the first ones are taken.`);
    else book.taken(`${path}.model_name`, targets.length === 1 && targets[0] === name ? 'the model has this name anyway' : `the alias of ${shown}`);
    if (params['order'] !== undefined) book.taken(`${path}.litellm_params.order`, 'the order in the alias');
    const [model, place] = [ranked[members.findIndex((member) => member.path === path)]?.model, `${path}.litellm_params`];
    const isDrawn = targets.some((target) => typeof target !== 'string' && target.model === model);
    if (!hasWeights && isDrawn && params['rpm'] !== undefined) book.changed(`${place}.rpm`, 'the weight in the alias; limits per minute are those of a key');
    if (params['weight'] === undefined || book.has(`${place}.weight`)) continue;
    if (isDrawn) book.taken(`${place}.weight`, 'the weight in the alias');
    else
      book.left(
        `${place}.weight`,
        targets.length === 1 ? 'The name has one model, so none is drawn.' : 'Only the models of the first order that has several are drawn by weight.',
      );
  }
  return targets.slice(0, MAX_TARGETS);
}

function numberIn({ params }: Deployment, name: string): number | undefined {
  const value = params[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
