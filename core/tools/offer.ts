// The tools of a run: which ones the model is offered, under which names, and what is known of each. Pure: no I/O.
//
// same-list: the tools of a run are fixed when it begins, sorted by name, so that the prompt cache of the provider stays good. One whose definition has changed since
//   is not called any more.
import { estimateTokens } from '../base/tokens.ts';
import type { Tool, ToolMarks } from '../types.ts';
import { type ArgumentCheck, argumentCheck } from './arguments.ts';
import { isRepeatable, type KeyArgument, keyArgumentOf, marksOf, withoutArgument } from './marks.ts';
import { namesFor } from './names.ts';
import { fitsPattern } from './patterns.ts';
import { isOffered } from './policy.ts';
import type { Catalogue, ServerSettings, ToolDefinition } from './port.ts';
import { beginningOf } from './results.ts';
import type { ToolSettings } from './settings.ts';

const MAX_DESCRIPTION = 2000;
/** Characters that people don't see and models obey. */
const INVISIBLE = /(?![\n\t])(?:\p{Cf}|\p{Cc}|\p{Variation_Selector})/gu;

/** A tool of a run. */
export interface OfferedTool {
  /** `server/tool`. */
  readonly id: string;
  readonly definition: ToolDefinition;
  readonly settings: ServerSettings;
  readonly marks: ToolMarks;
  readonly key: KeyArgument | undefined;
  readonly isRepeatable: boolean;
  readonly check: ArgumentCheck;
  /** As the model sees it. */
  readonly shown: Tool;
}

/** The tools of a run, and why others are missing. */
export interface Offer {
  readonly tools: readonly OfferedTool[];
  readonly problems: readonly string[];
}

/** What a new run offers. */
export function offerFor(catalogue: Catalogue, settings: ToolSettings): Offer {
  const problems = catalogue.problems.map(({ server, problem }) => `${server}: ${problem}`);
  const allowed = catalogue.tools.filter((tool) => isOffered(settings, idOf(tool)));
  const { tools, problems: unusable } = usable(allowed, catalogue);
  const isAlways = ({ id }: OfferedTool): boolean => settings.always.some((pattern) => fitsPattern(pattern, id));
  let room = settings.limits.definitionTokens;
  const chosen = [...tools.filter(isAlways), ...tools.filter((tool) => !isAlways(tool))].filter(({ shown }) => {
    const tokens = estimateTokens(JSON.stringify(shown));
    if (tokens > room) return false;
    room -= tokens;
    return true;
  });
  if (chosen.length < tools.length) problems.push(`${tools.length - chosen.length} tools do not fit into tools.limits.definitionTokens`);
  return { tools: chosen.sort(byName), problems: [...problems, ...unusable] };
}

/** The tools of a run that goes on: of those in its record, the ones that are as they were. */
export function offerAgain(catalogue: Catalogue, recorded: readonly string[]): Offer {
  const pinned = new Set(recorded);
  return {
    ...usable(
      catalogue.tools.filter((tool) => pinned.has(recordOf(tool))),
      catalogue,
    ),
  };
}

/** A tool in the record of a run. */
export function recordOf({ server, tool, pin }: ToolDefinition): string {
  return `${server}/${tool}#${pin}`;
}

function idOf({ server, tool }: ToolDefinition): string {
  return `${server}/${tool}`;
}

function usable(definitions: readonly ToolDefinition[], { settings }: Catalogue): Offer {
  const sorted = [...definitions].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const names = namesFor(sorted);
  const problems: string[] = [];
  const tools = sorted.flatMap((definition, index) => {
    try {
      return [offered(definition, names[index] ?? '', settings[definition.server] ?? {})];
    } catch (error) {
      problems.push(`${idOf(definition)}: ${(error as Error).message}`);
      return [];
    }
  });
  return { tools: tools.sort(byName), problems };
}

function offered(definition: ToolDefinition, name: string, settings: ServerSettings): OfferedTool {
  const marks = marksOf(definition, settings);
  const key = keyArgumentOf(definition, settings);
  const schema = key === undefined ? definition.inputSchema : withoutArgument(definition.inputSchema, key.argument);
  const description = beginningOf((definition.description ?? '').replaceAll(INVISIBLE, ''), MAX_DESCRIPTION);
  return {
    id: idOf(definition),
    definition,
    settings,
    marks,
    key,
    isRepeatable: isRepeatable(marks, key),
    check: argumentCheck(schema),
    shown: { name, ...(description !== '' && { description }), parameters: { ...schema, type: 'object' } },
  };
}

function byName(a: OfferedTool, b: OfferedTool): number {
  return a.shown.name < b.shown.name ? -1 : 1;
}
