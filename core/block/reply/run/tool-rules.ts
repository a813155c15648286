// The tools of a block as its rules have them, for people.
import { dayStart } from '../../../base/calendar.ts';
import type { BlockConfig } from '../../../schemas/block-config.ts';
import { BLOCK_SERVER } from '../../../tools/builtin/definitions.ts';
import type { Conversation } from '../../../store/port.ts';
import { RunState } from '../../../tools/journal.ts';
import { marksOf } from '../../../tools/marks.ts';
import { offerFor, prepareOffer, tokensOf } from '../../../tools/offer.ts';
import type { Catalogue, ToolDefinition, ToolHost } from '../../../tools/port.ts';
import { ruleOf } from '../../../tools/rules.ts';
import type { ToolServerView } from '../../../tools/servers.ts';
import { toolSettings } from '../../../tools/settings.ts';
import type { BlockToolList, BlockToolView } from '../../../types.ts';
import { catalogueOf } from './run-tools.ts';

/** What is looked at. */
export interface ToolRulesOptions {
  readonly host: Pick<ToolHost, 'catalogue' | 'servers'>;
  readonly config: BlockConfig;
  readonly conversation: Pick<Conversation, 'entries' | 'steps'>;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Empty for a block without tools. Starts nothing. Rejects as `ToolHost.catalogue` does. */
export async function toolRules(options: ToolRulesOptions): Promise<BlockToolList> {
  const { host, config } = options;
  const settings = toolSettings(config);
  if (settings === undefined) return { servers: [], tools: [] };
  const catalogue = await catalogueOf(host, settings);
  const managed = host.servers === undefined ? [] : (await host.servers.list()).filter(({ name }) => settings.servers.includes(name));
  const names = [...new Set(settings.servers)];
  await prepareOffer(catalogue, settings);
  const toFind = new Set(offerFor(catalogue, settings).toFind);
  const calls = await callsToday(options);
  const viewOf = (server: string, tool: string, rest: Pick<BlockToolView, 'state' | 'marks' | 'tokens'>, pin: string): BlockToolView => {
    const id = `${server}/${tool}`;
    const { marks } = rest;
    return { server, tool, ...ruleOf(settings, { tool: id, pin, marks }), ...rest, callsToday: calls.get(id) ?? 0, mustBeFound: toFind.has(id) };
  };
  const offered = catalogue.tools.map((one) =>
    viewOf(one.server, one.tool, { state: 'approved', marks: marksIn(catalogue, one), tokens: tokensOf(catalogue, [one]) }, one.pin),
  );
  const known = new Set(catalogue.tools.map(({ server, tool }) => `${server}/${tool}`));
  const others = managed.flatMap(({ name, tools }) =>
    tools.flatMap((one) =>
      known.has(`${name}/${one.name}`) ? [] : [viewOf(name, one.name, { state: one.state, marks: one.marks, tokens: one.tokens }, one.hash)],
    ),
  );
  return {
    servers: names.map((name) => serverOf(name, managed, catalogue)),
    tools: [...offered, ...others].sort((a, b) => names.indexOf(a.server) - names.indexOf(b.server) || (a.tool < b.tool ? -1 : 1)),
  };
}

function serverOf(name: string, managed: readonly ToolServerView[], { tools, problems }: Catalogue): BlockToolList['servers'][number] {
  const said = problems.flatMap(({ server, problem }) => (server === name ? [problem] : []));
  const isThere = name === BLOCK_SERVER || tools.some(({ server }) => server === name);
  const state = managed.find((one) => one.name === name)?.state ?? (isThere ? 'ready' : 'failed');
  return { name, state, ...(said.length > 0 && { problem: sentence(said.join('; ')) }) };
}

/** What is said of the built-in tools is ours, so their annotations count. */
function marksIn({ settings }: Catalogue, tool: ToolDefinition): BlockToolView['marks'] {
  const all = ['*'];
  return marksOf(tool, tool.server === BLOCK_SERVER ? { marks: { readOnly: all, idempotent: all, closedWorld: all } } : (settings[tool.server] ?? {}));
}

/** By `server/tool`: of messages that were answered today, and of those under way. */
async function callsToday({ config, conversation, now }: ToolRulesOptions): Promise<ReadonlyMap<string, number>> {
  const since = new Date(dayStart(now, config.budget.timezone)).toISOString();
  const counts = new Map<string, number>();
  const add = (tool: string): void => void counts.set(tool, (counts.get(tool) ?? 0) + 1);
  for (const { id, status, timestamp, steps = [] } of await conversation.entries()) {
    if (timestamp >= since) for (const { tool, outcome } of steps) if (outcome === 'done' || outcome === 'unknown') add(tool);
    if (status !== 'processing' && status !== 'waiting-approval') continue;
    for (const { asked, begunAt = '' } of new RunState(await conversation.steps(id)).calls) if (begunAt >= since) add(asked.tool);
  }
  return counts;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
