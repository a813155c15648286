// What a block that comes from elsewhere does with the tools of this machine before anybody is asked: its rules are in its configuration, so who made the block has chosen them. Pure: no I/O.
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { Warning } from '../../schemas/chat.ts';

/** So many rules are named, and so much of each. */
const MAX_NAMED = 5;
const MAX_CHARACTERS = 64;

/** One warning for the rules that allow calls, and one if these count whatever the block has read. None for a block that asks for each call. */
export function ruleWarnings({ name, tools }: Pick<BlockConfig, 'name' | 'tools'>): Warning[] {
  const { servers = [], allow = [], taint } = tools ?? {};
  if (servers.length === 0 || allow.length === 0) return [];
  const named = namedRules(allow);
  const allowed = `Once it is started, the block may call tools of ${servers.length === 1 ? 'one server' : `${servers.length} servers`} of this machine without asking you, by its rules ${named}. Look at them first: \`blockhouse config get ${name} tools\`.`;
  const evenTainted = taint === 'ignore' ? allow : allow.filter((rule) => typeof rule !== 'string' && rule.evenTainted === true);
  const which = evenTainted === allow ? 'that write or send' : `by ${namedRules(evenTainted)} that write or send`;
  const tainted = `Its calls ${which} do not wait for you either once it has read the output of an open world.`;
  const field = taint === 'ignore' ? 'config.tools.taint' : 'config.tools.allow';
  return [{ field: 'config.tools.allow', message: allowed }, ...(evenTainted.length > 0 ? [{ field, message: tainted }] : [])];
}

function namedRules(rules: readonly (string | { readonly tool: string })[]): string {
  const named = rules.slice(0, MAX_NAMED).map((rule) => (typeof rule === 'string' ? rule : rule.tool).slice(0, MAX_CHARACTERS));
  return `${named.join(', ')}${rules.length > MAX_NAMED ? ` and ${rules.length - MAX_NAMED} more` : ''}`;
}
