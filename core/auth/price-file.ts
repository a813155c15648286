// The prices of `<workspace>/prices.json`, which `prices update` writes and people edit.
//
// last-good: a damaged file never counts as an empty one. Its last good content stays in use, and the bus reports the damage. If there was none, the price of every
//   model that the file might have is unknown: one of the price data in its place might be too low.
import { join } from 'node:path';
import { isObject } from '../base/json.ts';
import { parseBytes } from '../base/strict-json.ts';
import type { CoreBus } from '../bus.ts';
import { BlockhouseError } from '../errors.ts';
import { PriceDocument } from '../schemas/prices.ts';
import { compile, faultOf, type Validator } from '../schemas/validate.ts';
import { type FileState, FreshFile } from '../store/files/fresh-file.ts';
import type { OwnRates } from '../types.ts';
import { plainModel } from './endpoint.ts';

/** The name of the file in a workspace. */
export const PRICES_FILE = 'prices.json';
/** A larger file would not be read again. */
const MAX_BYTES = 1024 * 1024;
/** A connection or an adapter, and a model of it. */
const NAME = /^[a-z][a-z0-9-]{0,31}\/.{1,256}$/;
const EMPTY: PriceDocument = { models: {} };
const check: Validator<PriceDocument> = compile(PriceDocument);

/** Finds prices by connection and model. */
export interface FiledPrices {
  /** `unknown` while the file can't be read and never could (last-good); undefined for a model that it does not have. */
  ratesOf(connection: string, model: string): OwnRates | 'unknown' | undefined;
}

/** The file. */
export class PriceFile implements FiledPrices {
  readonly #file: FreshFile;
  #good: PriceDocument | undefined;
  #fault: string | undefined;
  #models: ReadonlyMap<string, OwnRates> = new Map();
  /** By other spellings of the names: a model must not be cheaper under one of them. */

  /** `now` in monotonic milliseconds. */
  constructor(workspace: string, bus: CoreBus, now?: () => number) {
    const take = (state: FileState): void => {
      try {
        this.#good = parsePrices(state);
        const exact = Object.entries(this.#good.models);
        this.#models = new Map([...exact.map(([name, rates]) => [plainName(name), rates] as const), ...exact]);
        this.#fault = undefined;
      } catch (error) {
        this.#fault = (error as Error).message;
        bus.emit('prices.damaged', { file: this.#file.path, reason: this.#fault });
      }
    };
    this.#file = new FreshFile(join(workspace, PRICES_FILE), take, now);
  }

  ratesOf(connection: string, model: string): OwnRates | 'unknown' | undefined {
    this.#file.refresh();
    return this.#good === undefined ? 'unknown' : (this.#models.get(`${connection}/${model}`) ?? this.#models.get(`${connection}/${plainModel(model)}`));
  }

  /** Throws WORKSPACE_DAMAGED if the file can't be used now. */
  document(): PriceDocument {
    this.#file.refresh(true);
    if (this.#good === undefined || this.#fault !== undefined)
      throw new BlockhouseError('WORKSPACE_DAMAGED', `${PRICES_FILE} of the workspace can't be used: ${this.#fault}. Repair it or remove it.`);
    return this.#good;
  }

  /** Replaces the content as a whole. Throws WORKSPACE_DAMAGED for a file that can't be used, and an Error for a content that is too large. */
  async replace(document: PriceDocument): Promise<void> {
    checkPrices(document);
    const text = `${JSON.stringify(document, null, 1)}\n`;
    if (Buffer.byteLength(text) > MAX_BYTES) throw new Error(`${PRICES_FILE} would be larger than ${MAX_BYTES} bytes; give it fewer models`);
    await this.#file.rewrite(() => {
      this.document(); // overwriting what can't be read would lose it
      return text;
    });
  }
}

/** Another spelling of a model, which a server may take for it, has no other price. */
function plainName(name: string): string {
  const at = name.indexOf('/') + 1;
  return name.slice(0, at) + plainModel(name.slice(at));
}

/** Throws an Error that names the field. */
export function parsePrices(state: FileState): PriceDocument {
  if (state.kind === 'missing') return EMPTY;
  if (state.kind === 'unreadable') throw new Error(state.reason);
  const json = parseBytes(Buffer.from(state.text));
  if (!isObject(json)) throw new Error('it must contain a JSON object with the prices in models');
  checkPrices(json);
  return json;
}

/** Throws an Error that names the field. */
export function checkPrices(json: unknown): asserts json is PriceDocument {
  try {
    check(json);
  } catch (error) {
    throw new Error(faultOf(error));
  }
  const wrong = Object.keys(json.models).find((name) => !NAME.test(name));
  if (wrong !== undefined) throw new Error(`models[${JSON.stringify(wrong.slice(0, 64))}] must be named connection/model`);
}
