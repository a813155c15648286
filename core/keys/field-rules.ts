// The rules of a protocol's fields: what each of them decides, in whatever way its name is written. Pure: no I/O.

/** What a field decides besides the answer: where a call goes and who pays, which models work, what a token costs, costs besides the tokens, or input that is stored at the provider. */
export type FieldEffect = 'address' | 'models' | 'price' | 'spends' | 'unseen';

/** A field that decides more than the answer. Null and a missing field never do. */
export interface FieldRule {
  readonly decides: FieldEffect;
  /** Values that decide nothing; a list of such values neither. */
  readonly except?: readonly unknown[];
  /** The only members of the field that decide. */
  readonly members?: readonly string[];
  /** For lists of objects such as tools: the `type`s that decide nothing, in which * stands for any characters. An object without a type decides nothing. */
  readonly types?: readonly string[];
  /** The only members of such an object that may hold an object: some services name what they run by a member and not by the type. Without it, any may. */
  readonly parts?: readonly string[];
  /** The members of the field's objects, and of those in their `content`, that hold such lists. */
  readonly within?: readonly string[];
  /** For an address: a word that means something else deeper in a request, such as the region where a user is. */
  readonly isCommonWord?: true;
  /** What it holds are fields of further requests, so that each of them counts there, and every address. */
  readonly holdsRequests?: true;
}

/**
 * Every field of a protocol by its name, in lower case; `aws_*` is for all names that begin so, `*_base_url` for all that end so. `answer` is for fields that
 * decide about nothing but the answer, whose tokens are counted.
 */
export type RequestFields = Readonly<Record<string, 'answer' | FieldRule>>;

/** The rule of a field. Only the letters and digits of its name count, in whatever case and form they are written: `apiBase`, `api-base`, `API BASE`. */
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
  if (Object.hasOwn(fields, plain)) return onlyRule(fields[plain]);
  return ruleOfBare(bareRulesOf(fields), bareName(plain));
}

const PLAIN = /^[a-z0-9_-]*$/;

/** A name as parsers that ignore case compare it; U+017F and U+212A count as s and k there. */
export function folded(name: string): string {
  return PLAIN.test(name) ? name : name.toUpperCase().toLowerCase();
}

function onlyRule(field: RequestFields[string] | undefined): FieldRule | undefined {
  return field === 'answer' ? undefined : field;
}

type Patterns = readonly (readonly [part: string, rule: FieldRule])[];

/** The rules by names of which only letters and digits are left. */
interface BareRules {
  readonly names: ReadonlyMap<string, FieldRule>;
  readonly beginnings: Patterns;
  readonly endings: Patterns;
}

function ruleOfBare({ names, beginnings, endings }: BareRules, name: string): FieldRule | undefined {
  const known = names.get(name) ?? beginnings.find(([part]) => name.length > part.length && name.startsWith(part))?.[1];
  return known ?? endings.find(([part]) => name.length > part.length && name.endsWith(part))?.[1];
}

const bareRules = new WeakMap<RequestFields, BareRules>();

/** Made once for each protocol. */
function bareRulesOf(fields: RequestFields): BareRules {
  const known = bareRules.get(fields);
  if (known !== undefined) return known;
  const rules = Object.entries(fields).flatMap(([name, field]) => (field === 'answer' ? [] : [[name, bareName(name), field] as const]));
  const made = {
    names: new Map(rules.filter(([name]) => !name.includes('*')).map(([, bare, rule]) => [bare, rule])),
    beginnings: rules.filter(([name]) => name.endsWith('*')).map(([, bare, rule]) => [bare, rule] as const),
    endings: rules.filter(([name]) => name.startsWith('*')).map(([, bare, rule]) => [bare, rule] as const),
  };
  bareRules.set(fields, made);
  return made;
}

const BARE = /^[a-z0-9]*$/;
const DIVIDERS = /[^\p{L}\p{N}]+/gu;

/** The letters and digits of a folded name, those of full width and the like as usual ones. */
function bareName(name: string): string {
  return BARE.test(name) ? name : folded(name.normalize('NFKC')).replace(DIVIDERS, '');
}
