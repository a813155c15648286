// What people ask of prices and change about them. Types alone, so that programs that read `Core` read no more.
import type { PriceDocument, PriceList, ShownPrice } from '../types.ts';

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
  /** The effective price of each model that an entry or prices.json names, by name; with `model`, of that one. Rejects with WORKSPACE_DAMAGED, INVALID_REQUEST and CONNECTION_NOT_FOUND. */
  list(model?: string): Promise<PriceList>;
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
