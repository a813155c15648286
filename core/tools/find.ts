// Finds tools by words, among those that may be called and are not in the list of a run. Pure: no I/O.
//
// half-for-found: what is found is added until half of tools.limits.definitionTokens is used by it.
import { isObject } from '../base/json.ts';
import { allowedIn, isUsable, recordOf, shownName, tokensOf, withoutInvisible } from './offer.ts';
import type { Catalogue, ToolDefinition } from './port.ts';
import { beginningOf } from './results.ts';
import type { ToolSettings } from './settings.ts';

const NAME_POINTS = 3;
const TITLE_POINTS = 2;
const DESCRIPTION_POINTS = 1;
/** Of a description in a list of what was found. */
const MAX_DESCRIPTION = 200;
/** As many tools are found by default and at most. */
const MAX_FOUND = 5;

/** What is looked for, and what is known by then. */
export interface Search {
  readonly catalogue: Catalogue;
  readonly settings: ToolSettings;
  readonly query: string;
  readonly limit?: number | undefined;
  /** Ids of the tools in the list. */
  readonly listed: ReadonlySet<string>;
  /** The records of what was added to the list since the run began. */
  readonly added: readonly string[];
}

/** What a search has found. */
export interface Found {
  /** Records of the tools to add, best first. */
  readonly tools: readonly string[];
  /** For the model. */
  readonly text: string;
}

/** The best tools for some words: an exact name first, then by points, then by name. */
export function findTools({ catalogue, settings, query, limit = MAX_FOUND, listed, added }: Search): Found {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  const exact = query.trim().toLowerCase();
  const rated = allowedIn(catalogue, settings).flatMap((tool) => {
    const names = [tool.tool, idOf(tool), shownName(catalogue, tool)];
    const points = names.some((name) => name.toLowerCase() === exact) ? Number.POSITIVE_INFINITY : pointsOf(tool, words);
    return points > 0 ? [{ tool, points }] : [];
  });
  rated.sort((a, b) => (a.points === b.points ? (idOf(a.tool) < idOf(b.tool) ? -1 : 1) : b.points - a.points));
  const best: ToolDefinition[] = [];
  for (let at = 0; at < rated.length && best.length < Math.min(limit, MAX_FOUND); at += 1) {
    const tool = rated[at]?.tool;
    if (tool !== undefined && isUsable(catalogue, tool)) best.push(tool);
  }
  const before = catalogue.tools.filter((tool) => added.includes(recordOf(tool)));
  let room = settings.limits.definitionTokens / 2 - tokensOf(catalogue, before);
  const tools: string[] = [];
  const lines = best.map((tool) => {
    const said = `- ${shownName(catalogue, tool)}: ${beginningOf(withoutInvisible(tool.description ?? ''), MAX_DESCRIPTION)}`;
    if (listed.has(idOf(tool))) return `${said} (in your list already)`;
    const tokens = tokensOf(catalogue, [tool]);
    if (tokens > room) return `${said} (not added: there is no more room for definitions in this run)`;
    room -= tokens;
    tools.push(recordOf(tool));
    return said;
  });
  if (lines.length === 0) return { tools, text: 'No tool has these words. Try others.' };
  return { tools, text: `${tools.length === 0 ? 'Found, and nothing added to your list:' : 'Found; they are in your list now:'}\n${lines.join('\n')}` };
}

/** Each word counts once in each place. */
function pointsOf({ tool, title = '', description = '', inputSchema }: ToolDefinition, words: readonly string[]): number {
  const parameters = isObject(inputSchema['properties']) ? Object.keys(inputSchema['properties']) : [];
  const places = [
    [tool.toLowerCase(), NAME_POINTS],
    [title.toLowerCase(), TITLE_POINTS],
    [parameters.join(' ').toLowerCase(), TITLE_POINTS],
    [description.toLowerCase(), DESCRIPTION_POINTS],
  ] as const;
  return words.reduce((sum, word) => sum + places.reduce((all, [text, points]) => all + (text.includes(word) ? points : 0), 0), 0);
}

function idOf({ server, tool }: ToolDefinition): string {
  return `${server}/${tool}`;
}
