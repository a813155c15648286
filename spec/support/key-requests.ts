// Requests of an application with a key, checked as the handlers check them.
import { assertMayPass, BlockhouseError, type RequestFields } from '../../core/index.ts';

const NO_LIMITS = { name: 'app', hash: '', createdAt: '', usdPerDay: null, tokensPerDay: null, unpriced: 'allow', models: null, expiresAt: null } as const;

/** The field for which a request that passes as it is gets 403, by default for a key with every limit; undefined if it passes. */
export function forbiddenField(
  fields: RequestFields,
  body: Record<string, unknown>,
  limits: object = { usdPerDay: 1, tokensPerDay: 1, unpriced: 'allow', models: ['*'] },
) {
  try {
    assertMayPass({ ...NO_LIMITS, ...limits }, fields, { body, bytes: Buffer.from(JSON.stringify(body)), search: '' });
    return undefined;
  } catch (error) {
    if (!(error instanceof BlockhouseError) || error.code !== 'KEY_FORBIDDEN') throw error;
    return error.details?.[0]?.path;
  }
}
