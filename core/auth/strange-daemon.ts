// A daemon that nobody has configured, at the default address of a provider on this machine.
//
// not-by-chance: any user of the machine may listen at such an address. A name of a model that somebody meant for another provider does not lead there because
//   the daemon lists that name, if the daemon is another person's.
import { urlOf } from '../base/url.ts';
import type { SettingsSpec } from './settings.ts';
import { isListenedOnByPerson, type ReadTable } from './socket-owner.ts';

/** True if a provider has its default address, since `configured` has none of it, and a program of another person listens there (not-by-chance). */
export async function isStrangeDaemon(spec: SettingsSpec, configured: readonly { readonly field: string }[], read?: ReadTable): Promise<boolean> {
  const address = urlOf(spec['baseURL']?.default ?? '');
  if (address === undefined || configured.some(({ field }) => field === 'baseURL')) return false;
  return isListenedOnByPerson(address.hostname, Number(address.port), read);
}
