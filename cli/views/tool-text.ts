// How servers of tools are shown: a table of servers, the tools of one, and what has changed. Pure: no I/O.
//
// seen-whole: what a model would read and a person would not see, such as characters without a width, is shown as an escape.
import { inOrder, isObject, SCHEMAS_BY_NAME } from '../../core/base/json.ts';
import type { BlockToolView, ToolServerView, ToolView } from '../../core/index.ts';
import { plural } from '../terminal/format.ts';
import { type Column, table } from '../terminal/layout.ts';
import { oneLine, type Style } from '../terminal/output.ts';
import { visible } from '../terminal/unseen.ts';

const SERVERS: readonly Column[] = [
  { title: 'SERVER' },
  { title: 'STATE' },
  { title: 'TOOLS', align: 'right' },
  { title: 'NOT OFFERED', align: 'right', drop: 1 },
  { title: 'TOKENS', align: 'right', drop: 2 },
  { title: 'STARTS', min: 12, drop: 3 },
];

/** The table of `tools ls`; `-` for what nobody knows yet. */
export function serverTable(servers: readonly ToolServerView[], view: { readonly width: number; readonly style: Style }): string[] {
  const rows = servers.map((one) => {
    const { name, state, tools, server } = one;
    const isOffered = !['held', 'changed', 'failed'].includes(state);
    const offered = tools.filter((tool) => isOffered && tool.state === 'approved');
    const tokens = offered.reduce((sum, tool) => sum + tool.tokens, 0);
    const counts = [offered.length, tools.length - offered.length, tokens].map((number) => (isListed(one) ? String(number) : '-'));
    return [name, state, ...counts, startText(server)].map(visible).map(oneLine);
  });
  return table(SERVERS, rows, view);
}

/** False for a server that was never started: nobody knows its tools. */
export function isListed({ era, tools }: Pick<ToolServerView, 'era' | 'tools'>): boolean {
  return era !== null || tools.length > 0;
}

/** What is started, as a person would type it. */
export function startText(server: Readonly<Record<string, unknown>>): string {
  const { command, args, url } = server;
  if (typeof url === 'string') return url;
  return [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string').join(' ');
}

const TOOLS: readonly Column[] = [
  { title: 'TOOL' },
  { title: 'STATE' },
  { title: 'MARKS', drop: 1 },
  { title: 'TOKENS', align: 'right', drop: 2 },
  { title: 'DESCRIPTION', min: 20, drop: 3 },
];

/** The table of the tools of a server. */
export function toolTable(tools: readonly ToolView[], view: { readonly width: number; readonly style: Style }): string[] {
  const rows = tools.map(({ name, state, marks, tokens, description, problem }) => {
    return [name, state, heldMarks(marks) || '-', String(tokens), problem ?? description].map(visible).map(oneLine);
  });
  return table(TOOLS, rows, view);
}

const BLOCK_TOOLS: readonly Column[] = [
  { title: 'TOOL' },
  { title: 'STATE', drop: 4 },
  { title: 'RULE' },
  { title: 'MARKS', drop: 1 },
  { title: 'TOKENS', align: 'right', drop: 2 },
  { title: 'CALLS TODAY', align: 'right', drop: 3 },
];

/** The table of `tools ls <block>`. */
export function blockToolTable(tools: readonly BlockToolView[], view: { readonly width: number; readonly style: Style }): string[] {
  const rows = tools.map((tool) => {
    const { server, tool: name, state, mustBeFound, marks, tokens, callsToday } = tool;
    const how = mustBeFound ? `${state}, to be found` : state;
    return [`${server}/${name}`, how, ruleText(tool), heldMarks(marks) || '-', String(tokens), String(callsToday)].map(visible).map(oneLine);
  });
  return table(BLOCK_TOOLS, rows, view);
}

function ruleText({ rule, by, allowsSome, evenTainted, asksTainted }: BlockToolView): string {
  const more = [...(allowsSome ? ['some allowed'] : []), ...(evenTainted ? ['even tainted'] : []), ...(asksTainted ? ['asks if tainted'] : [])];
  return `${[rule, ...more].join(', ')} (${by})`;
}

/** The marks that hold, such as `readOnly closedWorld`; empty without any. */
export function heldMarks(marks: ToolView['marks']): string {
  return Object.entries(marks)
    .flatMap(([mark, holds]) => (holds ? [mark] : []))
    .join(' ');
}

/** All that a person should read before an approval: what is started, what it gets, and every tool with all texts that a model reads. */
export function approvalLines({ name, server, settings, secrets = [], tools }: ToolServerView): string[] {
  const { env, headers } = server;
  const given = [...fieldsOf('env', env), ...fieldsOf('header', headers)];
  const { sandbox, newTools } = settings as { readonly sandbox?: unknown; readonly newTools?: unknown };
  return [
    `${name} ${typeof server['url'] === 'string' ? 'calls' : 'starts, with your rights'}: ${startText(server)}`,
    ...given,
    ...signInLines(settings),
    ...secrets.map((secret) => `  gets the secret ${secret.name}${secret.isStored ? '' : ' (not stored yet)'}`),
    ...(sandbox === undefined ? [] : [`  in the sandbox ${String(sandbox)}`]),
    ...(newTools === 'offer' ? ['  tools that appear later are offered at first sight'] : []),
    ...tools.flatMap(toolLines),
  ].map((line) => oneVisible(line));
}

/** Who signs in, which is a part of what is approved. */
function signInLines(settings: Readonly<Record<string, unknown>>): string[] {
  const { oauth } = settings;
  if (!isObject(oauth)) return [];
  const { grant, clientId, issuer, scope, method, keyFile } = oauth;
  const who = grant === 'client_credentials' ? 'Blockhouse signs in for itself' : 'a person signs in';
  const parts = [
    ...(clientId === undefined ? [] : [`as ${String(clientId)}`]),
    ...(issuer === undefined ? [] : [`at ${String(issuer)}`]),
    ...(scope === undefined ? [] : [`for ${String(scope)}`]),
    ...(method === 'private_key_jwt' ? [`with the key ${keyFile === undefined ? 'that is stored' : `in ${String(keyFile)}`}`] : []),
  ];
  return [`  ${[who, ...parts].join(' ')}`];
}

function fieldsOf(what: string, fields: unknown): string[] {
  return isObject(fields) ? Object.entries(fields).map(([name, value]) => `  ${what} ${name}: ${String(value)}`) : [];
}

function toolLines({ name, state, description, annotations, problem, now }: ToolView): string[] {
  const says = Object.entries(annotations).map(([hint, value]) => `${hint}: ${JSON.stringify(value)}`);
  const lines = description.split('\n').map((line) => `    ${line}`);
  return [
    '',
    `  ${name} (${state})${problem === undefined ? '' : `: ${problem}`}`,
    ...lines,
    ...schemaLines(now?.['inputSchema']).map((line) => `    ${line}`),
    ...(says.length === 0 ? [] : [`    says of itself ${says.join(', ')}`]),
  ];
}

/** Keywords that need not be named before what they hold. */
const UNNAMED = /^(?:description|title|items|prefixItems|anyOf|allOf|oneOf|not|if|then|else|contains|additionalProperties|propertyNames)$/;
/** Keywords that hold single words, most often. */
const OF_WORDS = /^(?:type|format|required|pattern|\$ref|\$schema|\$id)$/;
const MAX_WORD = 64;

/** All texts of a schema, which a model reads as it reads the description: a line for each parameter, also for one of which nothing is said. */
function schemaLines(schema: unknown, path = ''): string[] {
  const says: string[] = [];
  const inside: string[] = [];
  const look = (value: unknown, label: string, isOfWords = false): void => {
    if (typeof value === 'string' && !(isOfWords && value.length <= MAX_WORD && !/\s/.test(value))) says.push(`${label} ${value}`.trim());
    if (Array.isArray(value) && !isOfWords && value.every((one) => typeof one === 'string')) says.push(`${label} ${value.join(', ')}`.trim());
    else if (Array.isArray(value)) for (const one of value) look(one, label, isOfWords);
    else if (isObject(value)) for (const [name, inner] of Object.entries(value)) enter(name, inner, label);
  };
  const enter = (name: string, value: unknown, label: string): void => {
    const inner = UNNAMED.test(name) ? label : dotted(label, name);
    if (!SCHEMAS_BY_NAME.has(name) || !isObject(value)) {
      if (/\s/.test(name) && typeof value !== 'string') says.push(inner); // a name may be a sentence, too
      look(value, inner, OF_WORDS.test(name));
      return;
    }
    const before = name === 'properties' ? path : dotted(path, name);
    for (const [parameter, one] of Object.entries(value)) inside.push(...schemaLines(one, dotted(before, parameter)));
  };
  look(schema, '');
  const said = says.join('; ').replaceAll(/\s+/g, ' ');
  const own = path === '' ? `its schema says: ${said}` : `with ${path}${said === '' ? '' : `: ${said}`}`;
  return [...(path === '' && said === '' ? [] : [own]), ...inside];
}

function dotted(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** What is new or has changed, the old above the new. Empty if nothing has. */
export function diffLines(tools: readonly ToolView[]): string[] {
  return tools
    .flatMap((tool) => {
      if (tool.state === 'new') return [`${tool.name} is new:`, ...jsonLines(tool.now, '+ '), ''];
      if (tool.state === 'gone') return [`${tool.name} is not listed any more.`, ''];
      if (tool.state === 'unusable') return [`${tool.name} can't be used: ${tool.problem ?? ''}`, ''];
      if (tool.state !== 'changed') return [];
      const [was, now] = [jsonLines(tool.was, ''), jsonLines(tool.now, '')];
      return [
        `${tool.name} changed:`,
        ...was.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
        ...now.filter((line) => !was.includes(line)).map((line) => `+ ${line}`),
        '',
      ];
    })
    .map((line) => oneVisible(line));
}

function jsonLines(value: unknown, before: string): string[] {
  return (JSON.stringify(inOrder(value), null, 2) ?? '').split('\n').map((line) => before + line);
}

/** Indented as it is, and one line. */
function oneVisible(line: string): string {
  const [indent = ''] = /^ */.exec(line) ?? [];
  return indent + oneLine(visible(line));
}

/** `2 tools are approved, 1 is new`. */
export function toolCounts(tools: readonly ToolView[]): string {
  const count = (state: ToolView['state']): number => tools.filter((tool) => tool.state === state).length;
  const parts = (['approved', 'changed', 'new', 'unusable', 'gone'] as const).filter((state) => count(state) > 0).map((state) => `${count(state)} ${state}`);
  return tools.length === 0 ? 'It has listed no tools.' : `${plural(tools.length, 'tool')}: ${parts.join(', ')}.`;
}
