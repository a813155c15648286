// What people ask of connections and of prices, and change about them. Types alone, so that programs that read `Core` read no more.
import type { EntryFields } from '../auth/credentials.ts';
import type { ChangeEntryKey, DetectedServer, EntryKey, PriceDocument, PriceList, ShownConnection, ShownPreset, ShownPrice, Usage } from '../types.ts';

/** What `update` would do. */
export interface PriceUpdate {
  readonly document: PriceDocument;
  /** connection/model. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly gone: readonly string[];
  /** Models of the price data that have no single price. */
  readonly skipped: number;
}

/** The prices of a workspace. */
export interface PriceBook {
  /** The effective price of each model that an entry or prices.json names, by name; with `model`, of that one, and with `usage` what a call costs that has used as much. Rejects with WORKSPACE_DAMAGED, INVALID_REQUEST and CONNECTION_NOT_FOUND. */
  list(model?: string, usage?: Usage): Promise<PriceList>;
  /** Writes the price into the entry of its connection. Rejects with INVALID_REQUEST naming the field, and CONNECTION_NOT_FOUND. */
  set(model: string, body: unknown): Promise<ShownPrice>;
  /** Removes the price from the entry of its connection; false if there was none. Rejects as `set` does. */
  remove(model: string): Promise<boolean>;
  /** True if the price data have a price of provider/model. */
  isKnown(name: string): Promise<boolean>;
  /** What a file would change in prices.json. Throws INVALID_REQUEST for one that can't be used, and WORKSPACE_DAMAGED. */
  update(path: string, bytes: Uint8Array): PriceUpdate;
  /** Writes prices.json. Rejects with WORKSPACE_DAMAGED for one that can't be read. */
  replace(update: PriceUpdate): Promise<void>;
}

/** The connections of a workspace. No answer has a secret. */
export interface ConnectionBook {
  /** The adapters, which are the connections of their own names, and all others. */
  list(): ShownConnection[];
  /** Changes fields of an entry, or makes one; null removes a field. Rejects with INVALID_REQUEST naming the field. */
  set(name: string, change: EntryFields): Promise<void>;
  /** Checks entries of a file as `set` checks one, and adds them, unless it `isTrial`. Rejects with INVALID_REQUEST. */
  adopt(entries: ReadonlyMap<string, EntryFields>, replaces: boolean, isTrial?: boolean): Promise<void>;
  /** Rejects with CONNECTION_NOT_FOUND for a name without an entry. */
  remove(name: string): Promise<void>;
  /**
   * Adds a key to an entry, beside the one or those that it has, and resolves with the labels of all. Rejects with INVALID_REQUEST for an entry whose key comes
   * from a program, and for a label that is taken, and with CONNECTION_NOT_FOUND for a name of no connection.
   */
  addKey(name: string, key: EntryKey): Promise<string[]>;
  /** Changes the label, the terms or the place of a key of several, and resolves with the labels of all. Rejects as `removeKey` does. */
  changeKey(name: string, label: string, change: ChangeEntryKey): Promise<string[]>;
  /** Removes a key of several by its label, and resolves with the labels of the others. Rejects with INVALID_REQUEST and CONNECTION_NOT_FOUND. */
  removeKey(name: string, label: string): Promise<string[]>;
  /** All presets, in the order of their names. */
  presets(): ShownPreset[];
  /** The local servers that answer by the marks of a preset; of several presets of one port, the first that fits. */
  detect(): Promise<DetectedServer[]>;
}
