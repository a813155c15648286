// An entry of auth.json with what it is built on, and where it leads. Pure: no I/O.
import type { Entry } from '../../auth/entry.ts';
import type { Preset } from '../../auth/preset.ts';
import { isAddress, placeOf } from '../../auth/settings.ts';
import type { Adapter } from '../../ports.ts';

/** An entry with what it is built on. */
export interface BuiltEntry {
  readonly entry: Entry;
  /** The adapter whose protocol it speaks. */
  readonly base: Adapter;
  readonly preset: Preset | undefined;
}

/** The settings that say where calls go: one base URL, or the endpoints of Bedrock. */
export function addressFields({ base }: BuiltEntry): string[] {
  return Object.keys(base.settings).filter((field) => isAddress(field, base.settings[field] ?? {}));
}

/** Where an entry without an address of its own leads. */
export function usualAddress({ base, preset }: BuiltEntry, field: string): string | undefined {
  return (field === 'baseURL' ? preset?.baseURL : undefined) ?? base.settings[field]?.default;
}

/** Where an entry leads by one of its addresses. */
export function addressIn(built: BuiltEntry, field: string): string | undefined {
  return built.entry.settings[field] ?? usualAddress(built, field);
}

/** Where an entry leads, with the paths: on a shared host, another path may be another tenant's. */
export function homeOf(built: BuiltEntry): string {
  return [built.base.id, ...addressFields(built).map((field) => placeOf(addressIn(built, field)) ?? '')].join(' ');
}
