// The rules of a protocol's fields: what each of them decides, in whatever way its name is written. Pure: no I/O.
//
// letter-by-letter: a request may have megabytes of names in odd letters. Each letter is looked up in a table, since to normalise such names as texts takes seconds, for
//   which nobody else is served. The fields of all protocols have names of ASCII, so other letters are one as good as another.

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
  return ruleOfBare(bareRulesOf(fields), bareName(name));
}

const PLAIN = /^[a-z0-9_-]*$/;
/** The only letters that ASCII can come of: long s, the sign of Kelvin, i without a dot, sharp s, ligatures. */
const MAY_BE_ASCII = /^[\0-\x7f\u00df\u0131\u017f\u1e9e\u212a\ufb00-\ufb06]*$/;

/** A name as parsers that ignore case compare it with those of fields; U+017F and U+212A count as s and k there. One that can't be a field's stays as it is. */
export function folded(name: string): string {
  return PLAIN.test(name) || !MAY_BE_ASCII.test(name) ? name : name.toUpperCase().toLowerCase();
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
const NO_ASCII = /[^a-z0-9]+/g;
const DIVIDERS = /[^\p{L}\p{N}]+/gu;
/** Stands for letters that are none of ASCII. */
const OTHER = '\u00ff';
const CODE_POINTS = 0x11_0000;
/** Further code points are written as pairs. */
const LAST_SHORT = 0xffff;
/** More letters than any field has. */
const KEPT = 64;

/** What is left of each code point, as its place in `#texts` (letter-by-letter). */
class Letters {
  readonly #places = new Uint16Array(CODE_POINTS);
  /** The first is none: a code point that was not looked at yet. */
  readonly #texts = ['', ''];

  /** Of a name with more letters than any field has, those at its beginning and at its end. */
  bare(name: string): string {
    let head = '';
    let from = 0;
    while (from < name.length && head.length < KEPT) {
      const code = name.codePointAt(from) ?? 0;
      from += code > LAST_SHORT ? 2 : 1;
      head += this.#textOf(code);
    }
    let tail = '';
    for (let to = name.length; to > from && tail.length < KEPT; ) {
      const pair = name.codePointAt(Math.max(from, to - 2)) ?? 0;
      const code = pair > LAST_SHORT ? pair : name.charCodeAt(to - 1);
      to -= code > LAST_SHORT ? 2 : 1;
      tail = this.#textOf(code) + tail;
    }
    return head + tail;
  }

  #textOf(code: number): string {
    return this.#texts[this.#places[code] || this.#look(code)] ?? '';
  }

  #look(code: number): number {
    const text = String.fromCodePoint(code).normalize('NFKC').toUpperCase().toLowerCase().replace(DIVIDERS, '').replace(NO_ASCII, OTHER);
    let place = this.#texts.indexOf(text, 1);
    if (place < 0) place = this.#texts.push(text) - 1;
    this.#places[code] = place;
    return place;
  }
}

let letters: Letters | undefined;

/** The letters and digits of a name as usual ones, also those of full width and the like. */
function bareName(name: string): string {
  if (BARE.test(name)) return name;
  letters ??= new Letters();
  return letters.bare(name);
}
