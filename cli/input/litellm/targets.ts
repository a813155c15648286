// The models of an alias: their order, and how often each is drawn. Pure: no I/O.
import type { AliasTarget } from '../../../core/index.ts';

const MAX_WEIGHT = 1000;

/** A deployment, as far as its place in an alias goes. */
export interface Ranked {
  readonly model: string;
  readonly order: number;
  /** Undefined where neither `weight` nor `rpm` says it. */
  readonly weight: number | undefined;
}

/** The name of the model that a target leads to. */
export function modelOf(target: AliasTarget): string {
  return typeof target === 'string' ? target : target.model;
}

/** For people. */
export function shownTargets(targets: readonly AliasTarget[]): string {
  return targets.map((target, index) => `${joinedTo(targets[index - 1], target)}${written(target)}`).join('');
}

function written(target: AliasTarget): string {
  return typeof target === 'string' ? target : `${target.model} (weight ${target.weight})`;
}

/** What stands before a target: one of neighbours with weights is drawn, the others come in their turn. */
function joinedTo(before: AliasTarget | undefined, target: AliasTarget): string {
  if (before === undefined) return '';
  return typeof before === 'string' || typeof target === 'string' ? ', then ' : ' or ';
}

/** The weight of a model is the sum of its deployments', and 1 where nothing says it. */
export function weighted(models: readonly string[], group: readonly Ranked[]): AliasTarget[] {
  const sums = models.map((model) => group.filter((one) => one.model === model).reduce((sum, { weight }) => sum + (weight ?? 1), 0));
  const most = Math.max(...sums);
  const scale = most > MAX_WEIGHT || sums.some((sum) => !Number.isInteger(sum)) ? MAX_WEIGHT / most : 1;
  return models.map((model, index) => ({ model, weight: Math.max(1, Math.round((sums[index] ?? 1) * scale)) }));
}

/** The first of each model. */
export function distinct(targets: readonly AliasTarget[]): AliasTarget[] {
  return targets.filter((target, index) => targets.findIndex((other) => modelOf(other) === modelOf(target)) === index);
}
