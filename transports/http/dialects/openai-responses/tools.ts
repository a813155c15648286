// The tools of a Responses request: functions and custom tools, some of them in namespaces, and those that OpenAI itself would run. Pure: no I/O.
//
// one-name: every tool has one name of its own at the gateway. A tool of a namespace keeps its name where no other tool has it.
import { isObject } from '../../../../core/base/json.ts';
import { type ChatRequest, invalidRequest, type Tool, type Warning } from '../../../../core/index.ts';
import { ToolNames } from '../shared/conversation.ts';
import { type Fields, list, objectAt, requiredText, text } from '../shared/fields.ts';
import type { Sources } from '../shared/sources.ts';
import { type ArgumentBudget, customTool } from '../shared/tool-calls.ts';

/** A tool as the client names it. */
export interface ClientTool {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly isCustom: boolean;
}

/** A list of tools and where it was. */
export interface ToolList {
  readonly tools: readonly unknown[];
  readonly path: string;
}

interface Entry {
  readonly tool: Fields;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly path: string;
}

/** What reading needs besides the tools. */
interface Notes {
  readonly warnings: Warning[];
  readonly sources: Sources;
}

/** For requests without tools, which are many. */
const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/** The tools of one request, and their names for the gateway and back. */
export class Toolbox {
  readonly tools: readonly Tool[];
  readonly #names = new ToolNames();
  readonly #clientTools: ReadonlyMap<string, ClientTool>;
  /** By the client's name and namespace. */
  readonly #ours: ReadonlyMap<string, string>;

  /** For the arguments of the calls of the same request. */
  get budget(): ArgumentBudget {
    return this.#names.budget;
  }

  /** Throws INVALID_REQUEST naming the field. */
  constructor(lists: readonly ToolList[], { warnings, sources }: Notes) {
    const entries = lists.flatMap(({ tools, path }) => tools.flatMap((tool, index) => entriesOf(tool, `${path}[${index}]`, undefined, warnings)));
    if (entries.length === 0) {
      this.tools = [];
      this.#clientTools = NONE;
      this.#ours = NONE;
      return;
    }
    const clientTools = new Map<string, ClientTool>();
    const ourNames = new Map<string, string>();
    this.#clientTools = clientTools;
    this.#ours = ourNames;
    const counts = new Map<string, number>();
    for (const { name } of entries) counts.set(name, (counts.get(name) ?? 0) + 1);
    this.tools = entries.flatMap((entry) => {
      const { tool, name, namespace, path } = entry;
      if (ourNames.has(keyOf(name, namespace))) {
        warnings.push({ field: `${path}.name`, message: 'It is used twice, so the second tool was left out.' });
        return [];
      }
      const isAlone = counts.get(name) === 1;
      const ours = this.#unused(namespace === undefined || isAlone ? name : `${namespace}_${name}`);
      clientTools.set(ours, { name, namespace, isCustom: tool['type'] === 'custom' });
      ourNames.set(keyOf(name, namespace), ours);
      if (isAlone) ourNames.set(keyOf(name, undefined), ours);
      return [sources.note(toolOf(tool, ours, path), path)];
    });
  }

  /** The gateway's name of a tool, also of one that a history has and the request does not. */
  oursOf(name: string, namespace?: string): string {
    return this.#ours.get(keyOf(name, namespace)) ?? this.#names.toOurs(namespace === undefined ? name : `${namespace}_${name}`);
  }

  /** The client's tool that the model has called. */
  clientToolOf(ours: string): ClientTool {
    return this.#clientTools.get(ours) ?? { name: this.#names.toTheirs(ours), isCustom: false };
  }

  /** The tools that the model may choose from, and how. Throws INVALID_REQUEST for a choice of a tool that OpenAI itself would run. */
  choose(choice: unknown): Pick<ChatRequest, 'tools' | 'toolChoice'> {
    const all = this.tools.length > 0 ? { tools: this.tools } : {};
    if (choice == null || choice === 'auto') return all;
    if (choice === 'none') return this.tools.length > 0 ? { ...all, toolChoice: 'none' } : all;
    if (choice === 'required') return { ...all, toolChoice: this.#required(this.tools.length) };
    const given = objectAt(choice, 'tool_choice');
    if (given['type'] === 'allowed_tools') return this.#allowed(given);
    if ((given['type'] === 'function' || given['type'] === 'custom') && typeof given['name'] === 'string' && given['name'] !== '') {
      return { ...all, toolChoice: { name: this.oursOf(given['name'], text(given, 'namespace', 'tool_choice.namespace')) } };
    }
    throw invalidRequest('tool_choice', 'must be auto, none, required, allowed_tools, or name a function or a custom tool of this request');
  }

  #allowed(choice: Fields): Pick<ChatRequest, 'tools' | 'toolChoice'> {
    const allowed = (list(choice, 'tools', 'tool_choice.tools') ?? []).filter(isObject);
    const names = new Set(allowed.map(({ name, namespace }) => this.#ours.get(keyOf(String(name), typeof namespace === 'string' ? namespace : undefined))));
    const tools = this.tools.filter(({ name }) => names.has(name));
    if (choice['mode'] === 'required') return { tools, toolChoice: this.#required(tools.length) };
    if (tools.length > 0) return { tools };
    return this.choose('none');
  }

  #required(count: number): 'required' {
    if (count === 0) throw invalidRequest('tool_choice', 'requires a call, but the request has no function or custom tool that may be called');
    return 'required';
  }

  /** one-name. */
  #unused(wanted: string): string {
    let ours = this.#names.toOurs(wanted);
    for (let n = 2; this.#clientTools.has(ours); n += 1) ours = this.#names.toOurs(`${wanted}_${n}`);
    return ours;
  }
}

function keyOf(name: string, namespace: string | undefined): string {
  return JSON.stringify([namespace ?? null, name]);
}

function entriesOf(given: unknown, path: string, namespace: string | undefined, warnings: Warning[]): Entry[] {
  const tool = objectAt(given, path);
  const type = tool['type'] ?? 'function';
  if (type === 'namespace' && namespace === undefined) {
    const name = requiredText(tool, 'name', `${path}.name`);
    return (list(tool, 'tools', `${path}.tools`) ?? []).flatMap((inner, index) => entriesOf(inner, `${path}.tools[${index}]`, name, warnings));
  }
  if (type === 'function' || type === 'custom') return [{ tool, name: requiredText(tool, 'name', `${path}.name`), namespace, path }];
  warnings.push({ field: path, message: 'A tool of this type can only be run by OpenAI itself, so it was left out.' });
  return [];
}

function toolOf(tool: Fields, name: string, path: string): Tool {
  const description = text(tool, 'description', `${path}.description`);
  if (tool['type'] === 'custom') return customTool(name, description, isObject(tool['format']) ? tool['format']['definition'] : undefined);
  return { name, ...(description !== undefined && { description }), ...(isObject(tool['parameters']) && { parameters: tool['parameters'] }) };
}
