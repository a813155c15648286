// What is known of a service before anybody has an entry for it. Adapters bring presets along, and presets.json has more. Pure: types only.
import type { PresetFields } from '../types.ts';

/** A known service that speaks the protocol of the adapter that brings it along. Only data. */
export interface Preset extends Omit<PresetFields, 'adapter'> {
  /** Absent where every account has an address of its own. */
  readonly baseURL?: string;
  /** What a base URL looks like, where there is none to give. */
  readonly baseURLForm?: string;
  /** What a local server is known by: a path, and a text in its answer. */
  readonly marks?: readonly { readonly path: string; readonly text: string }[];
  /** Where a server tells how much it can read, if its list does not: a path beside the version of its address, and the field. */
  readonly window?: { readonly path: string; readonly field: string };
  /** Where the facts were read, and when. */
  readonly source: string;
}

/** Presets by their names. */
export type Presets = Readonly<Record<string, Preset>>;

/** A preset with its protocol. */
export interface KnownPreset extends Preset {
  /** The id of the adapter. */
  readonly adapter: string;
}
