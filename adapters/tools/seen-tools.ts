// Tools as a server lists them, judged: which can be used at all. Pure: no I/O.
import { isObject } from '../../core/base/json.ts';
import { bounded, sha256 } from '../../core/index.ts';
import { toolHash } from './hashes.ts';
import type { ListedTool } from './server.ts';

/** The most tools of one server. */
export const MAX_TOOLS = 5000;
const MAX_NAME = 128;
/** A description beyond this is no description. */
const MAX_TEXT = 65_536;
/** Of all tools of a server: the pins of all servers are in one file. */
const MAX_ALL = 2 * 1024 * 1024;

/** A tool as it was listed, with the hash of its definition. */
export interface SeenTool {
  readonly hash: string;
  /** Of a tool that can't be used only the name and the beginning of the description. */
  readonly definition: ListedTool;
  /** Why it can't be used. */
  readonly problem?: string | undefined;
}

/** By their names. Of two tools with one name neither can be used: nobody could say which one a call means. */
export function judged(tools: readonly ListedTool[]): ReadonlyMap<string, SeenTool> {
  const seen = new Map<string, SeenTool>();
  let room = MAX_ALL;
  for (const tool of tools.slice(0, MAX_TOOLS)) {
    const name = typeof tool.name === 'string' ? tool.name : '';
    if (name === '') continue; // it can't be named, so it can't be called
    const one = seen.has(name) ? unusable(tool, 'the server lists two tools of this name') : judge(tool);
    room -= JSON.stringify(one.definition).length + Math.max(0, name.length - MAX_NAME); // the whole name is the key
    if (room < 0 && name.length > MAX_NAME) continue;
    seen.set(name, room < 0 ? unusable(tool, `the definitions of the server are longer than ${MAX_ALL} characters`) : one);
  }
  return seen;
}

function judge(tool: ListedTool): SeenTool {
  try {
    if (tool.name.length > MAX_NAME) throw new Error(`its name is longer than ${MAX_NAME} characters`);
    if (!isObject(tool.inputSchema)) throw new Error('it has no schema');
    if ((tool.description?.length ?? 0) > MAX_TEXT || (tool.title?.length ?? 0) > MAX_TEXT)
      throw new Error(`its description is longer than ${MAX_TEXT} characters`);
    const hash = toolHash(tool);
    const rest = JSON.stringify([tool.outputSchema, tool.annotations]);
    if (rest.length > MAX_TEXT) throw new Error(`the schema of its results and its annotations are longer than ${MAX_TEXT} characters`);
    bounded(tool.inputSchema);
    return { hash, definition: plain(tool) };
  } catch (error) {
    return unusable(tool, (error as Error).message);
  }
}

function unusable(tool: ListedTool, problem: string): SeenTool {
  const description = typeof tool.description === 'string' ? tool.description.slice(0, 200) : undefined;
  const definition: ListedTool = { name: tool.name.slice(0, MAX_NAME), description, inputSchema: {} };
  return { hash: sha256(JSON.stringify(definition)), definition, problem: problem.slice(0, 300) };
}

/** What the hash covers, and nothing else. */
function plain({ name, title, description, inputSchema, outputSchema, annotations }: ListedTool): ListedTool {
  const all = { name, title, description, inputSchema, outputSchema, annotations };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as unknown as ListedTool;
}
