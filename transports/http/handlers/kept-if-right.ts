// An entry of auth.json stays as a request has changed it if its provider takes what it says now; otherwise it becomes what it was.
//
// write-only: what is stored is in no answer, no log and no error.
import { BlockhouseError, type Core, type CredentialStore } from '../../../core/index.ts';
import type { RouteContext } from '../wire/route.ts';

/** A change of an entry. */
interface Change {
  readonly fields: Parameters<CredentialStore['takeBack']>[1];
  /** The entry as it was. */
  readonly before: Parameters<CredentialStore['takeBack']>[2];
  /** What the change has brought, and no error may repeat. */
  readonly secrets: readonly string[];
}

/** Checks what is stored now, since a key belongs to the address beside it. Rejects with INVALID_REQUEST and the words of a provider that refuses it. */
export async function keepIfRight(context: RouteContext, name: string, { fields, before, secrets }: Change): Promise<void> {
  const { credentials } = context.core;
  try {
    await assertAccepted(context, name, {}, secrets);
  } catch (error) {
    await storeOf({ credentials }).takeBack(name, fields, before);
    throw error;
  }
}

/** Asks the provider. Rejects with INVALID_REQUEST and its words if it refuses. */
export async function assertAccepted(
  { core, signal, requestId }: RouteContext,
  name: string,
  config: { readonly apiKey?: string },
  secrets: readonly string[],
): Promise<void> {
  const { ok, detail } = await core.verify(name, { config }, { signal, requestId });
  if (!ok) throw new BlockhouseError('INVALID_REQUEST', withoutSecrets(detail, secrets), { details: [{ path: 'apiKey', message: 'was not accepted' }] });
}

/** The credentials of a core that has a workspace. */
export function storeOf({ credentials }: Pick<Core, 'credentials'>): CredentialStore {
  if (credentials === undefined) throw new Error('This core has no workspace.');
  return credentials;
}

/** write-only: a provider may repeat the key that it refuses. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '••••'), text);
}
