// Calls that wait for a person, as text. What comes from tools and models is data: it is shown escaped, never as it is. Pure: no I/O.
import type { ShownApproval } from '../../core/index.ts';
import { shortId } from '../../core/base/short-id.ts';
import { relative } from '../terminal/format.ts';
import { type Column, table } from '../terminal/layout.ts';
import { oneLine } from '../terminal/output.ts';
import { visibleLine } from '../terminal/unseen.ts';
import type { View } from './block-text.ts';

const COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'BLOCK' },
  { title: 'CALL' },
  { title: 'BECAUSE', drop: 2 },
  { title: 'UNTIL', drop: 1 },
  { title: 'ARGUMENTS', min: 20 },
];
const SHOWN_ARGUMENTS = 60;

const BECAUSE: Readonly<Record<ShownApproval['because'], string>> = {
  rule: 'a rule asks',
  default: 'no rule names it',
  tainted: 'tainted',
  repeat: 'it may have happened before',
  unknown: 'its outcome is not known',
  input: 'the server asks',
};

/** What marks say, in the words of the page. */
const MARKS: Readonly<Record<keyof ShownApproval['marks'], string>> = {
  readOnly: 'it only reads',
  idempotent: 'it may be repeated',
  closedWorld: 'it sends nothing out',
};

/** The table of `approvals`. */
export function approvalTable(approvals: readonly ShownApproval[], view: View): string[] {
  if (approvals.length === 0) return [];
  const rows = approvals.map(({ id, block, tool, because, expiresAt, arguments: args }) => {
    const text = visibleLine(JSON.stringify(args));
    const shown = text.length > SHOWN_ARGUMENTS ? `${text.slice(0, SHOWN_ARGUMENTS)}…` : text;
    return [shortId(id), block, oneLine(tool), BECAUSE[because], relative(expiresAt, view.now), shown];
  });
  return table(COLUMNS, rows, view);
}

/** Everything that a person needs for a decision. */
export function approvalCard(approval: ShownApproval, { now, style }: Pick<View, 'now' | 'style'>): string[] {
  const { id, block, messageId, tool, arguments: args, marks, readBefore, taint = [], expiresAt, state } = approval;
  const held = Object.entries(MARKS).flatMap(([name, words]) => (marks[name as keyof typeof marks] ? [words] : []));
  return [
    `${style.bold(oneLine(tool))}  ${oneLine(block)}  ${style.dim(`${id}, message ${oneLine(messageId)}`)}`,
    ...leadLines(approval, style),
    ...argumentLines(args),
    `what is known of it: ${held.join(', ') || 'nothing, so it may write, and send data out'}`,
    ...(readBefore.length === 0 ? [] : [`read before: ${readBefore.map(oneLine).join(', ')}`]),
    ...taint.map((one) => style.warn(`tainted by ${taintText(one)}`)),
    state === 'pending' ? `decide within: ${relative(expiresAt, now)}` : decisionText(approval),
  ];
}

function leadLines(approval: ShownApproval, style: View['style']): string[] {
  const { kind, tool, request = {} } = approval;
  if (kind === 'unknown') return ['It may have run before it was cut off. Say whether it did.'];
  if (kind !== 'input') return [`It waits, because ${reasonOf(approval)}.`];
  const [server = ''] = tool.split('/');
  return [
    ...Object.values(request).flatMap(({ message, fields }) => [
      style.warn(`The server ${oneLine(server)} asks: ${visibleLine(message)}`),
      ...fields.map((field) => `  ? ${fieldLine(field)}`),
    ]),
    `What you type goes to ${oneLine(server)}, and the journal of the block keeps it. Type no secret.`,
  ];
}

/** The rest of a sentence after `because`. */
export function reasonOf({ because }: Pick<ShownApproval, 'because'>): string {
  return because === 'tainted' ? 'the run has read what somebody outside may have written' : BECAUSE[because];
}

/** Such as `web/fetch in message m0mw…`. */
export function taintText({ tool, via, messageId }: NonNullable<ShownApproval['taint']>[number]): string {
  return `${tool === undefined ? `a message that came by ${via ?? 'a way of others'}` : oneLine(tool)} in message ${oneLine(messageId)}`;
}

/** All of it, one argument a line. */
function argumentLines(args: ShownApproval['arguments']): string[] {
  const names = Object.keys(args);
  return names.length === 0 ? ['  no arguments'] : names.map((name) => `  ${shownWhole(name)}: ${shownWhole(JSON.stringify(args[name]))}`);
}

/** Many blanks would push what follows out of sight. */
const MANY_BLANKS = / {40,}/g;

function shownWhole(text: string): string {
  return visibleLine(text).replaceAll(MANY_BLANKS, ({ length }) => `[${length} blanks]`);
}

/** What was decided, as a sentence. */
export function decisionText({ tool, state, decision, decidedBy, scope, note }: ShownApproval): string {
  const who = decidedBy === undefined ? '' : ` by ${decidedBy.channel} ${decidedBy.name}`;
  const more = scope === undefined ? '' : `, and a rule allows ${scope === 'always' ? 'later calls' : 'later calls with these arguments'}`;
  const word = decision === 'ran' ? 'said to have run' : decision === 'not-ran' ? 'called again' : decision === 'tell' ? 'left to the model' : state;
  return `${tool} is ${word}${who}${more}.${note === undefined ? '' : ` Note: ${note}`}`;
}

type Field = NonNullable<ShownApproval['request']>[string]['fields'][number];

const KINDS: Readonly<Record<Field['type'], string>> = {
  string: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'yes or no',
  choice: 'one of',
  choices: 'any of',
};

/** Such as `name (text, required): Your name`. All of its words may be of the server, so what is not seen is shown. */
export function fieldLine({ name, title, description, type, format, options, min, max, isRequired, default: fallback }: Field): string {
  const choices = options?.map((option, at) => `${at + 1} ${option.title === option.value ? option.value : `${option.title} (${option.value})`}`).join(', ');
  const range = rangeOf(min, max);
  const bounds = range === '' ? '' : `, ${range}${type === 'string' ? ' characters' : ''}`;
  const kind = `${format ?? KINDS[type]}${choices === undefined ? '' : ` ${choices}`}${bounds}${isRequired ? ', required' : ''}`;
  const more = [title === name ? undefined : title, description].filter((text) => text !== undefined && text !== '').join('. ');
  const begins = fallback === undefined ? '' : ` [${JSON.stringify(fallback)}]`;
  return visibleLine(`${name} (${kind})${begins}${more === '' ? '' : ` ${more}`}`);
}

function rangeOf(min: number | undefined, max: number | undefined): string {
  if (min === undefined) return max === undefined ? '' : `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}
