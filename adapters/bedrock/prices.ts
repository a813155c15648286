// Under which name the price data has a model. Pure: no I/O.
//
// The data has two prices for most models, one of the global inference profile and one of all regions, and tells them apart by the prefix of the id. It
// has no prices of AWS's other partitions (GovCloud, China, the European Sovereign Cloud), except for the profiles of Claude in GovCloud.
import type { PricedCall, ResolvedSettings } from '../../core/index.ts';
import { mayCostMore } from '../shared/tiers.ts';
import { regionOf } from './endpoints.ts';
import { isClaude } from './models.ts';

/** ARNs that end in the id of a model or of AWS's own profile for it. All others (a customer's profile, router, prompt, custom or provisioned model) hide it. */
const NAMING_ARN = /^arn:(aws[a-z-]*):bedrock:([a-z0-9-]*):\d*:(?:foundation-model|inference-profile)\/([^/]+)$/;
const GOV_PROFILE = 'us-gov.';

/** Undefined for what the data can't price: a hidden model, a dearer tier, a region of another partition. */
export function pricedModel({ model, settings, tier }: PricedCall): string | undefined {
  if (mayCostMore(tier)) return undefined;
  const { id, region } = called(model, settings);
  if (id === undefined) return undefined;
  if (/^(?:cn|eusc)-/.test(region)) return undefined;
  if (region.startsWith('us-gov-')) return id.startsWith(GOV_PROFILE) && isClaude(id) ? id : undefined;
  return id;
}

/** The model that answers, if its name tells, and the region that is asked: an ARN names its own. */
function called(model: string, settings: ResolvedSettings): { readonly id: string | undefined; readonly region: string } {
  const region = regionOf(settings);
  if (!model.startsWith('arn:')) return { id: model, region };
  const [, , ofArn = '', id] = NAMING_ARN.exec(model) ?? [];
  return { id, region: ofArn === '' ? region : ofArn };
}
