// Reduces the parameters of a tool to what Amazon's Nova models take: they answer 400 to any keyword at the top of the schema besides three, such as `$schema` or
// `$defs`, so what a reference names is put in its place. Pure: no I/O.
// Source: LiteLLM pull request 10062 and zed issue 31815 (`extraneous key [definitions] is not permitted`).
import { isObject } from '../../core/base/json.ts';
import { objectSchema } from '../shared/tools.ts';

type Schema = Record<string, unknown>;

const KEPT: ReadonlySet<string> = new Set(['type', 'properties', 'required']);
/** Keywords that restrict nothing by themselves, so leaving them out needs no warning. */
const SILENT: ReadonlySet<string> = new Set('$schema $id $comment $defs definitions title description default example examples deprecated'.split(' '));
/** A reference may name a schema with references, so few definitions can come to very many values. */
const MAX_VALUES = 10_000;

/** The reduced schema, and the keywords that were left out although they restrict the arguments. */
export function novaSchema(given: Schema | undefined): { readonly schema: Schema; readonly dropped: readonly string[] } {
  const inlined = new References(given ?? {});
  const schema = objectSchema(Object.fromEntries(Object.entries(given ?? {}).flatMap(([name, value]) => (KEPT.has(name) ? [[name, inlined.in(value)]] : []))));
  const dropped = Object.entries(given ?? {}).flatMap(([name, value]) => (KEPT.has(name) || SILENT.has(name) || value === true ? [] : [name]));
  return { schema, dropped: [...dropped, ...(inlined.isIncomplete ? ['$ref'] : [])] };
}

/** Puts definitions in the place of references to them. */
class References {
  /** True once a reference was left out. */
  isIncomplete = false;
  readonly #root: Schema;
  readonly #open = new Set<string>();
  #values = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  in(value: unknown): unknown {
    this.#values += 1;
    if (Array.isArray(value)) return value.map((one) => this.in(one));
    if (!isObject(value)) return value;
    const { $ref, ...beside } = value;
    if (typeof $ref !== 'string') return this.#fields(value);
    return { ...this.#named($ref), ...this.#fields(beside) };
  }

  #fields(value: Schema): Schema {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, this.in(one)]));
  }

  /** {} for a reference that leads out of the definitions, or back to where it stands. */
  #named($ref: string): Schema {
    const [, list = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec($ref) ?? [];
    const lists = this.#root[list];
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    const found = isObject(lists) && Object.hasOwn(lists, key) ? lists[key] : undefined;
    if (!isObject(found) || this.#open.has($ref) || this.#values > MAX_VALUES) {
      this.isIncomplete = true;
      return {};
    }
    this.#open.add($ref);
    const schema = this.in(found) as Schema;
    this.#open.delete($ref);
    return schema;
  }
}
