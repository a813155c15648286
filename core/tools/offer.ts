// The tools of a run: which ones the model is offered, under which names, and what is known of each. Pure: no I/O.
//
// same-list: the tools of a run are fixed when it begins, sorted by name, so that the prompt cache of the provider stays good. Afterwards the list only grows at its
//   end, by what is in the journal: what the model has found, and block__read_result once a result was cut. One whose definition has changed since is not called
//   any more.
// same-names: a name depends on all tools of the catalogue, not on those that are offered, so a tool that is found later changes no other name.
import { isObject, SCHEMAS_BY_NAME } from '../base/json.ts';
import { estimateTokens } from '../base/tokens.ts';
import type { Tool, ToolMarks } from '../types.ts';
import { type ArgumentCheck, argumentCheck, assertBounded, prepareChecks } from './arguments.ts';
import { findToolDefinition, FIND_TOOL, FREE_TOOLS, readResultDefinition, readSkillDefinition } from './builtin/definitions.ts';
import { isRepeatable, type KeyArgument, keyArgumentOf, marksOf, usdOf, withoutArgument } from './marks.ts';
import { namesFor } from './names.ts';
import { fitsPattern } from './patterns.ts';
import { isOffered } from './policy.ts';
import type { Catalogue, JsonRecord, ServerSettings, ToolDefinition } from './port.ts';
import { beginningOf } from './results.ts';
import type { ToolSettings } from './settings.ts';

const MAX_DESCRIPTION = 2000;
/** Characters that people don't see and models obey. */
const INVISIBLE = /(?![\n\t])[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** JSON in which nothing is invisible, as most of it is. */
const PLAIN_JSON = /^(?:[ -[\]-~]|\\["\\/nt])*$/;

/** A text as people see it. */
export function withoutInvisible(text: string): string {
  return text.replaceAll(INVISIBLE, '');
}

/** A tool of a run. */
export interface OfferedTool {
  /** `server/tool`. */
  readonly id: string;
  readonly definition: ToolDefinition;
  readonly settings: ServerSettings;
  readonly marks: ToolMarks;
  readonly key: KeyArgument | undefined;
  readonly isRepeatable: boolean;
  /** What one call costs. */
  readonly usd: number | undefined;
  /** It shows what is approved or was read, so its calls need no rule. */
  readonly isFree: boolean;
  readonly check: ArgumentCheck;
  /** As the model sees it. */
  readonly shown: Tool;
}

/** The tools of a run, and why others are missing. */
export interface Offer {
  readonly tools: readonly OfferedTool[];
  readonly problems: readonly string[];
  /** Of a new run: what the model must find, by `server/tool`. */
  readonly toFind?: readonly string[];
}

/** What a new run begins with besides the rules. */
export interface OfferOptions {
  /** Tools whose calls the model sees, by `server/tool`. */
  readonly called?: ReadonlySet<string>;
  /** A result was cut in an earlier run of the message. */
  readonly hasCut?: boolean;
  /** There is a skill to read. */
  readonly hasSkills?: boolean;
}

/** What a new run offers. What does not fit in tools.limits.definitionTokens must be found: then whole servers are offered, the smallest first, in half of it. */
export function offerFor(catalogue: Catalogue, settings: ToolSettings, options: OfferOptions = {}): Offer {
  const index = indexOf(catalogue);
  const { isAll, chosen, allowed, own } = planFor(catalogue, settings, options);
  const unbounded = ruledIn(catalogue, settings).flatMap((tool) => index.unbounded(tool) ?? []);
  const others = isAll ? [] : without(allowed, chosen);
  const { tools, problems } = index.offered([...chosen, ...own, ...(others.length > 0 ? [findToolDefinition(others)] : [])]);
  const told = catalogue.problems.map(({ server, problem }) => `${server}: ${problem}`);
  const toFind = others.length > 0 ? [`${others.length} tools do not fit into tools.limits.definitionTokens and must be found with ${FIND_TOOL}`] : [];
  return { tools: tools.toSorted(byName), problems: [...told, ...toFind, ...unbounded, ...problems], toFind: others.map(idOf) };
}

/** What `offerFor` needs compiled is, when this resolves. */
export async function prepareOffer(catalogue: Catalogue, settings: ToolSettings, options: OfferOptions = {}): Promise<void> {
  const { chosen, own } = planFor(catalogue, settings, options);
  await indexOf(catalogue).prepare([...chosen, ...own]);
}

/** The same for `offerAgain`. */
export async function prepareRecorded(catalogue: Catalogue, recorded: readonly string[]): Promise<void> {
  const records = new Set(recorded);
  await indexOf(catalogue).prepare(catalogue.tools.filter((tool) => records.has(recordOf(tool))));
}

interface Plan {
  readonly isAll: boolean;
  readonly allowed: readonly ToolDefinition[];
  readonly chosen: readonly ToolDefinition[];
  readonly own: readonly ToolDefinition[];
}

function planFor(catalogue: Catalogue, settings: ToolSettings, { called = new Set(), hasCut = false, hasSkills = false }: OfferOptions): Plan {
  const index = indexOf(catalogue);
  const allowed = allowedIn(catalogue, settings);
  const own = [...(hasCut ? [readResultDefinition] : []), ...(hasSkills ? [readSkillDefinition] : [])];
  const isAll = index.tokensOf([...allowed, ...own]) <= settings.limits.definitionTokens;
  return { isAll, allowed, chosen: isAll ? allowed : chosenIn(allowed, index, settings, called), own };
}

/** The tools of a run that goes on: of those in its record, the ones that are as they were, and at the end what came later (same-list). */
export function offerAgain(
  catalogue: Catalogue,
  recorded: readonly string[],
  { settings, added = [] }: { readonly settings?: ToolSettings; readonly added?: readonly string[] } = {},
): Offer {
  const index = indexOf(catalogue);
  const known = new Map([...catalogue.tools, readResultDefinition, readSkillDefinition].map((tool) => [recordOf(tool), tool]));
  const begun = recorded.flatMap((record) => known.get(record) ?? []);
  const finder = findToolDefinition(settings === undefined ? [] : without(allowedIn(catalogue, settings), begun));
  if (recorded.includes(recordOf(finder))) begun.push(finder);
  const first = index.offered(begun);
  const later = index.offered(added.flatMap((record) => (recorded.includes(record) ? [] : (known.get(record) ?? []))));
  return { tools: [...first.tools.toSorted(byName), ...later.tools], problems: [...first.problems, ...later.problems] };
}

function ruledIn(catalogue: Catalogue, settings: ToolSettings): ToolDefinition[] {
  return catalogue.tools.filter((tool) => isOffered(settings, idOf(tool)));
}

/** What the rules of a block let its model see, as far as the schemas are within their bounds. */
export function allowedIn(catalogue: Catalogue, settings: ToolSettings): ToolDefinition[] {
  const index = indexOf(catalogue);
  return ruledIn(catalogue, settings).filter((tool) => index.unbounded(tool) === undefined);
}

/** False for a tool whose schema can't be used. */
export function isUsable(catalogue: Catalogue, definition: ToolDefinition): boolean {
  return indexOf(catalogue).offered([definition]).tools.length > 0;
}

/** About how many tokens the definition of a tool takes in a prompt. */
export function tokensOf(catalogue: Catalogue, definitions: readonly ToolDefinition[]): number {
  return indexOf(catalogue).tokensOf(definitions);
}

/** The name under which a model sees a tool. */
export function shownName(catalogue: Catalogue, definition: ToolDefinition): string {
  return indexOf(catalogue).nameOf(definition);
}

/** Tools that are always offered, then those whose calls the model sees, then whole servers. */
function chosenIn(allowed: readonly ToolDefinition[], index: Index, settings: ToolSettings, called: ReadonlySet<string>): ToolDefinition[] {
  const most = settings.limits.definitionTokens;
  const isFirst = (tool: ToolDefinition): boolean => tool.server === 'block' || settings.always.some((pattern) => fitsPattern(pattern, idOf(tool)));
  const first = allowed.filter(isFirst);
  const second = allowed.filter((tool) => !isFirst(tool) && called.has(idOf(tool)));
  let used = 0;
  const chosen = [...first, ...second].filter((tool) => {
    const tokens = index.tokensOf([tool]);
    if (used + tokens > most) return false;
    used += tokens;
    return true;
  });
  for (const { tools, tokens } of serversIn(without(allowed, chosen), index)) {
    if (used + tokens > most / 2) break;
    used += tokens;
    chosen.push(...tools);
  }
  return chosen;
}

/** Smallest first. */
function serversIn(tools: readonly ToolDefinition[], index: Index): { readonly tools: readonly ToolDefinition[]; readonly tokens: number }[] {
  const all = [...new Set(tools.map(({ server }) => server))].map((server) => {
    const own = tools.filter((tool) => tool.server === server);
    return { server, tools: own, tokens: index.tokensOf(own) };
  });
  return all.sort((a, b) => a.tokens - b.tokens || (a.server < b.server ? -1 : 1));
}

function without(all: readonly ToolDefinition[], some: readonly ToolDefinition[]): ToolDefinition[] {
  const left = new Set(some.map(idOf));
  return all.filter((tool) => !left.has(idOf(tool)));
}

/** A tool in the record of a run. */
export function recordOf({ server, tool, pin }: ToolDefinition): string {
  return `${server}/${tool}#${pin}`;
}

function idOf({ server, tool }: ToolDefinition): string {
  return `${server}/${tool}`;
}

/** What is made of each tool of a catalogue, once: of a thousand tools some are offered. */
class Index {
  readonly #catalogue: Catalogue;
  readonly #names: ReadonlyMap<string, string>;
  readonly #shown = new Map<string, { readonly tool: Tool; readonly tokens: number }>();
  readonly #bounds = new Map<string, { readonly problem: string | undefined }>();
  readonly #made = new Map<string, OfferedTool | { readonly problem: string }>();

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
    const sorted = [...catalogue.tools].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    const names = namesFor(sorted);
    this.#names = new Map(sorted.map((tool, at) => [idOf(tool), names[at] ?? ''])); // same-names
  }

  nameOf(definition: ToolDefinition): string {
    return this.#names.get(idOf(definition)) ?? namesFor([definition])[0] ?? '';
  }

  tokensOf(definitions: readonly ToolDefinition[]): number {
    return definitions.reduce((sum, definition) => sum + this.#shownOf(definition).tokens, 0);
  }

  offered(definitions: readonly ToolDefinition[]): Offer {
    const problems: string[] = [];
    const tools = definitions.flatMap((definition) => {
      const made = this.#madeOf(definition);
      if (!('problem' in made)) return [made];
      problems.push(made.problem);
      return [];
    });
    return { tools, problems };
  }

  prepare(definitions: readonly ToolDefinition[]): Promise<void> {
    return prepareChecks(definitions.map((definition) => this.#shownOf(definition).tool.parameters ?? {}));
  }

  /** Why a schema is beyond the bounds; undefined for one that is not. */
  unbounded(definition: ToolDefinition): string | undefined {
    const id = idOf(definition);
    const known = this.#bounds.get(id);
    if (known !== undefined) return known.problem;
    let problem: string | undefined;
    try {
      assertBounded(definition.inputSchema);
    } catch (error) {
      problem = `${id}: ${(error as Error).message}`;
    }
    this.#bounds.set(id, { problem });
    return problem;
  }

  settingsOf({ server }: ToolDefinition): ServerSettings {
    return server === 'block' ? OWN_SETTINGS : (this.#catalogue.settings[server] ?? {});
  }

  /** The definition of block__find_tool names what is left, which may differ. */
  #shownOf(definition: ToolDefinition): { readonly tool: Tool; readonly tokens: number } {
    const id = idOf(definition);
    const known = id === FIND_TOOL_ID ? undefined : this.#shown.get(id);
    if (known !== undefined) return known;
    const given = shownTool(definition, this.nameOf(definition), keyArgumentOf(definition, this.settingsOf(definition)));
    const text = JSON.stringify(given);
    const tool = PLAIN_JSON.test(text) ? given : { ...given, parameters: withoutInvisibleTexts(given.parameters ?? {}) };
    const made = { tool, tokens: estimateTokens(text) };
    this.#shown.set(id, made);
    return made;
  }

  #madeOf(definition: ToolDefinition): OfferedTool | { readonly problem: string } {
    const id = idOf(definition);
    const known = id === FIND_TOOL_ID ? undefined : this.#made.get(id);
    if (known !== undefined) return known;
    let made: OfferedTool | { readonly problem: string };
    try {
      made = offered(definition, this.#shownOf(definition).tool, this.settingsOf(definition));
    } catch (error) {
      made = { problem: `${id}: ${(error as Error).message}` };
    }
    this.#made.set(id, made);
    return made;
  }
}

const FIND_TOOL_ID = 'block/find_tool';
/** What is said of the built-in tools is ours, so their annotations count. */
const OWN_SETTINGS: ServerSettings = { marks: { readOnly: ['*'], idempotent: ['*'], closedWorld: ['*'] } };
const indexes = new WeakMap<Catalogue, Index>();

function indexOf(catalogue: Catalogue): Index {
  const known = indexes.get(catalogue) ?? new Index(catalogue);
  indexes.set(catalogue, known);
  return known;
}

function offered(definition: ToolDefinition, shown: Tool, settings: ServerSettings): OfferedTool {
  const marks = marksOf(definition, settings);
  const key = keyArgumentOf(definition, settings);
  const id = idOf(definition);
  return {
    id,
    definition,
    settings,
    marks,
    key,
    isRepeatable: isRepeatable(marks, key),
    usd: usdOf(definition, settings),
    isFree: FREE_TOOLS.has(id),
    check: argumentCheck(shown.parameters ?? {}),
    shown,
  };
}

function shownTool({ description: given, inputSchema }: ToolDefinition, name: string, key: KeyArgument | undefined): Tool {
  const schema = key === undefined ? inputSchema : withoutArgument(inputSchema, key.argument);
  const description = beginningOf(withoutInvisible(given ?? ''), MAX_DESCRIPTION);
  return { name, ...(description !== '' && { description }), parameters: { ...schema, type: 'object' } };
}

/** What arguments are compared with, or what leads to another part: it stays as it is. */
const EXACT = /^(?:const|enum|default|examples|required|dependentRequired|pattern|type|format|\$(?:ref|dynamicRef|anchor|dynamicAnchor|id|schema|vocabulary))$/;

/** A schema with its texts as people see them. */
function withoutInvisibleTexts(schema: JsonRecord, isByName = false): JsonRecord {
  const seen = (value: unknown, keyword: string): unknown => {
    if (typeof value === 'string') return withoutInvisible(value);
    if (Array.isArray(value)) return value.map((one) => seen(one, keyword));
    return isObject(value) ? withoutInvisibleTexts(value, !isByName && SCHEMAS_BY_NAME.has(keyword)) : value;
  };
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, !isByName && EXACT.test(name) ? value : seen(value, name)]));
}

function byName(a: OfferedTool, b: OfferedTool): number {
  return a.shown.name < b.shown.name ? -1 : 1;
}
