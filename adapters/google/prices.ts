// Under which name the price data has a model. Pure: no I/O.
import type { PricedCall } from '../../core/index.ts';
import { bareModel, isTuned } from './request.ts';

/** The data names models as Google calls them. It has no tuned ones, and no request asks for a tier. */
export function pricedModel({ model }: Pick<PricedCall, 'model'>): string | undefined {
  const id = bareModel(model);
  return isTuned(id) ? undefined : id;
}
