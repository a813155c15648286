// What the answers of models whose price only answers tell mean for a key that refuses unknown prices. Pure: no I/O.
//
// refused-once: of such a model, the key gets one answer without a bill, and then none until one has come. Other keys ask on: what one of them does shuts nobody else out.
// few-names: a server may take any name for a model. So after answers of FEW_MODELS of them without a bill, the key asks no further model of that connection.
// first-alone: until the first bill has come, such a key has one call of that model under way, and FEW_MODELS of all such models of the connection; the others wait. Else each
//   of very many at once would be the first.
import { plainModel } from '../gateway/pricing.ts';

const FEW_MODELS = 4;
/** Of keys and connections. */
const MAX_KNOWN = 10_000;

/** A call, by what matters here. A server may take another spelling for the same model. */
interface AskedModel {
  readonly key: string | undefined;
  readonly adapterId: string;
  readonly model: string;
}

/** A call that is the first of its model. */
class First {
  readonly hold: object;
  readonly ended: Promise<void>;
  end: () => void = () => undefined;

  constructor(hold: object) {
    this.hold = hold;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }
}

/** What is known of one key at one connection. */
interface Known {
  /** Of which an answer came without a bill. */
  readonly unbilled: Set<string>;
  /** By model. */
  readonly first: Map<string, First>;
}

/** Of all keys. */
export class UnbilledModels {
  /** No name of a key has a blank. */
  readonly #known = new Map<string, Known>();

  /** An answer has come without a bill. */
  note(call: AskedModel): void {
    const { unbilled } = this.#knownOf(call);
    if (unbilled.size < FEW_MODELS) unbilled.add(plainModel(call.model));
  }

  /** refused-once, few-names. */
  isRefused(call: AskedModel): boolean {
    const unbilled = this.#known.get(nameOf(call))?.unbilled;
    return unbilled !== undefined && (unbilled.size >= FEW_MODELS || unbilled.has(plainModel(call.model)));
  }

  /** first-alone: resolves when a call has ended that this one, of `hold`, waits for. Undefined if it is a first one itself. */
  firstBefore(call: AskedModel, hold: object): Promise<void> | undefined {
    const { first, unbilled } = this.#knownOf(call);
    const model = plainModel(call.model);
    const known = first.get(model);
    if (known !== undefined) return known.hold === hold ? undefined : known.ended;
    const [oldest] = first.values();
    if (oldest !== undefined && first.size + unbilled.size >= FEW_MODELS) return oldest.ended;
    first.set(model, new First(hold));
    return undefined;
  }

  /** The call of `hold` has ended. */
  end(call: AskedModel, hold: object): void {
    if (this.#known.size === 0) return;
    const name = nameOf(call);
    const known = this.#known.get(name);
    const model = plainModel(call.model);
    const first = known?.first.get(model);
    if (known === undefined || first?.hold !== hold) return;
    known.first.delete(model);
    if (known.first.size === 0 && known.unbilled.size === 0) this.#known.delete(name);
    first.end();
  }

  #knownOf(call: AskedModel): Known {
    const name = nameOf(call);
    const known = this.#known.get(name) ?? { unbilled: new Set<string>(), first: new Map<string, First>() };
    if (!this.#known.has(name)) {
      if (this.#known.size >= MAX_KNOWN) this.#dropOldest();
      this.#known.set(name, known);
    }
    return known;
  }

  /** Of those for which nobody waits. */
  #dropOldest(): void {
    for (const [name, { first }] of this.#known) if (first.size === 0) return void this.#known.delete(name);
  }
}

function nameOf({ key, adapterId }: AskedModel): string {
  return `${key} ${adapterId}`;
}
