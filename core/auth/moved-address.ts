// What a change of a stored address means for the secrets beside it. Pure: no I/O.
//
// given-again: A stored secret belongs to the address that it was stored for. A change that leads to another origin, or on a host that is not
//   the provider's own to another path, must bring the secret again; else
//   a person who may write an address but can't read the key could have the key sent anywhere.
import { invalidRequest } from '../errors.ts';
import { isAddress, originOf, placeOf, type SettingsSpec } from './settings.ts';

type Values = Readonly<Record<string, string>>;

/** The stored secrets that a change has to bring again, since it leads their entry to another address. */
export function secretsToRenew(spec: SettingsSpec, stored: Values, change: Values): string[] {
  if (movedAddress(spec, stored, change) === undefined) return [];
  return Object.keys(stored).filter((name) => spec[name]?.secret && change[name] === undefined);
}

/** given-again. Throws INVALID_REQUEST naming the secret. */
export function assertSecretsRenewed(spec: SettingsSpec, stored: Values, change: Values): void {
  const [missing] = secretsToRenew(spec, stored, change);
  const field = movedAddress(spec, stored, change);
  if (missing === undefined || field === undefined) return;
  const [from, to] = [originOf(addressIn(spec, field, stored)), originOf(addressIn(spec, field, change))];
  const places = from === to ? `another path of ${from}, and is not taken to this one` : `${from ?? "the provider's own address"}, and is not taken to ${to}`;
  throw invalidRequest(
    missing,
    `is needed again with the new ${field}: the stored one belongs to ${places}. Send both in one change, or remove what is stored first.`,
  );
}

/** The first field that leads elsewhere. */
function movedAddress(spec: SettingsSpec, stored: Values, change: Values): string | undefined {
  const addresses = Object.keys(change).filter((name) => isAddress(name, spec[name] ?? {}));
  return addresses.find((name) => {
    const [from, to] = [addressIn(spec, name, stored), addressIn(spec, name, change)];
    const isOwn = originOf(to) === originOf(spec[name]?.default);
    return isOwn ? originOf(from) !== originOf(to) : placeOf(from) !== placeOf(to);
  });
}

function addressIn(spec: SettingsSpec, name: string, values: Values): string | undefined {
  const value = values[name];
  return value === undefined || value === '' ? spec[name]?.default : (spec[name]?.normalize?.(value) ?? value);
}
