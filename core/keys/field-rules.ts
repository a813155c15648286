// The rules of a protocol's fields: what each of them decides, in whatever way its name is written. Pure: no I/O.

/** What a field decides besides the answer: where a call goes and who pays, which models work, what a token costs, costs besides the tokens, or input that is stored at the provider. */
export type FieldEffect = 'address' | 'models' | 'price' | 'spends' | 'unseen';

/** A field that decides more than the answer. Null and a missing field never do. */
export interface FieldRule {
  readonly decides: FieldEffect;
  /** Values that decide nothing; a list of such values neither. */
  readonly except?: readonly unknown[];
  /** The one member of the field that decides. */
  readonly member?: string;
  /** For lists of objects such as tools: the `type`s that decide nothing, in which * stands for any characters. An object without a type decides nothing. */
  readonly types?: readonly string[];
  /** The members of the field's objects, and of those in their `content`, that hold such lists. */
  readonly within?: readonly string[];
  /** For an address: a word that means something else deeper in a request, such as the region where a user is. */
  readonly isCommonWord?: true;
  /** What it holds are fields of further requests, so that every address counts there. */
  readonly holdsRequests?: true;
}

/** Every field of a protocol by its name, in lower case; `aws_*` is for all names that begin so. `answer` is for fields that decide about nothing but the answer, whose tokens are counted. */
export type RequestFields = Readonly<Record<string, 'answer' | FieldRule>>;

/** The rule of a field, in whatever letters its name is written. An address counts also without underscores, and with hyphens. */
export function ruleOf(fields: RequestFields, name: string): FieldRule | undefined {
  if (Object.hasOwn(fields, name)) return onlyRule(fields[name]);
  const known = otherRules(fields);
  if (known.has(name)) return known.get(name);
  const rule = ruleOfOther(fields, name);
  if (known.size >= MAX_KNOWN) known.clear();
  if (name.length <= MAX_KNOWN_LENGTH) known.set(name, rule);
  return rule;
}

/** Names that are no field as they are written come again and again, such as `role` in every message. */
const MAX_KNOWN = 1000;
const MAX_KNOWN_LENGTH = 64;
const knownRules = new WeakMap<RequestFields, Map<string, FieldRule | undefined>>();

function otherRules(fields: RequestFields): Map<string, FieldRule | undefined> {
  let known = knownRules.get(fields);
  if (known === undefined) {
    known = new Map();
    knownRules.set(fields, known);
  }
  return known;
}

function ruleOfOther(fields: RequestFields, name: string): FieldRule | undefined {
  const plain = folded(name);
  return Object.hasOwn(fields, plain) ? onlyRule(fields[plain]) : addressOf(fields, plain);
}

const PLAIN = /^[a-z0-9_-]*$/;

/** A name as parsers that ignore case compare it; U+017F and U+212A count as s and k there. */
export function folded(name: string): string {
  return PLAIN.test(name) ? name : name.toUpperCase().toLowerCase();
}

function onlyRule(field: RequestFields[string] | undefined): FieldRule | undefined {
  return field === 'answer' ? undefined : field;
}

interface Addresses {
  readonly names: ReadonlyMap<string, FieldRule>;
  readonly beginnings: readonly (readonly [beginning: string, rule: FieldRule])[];
}

const knownAddresses = new WeakMap<RequestFields, Addresses>();

function addressOf(fields: RequestFields, name: string): FieldRule | undefined {
  const { names, beginnings } = addressesOf(fields);
  const bare = unseparated(name);
  return names.get(bare) ?? beginnings.find(([beginning]) => bare.length > beginning.length && bare.startsWith(beginning))?.[1];
}

/** Made once for each protocol. */
function addressesOf(fields: RequestFields): Addresses {
  const known = knownAddresses.get(fields);
  if (known !== undefined) return known;
  const rules = Object.entries(fields).flatMap(([name, field]) => (field !== 'answer' && field.decides === 'address' ? [[name, field] as const] : []));
  const [whole, begun] = [rules.filter(([name]) => !name.endsWith('*')), rules.filter(([name]) => name.endsWith('*'))];
  const made = {
    names: new Map(whole.map(([name, rule]) => [unseparated(name), rule])),
    beginnings: begun.map(([name, rule]) => [unseparated(name.slice(0, -1)), rule] as const),
  };
  knownAddresses.set(fields, made);
  return made;
}

function unseparated(name: string): string {
  return name.includes('_') || name.includes('-') ? name.replace(/[_-]+/g, '') : name;
}
