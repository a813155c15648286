// Words of the page of tools.
import type { ToolServerView } from '../../../core/types.ts';
import { plural } from '../base/format.ts';
import { ownOf } from '../base/own.ts';

export const toolsText = {
  title: 'Tools',
  skills: 'Skills',
  none: 'There is no server of tools yet. Add one, look at what it would run and offer, and approve it; then name it in the configuration of a block.',
  add: 'Add a server…',
  addTitle: 'Add a server of tools',
  change: 'Change…',
  name: 'Name',
  nameWrong: 'A name has 1 to 64 letters, digits, _ and -.',
  what: 'Command, address, or JSON',
  whatHelp: 'Such as npx -y @modelcontextprotocol/server-filesystem@2026.8.31 ~/shared, or https://mcp.example.com/mcp, or the JSON of its manual.',
  whatWrong: 'Type a command, an address that begins with https://, or JSON with one server in it.',
  more: 'Variables or headers, one a line',
  moreHelp: 'For a secret, write ${auth:name.field} in place of its value, such as TOKEN=${auth:github.token}. You store the value afterwards.',
  clientId: 'Client id, if Blockhouse signs in to it for itself (OAuth)',
  issuer: 'Issuer, the address of its authorization server',
  issuerHelp: 'You store the secret of the client afterwards.',
  save: 'Save',
  saved: 'Saved. Nothing is started before you approve it.',
  test: 'Start once and look',
  approve: 'Approve',
  approved: 'Approved.',
  remove: 'Remove',
  removeText: 'Its approvals and its secrets go with it. Blocks that name it go on without its tools.',
  tokens: 'Tokens',
  definition: 'Definition',
  approvedWas: 'As approved',
  nowIs: 'As it is now',
  stored: 'stored',
  missing: 'missing',
  store: 'Store',
  replace: 'Replace',
  forget: 'Remove',
  secretRemoved: 'Removed.',
  secretStored: 'Stored. It is shown nowhere.',
  unknown: 'Tools not known yet',
  noTools: 'Its tools are not known yet. Start it once and look.',
  notSaid: 'The server itself does not say so of this tool, so the mark would hold nothing.',
  environment: 'Variables',
  headers: 'Headers',
  signIn: 'Sign in',
  signedIn: 'Signed in at',
  goOn: 'Go on at',
  signOut: 'Sign out',
  unsafe: 'Its sign-in leads to an address that is not https, so it is not opened.',
} as const;

export const MARK_NAMES = { readOnly: 'only reads', idempotent: 'may be repeated', closedWorld: 'stays inside' } as const;

const SERVER_STATES: Readonly<Record<string, readonly [name: string, mark: string]>> = {
  idle: ['Ready, not running', 'idle'],
  starting: ['Starting', 'starting'],
  ready: ['Running', 'idle'],
  stopping: ['Stopping', 'stopping'],
  failed: ['Failed', 'failed'],
  held: ['Not approved', 'paused'],
  changed: ['Changed since it was approved', 'paused'],
};

/** What is wrong, without commands that buttons stand for here. */
export function problemText(problem: string, canSignIn: boolean): string {
  const text = problem.replace(/; (?:look at it with|store it:) `blockhouse tools .*$/s, '.');
  return canSignIn ? text.replace(/; sign in[^`]*`blockhouse tools login .*$/s, '.') : text;
}

/** What comes next, without the command that a button stands for here. */
export function nextText(next: string): string {
  return next.replace(/ `blockhouse deny \w+` refuses it\./, '');
}

/** A state of a server in words, and its mark. */
export function serverStateText(state: string): readonly [name: string, mark: string] {
  return ownOf(SERVER_STATES, state) ?? [state, 'unknown'];
}

/** What is approved with a server besides its command: each with its name. */
export function termsText({ oauth, sandbox, newTools }: ToolServerView['settings']): readonly (readonly [name: string, text: string])[] {
  return [
    ...(isObject(oauth) ? [['Sign-in', signInText(oauth)] as const] : []),
    ...(typeof sandbox === 'string' ? [['Sandbox', sandbox] as const] : []),
    ...(newTools === 'offer' ? [['New tools', 'offered at first sight'] as const] : []),
  ];
}

function signInText({ grant, clientId, issuer, scope, method, keyFile }: Readonly<Record<string, unknown>>): string {
  const parts = [
    grant === 'client_credentials' ? 'Blockhouse for itself' : 'a person',
    ...(typeof clientId === 'string' ? [`as ${clientId}`] : []),
    ...(typeof issuer === 'string' ? [`at ${issuer}`] : []),
    ...(typeof scope === 'string' ? [`for ${scope}`] : []),
    ...(method === 'private_key_jwt' ? [typeof keyFile === 'string' ? `with the key in ${keyFile}` : 'with the key that is stored'] : []),
  ];
  return parts.join(', ');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

const TOOL_STATES: Readonly<Record<string, string>> = {
  approved: 'approved',
  changed: 'changed',
  new: 'not approved',
  unusable: 'can’t be used',
  gone: 'not there any more',
};

export function toolStateText(state: string): string {
  return ownOf(TOOL_STATES, state) ?? state;
}

/** `12 tools, 3,400 tokens`; of a server that was never started nobody knows. */
export function toolsOfText({ era, tools }: Pick<ToolServerView, 'era' | 'tools'>): string {
  if (era === null && tools.length === 0) return toolsText.unknown;
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0);
  return `${plural(tools.length, 'tool', 'tools')}, ${plural(tokens, 'token', 'tokens')}`;
}

/** `Approve the command and 3 tools`. */
export function approveText(isServer: boolean, tools: number): string {
  const what = [isServer ? 'what is started' : '', tools > 0 ? plural(tools, 'tool', 'tools') : ''].filter((part) => part !== '').join(' and ');
  return `${toolsText.approve} ${what}`;
}

export function removeServerTitle(name: string): string {
  return `Remove ${name}?`;
}
