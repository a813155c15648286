// Requests of an application with a key, checked as the handlers check them.
import { assertMayPass, BlockhouseError, type NamedKey, type RequestFields } from '../../core/index.ts';
import type { Figures, KeyLimits } from '../../core/keys/key-limits.ts';
import { checkedLimits, namedKey } from '../../core/keys/named-key.ts';

/** A key with these limits, in a group with `ofGroup` if that is given. */
export function keyWith(limits: Partial<KeyLimits> = {}, ofGroup?: Partial<Figures>, name = 'app'): NamedKey {
  const group = ofGroup === undefined ? null : 'team';
  const { models: _models, expiresAt: _expiresAt, group: _group, ...figures } = checkedLimits(ofGroup ?? {});
  return namedKey({ name, hash: '', createdAt: '', ...checkedLimits({ ...limits, group }) }, ofGroup && figures);
}

/** The field for which a request that passes as it is gets 403, by default for a key with every limit; undefined if it passes. */
export function forbiddenField(
  fields: RequestFields,
  body: Record<string, unknown>,
  limits: Partial<KeyLimits> = { usdPerDay: 1, tokensPerDay: 1, unpriced: 'allow', models: ['*'] },
) {
  try {
    assertMayPass(keyWith(limits), fields, { body, bytes: Buffer.from(JSON.stringify(body)), search: '' });
    return undefined;
  } catch (error) {
    if (!(error instanceof BlockhouseError) || error.code !== 'KEY_FORBIDDEN') throw error;
    return error.details?.[0]?.path;
  }
}
