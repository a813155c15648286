// Handlers of `/api/credentials`: whether each provider has a key and where it is, never the key itself.
//
// write-only: what is stored here is in no answer, no log and no error.
import {
  BlockhouseError,
  type Core,
  type Credential,
  compile,
  invalidRequest,
  type ShownSetting,
  schemas,
  settingFault,
  type Validator,
} from '../../../core/index.ts';
import { OTHER_BODY_BYTES, readJsonBody } from '../wire/body.ts';
import { queryChoice } from '../wire/query.ts';
import { ok } from '../wire/reply.ts';
import { param, type RouteContext } from '../wire/route.ts';
import { keepIfRight, storeOf } from './kept-if-right.ts';

const checkFields: Validator<Record<string, string>> = compile(schemas.SetCredential);

/** `{credentials}`, one for each adapter. */
export const list = async ({ core }: RouteContext) => {
  const shown = core.settings();
  const status = await core.status();
  return ok({ credentials: status.map(({ id, ready, hasSecret }) => credentialOf(core, id, ready || hasSecret, shown)) });
};

/** `{success, message}`; they are checked with the provider and put back if it refuses them, unless `?unchecked=true`. Fails with INVALID_REQUEST, WRONG_STATE. */
export const set = async (context: RouteContext) => {
  const { core } = context;
  const { id, displayName, settings } = core.adapter(param(context, 'adapter'));
  const fields = await readJsonBody(context, OTHER_BODY_BYTES, false);
  checkFields(fields);
  for (const [name, value] of Object.entries(fields)) {
    const spec = Object.hasOwn(settings, name) ? settings[name] : undefined;
    // What was meant as a value may stand in the place of a name.
    if (spec === undefined)
      throw invalidRequest('', `The body has a field that is no setting of ${displayName}; its settings are ${Object.keys(settings).join(', ')}.`);
    const fault = settingFault(name, value, spec);
    if (fault !== undefined) throw invalidRequest(name, fault.replace(`${name} `, ''));
    assertNotInEnvironment(core, id, name);
  }
  const before = await storeOf(core).update(id, fields);
  if (queryChoice(context.req, 'unchecked', ['false', 'true']) !== 'true')
    await keepIfRight(context, id, { fields, before, secrets: secretsIn(core, id, fields) });
  return ok({ success: true as const, message: `Stored ${Object.keys(fields).join(', ')} of ${displayName} in auth.json.` });
};

/** `{success, message}`. Fails with WRONG_STATE for a key that is in the environment. */
export const remove = async (context: RouteContext) => {
  const { core } = context;
  const { id, displayName } = core.adapter(param(context, 'adapter'));
  const wasStored = await storeOf(core).remove(id);
  if (!wasStored) for (const { field } of core.settings().filter(({ adapter }) => adapter === id)) assertNotInEnvironment(core, id, field);
  return ok({ success: true as const, message: wasStored ? `Removed ${displayName} from auth.json.` : `auth.json has no entry for ${displayName}.` });
};

function credentialOf(core: Core, id: string, configured: boolean, shown: readonly ShownSetting[]): Credential {
  const own = shown.filter(({ adapter, source }) => adapter === id && !source.includes(', not used'));
  const secret = secretIn(core, id, own);
  const address = own.find(({ field }) => field === 'baseURL');
  const source = sourceOf(core, id, configured, own);
  return {
    adapter: id,
    configured,
    source,
    ...(source === 'env' && secret !== undefined && { variable: secret.source }),
    hint: hintIn(secret),
    baseURL: address?.value ?? null,
  };
}

/** Where the credentials of an adapter come from: `chain` is the provider's own search, null where none are there or needed. */
export function sourceOf(core: Core, id: string, configured: boolean, shown: readonly ShownSetting[]): Credential['source'] {
  const secret = secretIn(core, id, shown);
  const { authRequired, connection } = core.adapter(id);
  if (secret === undefined) return configured && authRequired && connection === undefined ? 'chain' : null; // a connection is never searched for
  return secret.source === 'auth.json' ? 'auth.json' : 'env';
}

function secretIn(core: Core, id: string, shown: readonly ShownSetting[]): ShownSetting | undefined {
  const { settings } = core.adapter(id);
  return shown.find(({ adapter, source, field }) => adapter === id && !source.includes(', not used') && settings[field]?.secret === true);
}

/** The end of a masked secret; null for one that is masked whole. */
function hintIn(secret: ShownSetting | undefined): string | null {
  const end = secret?.value.replace(/^•+/, '') ?? '';
  return end === '' ? null : end;
}

function assertNotInEnvironment(core: Core, id: string, field: string): void {
  const found = core.settings().find((setting) => setting.adapter === id && setting.field === field);
  if (found === undefined || found.source.startsWith('auth.json')) return;
  throw new BlockhouseError('WRONG_STATE', `${field} comes from the environment variable ${found.source}. Change it there and restart the server.`);
}

/** The address that was sent is no secret: a refusal must name it. */
function secretsIn(core: Core, id: string, fields: Readonly<Record<string, string>>): string[] {
  const { settings } = core.adapter(id);
  return Object.entries(fields).flatMap(([name, value]) => (settings[name]?.secret === true ? [value] : []));
}
