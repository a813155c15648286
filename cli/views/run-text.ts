// The journal of a run as a timeline. Pure: no I/O.
import type { RunJournal, RunRecord } from '../../core/index.ts';
import { shortId } from '../../core/base/short-id.ts';
import { count, money, plural } from '../terminal/format.ts';
import { oneLine } from '../terminal/output.ts';
import { visibleLine } from '../terminal/unseen.ts';
import { reasonOf } from './approval-text.ts';
import type { View } from './block-text.ts';

type Of<T extends RunRecord['t']> = Extract<RunRecord, { readonly t: T }>;

const SHOWN = 200;

/** A line for each step: calls of the model, calls of tools, waits and outcomes. */
export function runLines({ records }: RunJournal, { style }: Pick<View, 'style'>): string[] {
  const tools = new Map<string, string>(
    records.flatMap((record) => (record.t === 'answer' ? record.calls.map((call) => [`${record.step}.${call.n}`, call.tool] as const) : [])),
  );
  const asked = new Map(records.flatMap((record) => (record.t === 'ask' ? [[record.approval.id, record.call] as const] : [])));
  const questions = new Map<string, number>();
  const answered = new Set<string>();
  const named = (call: string): string => `${call} ${oneLine(tools.get(call) ?? '')}`;
  /** One that goes on with the answer of a person is no other try. */
  const sentText = ({ call, at, try: tries }: Of<'call'>): string => {
    const own = tries - (questions.get(call) ?? 0);
    const what = answered.delete(call) ? 'goes on with the answer' : 'called';
    return `${what}  ${time(at)}${own > 1 ? `, try ${own}` : ''}`;
  };
  return records.flatMap((record): string[] => {
    switch (record.t) {
      case 'run':
        return [
          style.bold(`run ${record.run}`) +
            style.dim(`  ${time(record.at)}  ${plural(record.tools.length, 'tool')}${skillsOf(record)}, because of ${oneLine(record.cause)}`),
        ];
      case 'resume':
        return [style.dim(`goes on  ${time(record.at)}`)];
      case 'answer':
        return answerLines(record);
      case 'ask':
        return [`  ${named(record.call)} ${style.warn('waits for a person')} (${shortId(record.approval.id)}, because ${reasonOf(record.approval)})`];
      case 'decision':
        return [`  ${named(asked.get(record.approval) ?? '')}: ${decisionText(record)}${note(record.note)}`];
      case 'call':
        return [style.dim(`  ${named(record.call)} ${sentText(record)}`)];
      case 'task':
        return [style.dim(`  ${named(record.call)} goes on at its server as a task  ${time(record.at)}`)];
      case 'cancel':
        return [style.dim(`  ${named(record.call)} its server is asked to cancel the task  ${time(record.at)}`)];
      case 'input':
        questions.set(record.call, (questions.get(record.call) ?? 0) + 1);
        answered.add(record.call);
        return [
          `  ${named(record.call)} ${style.warn('asks a person')}: ${short(
            Object.values(record.requests)
              .map(({ message }) => message)
              .join(' '),
          )}`,
        ];
      case 'result':
        return [`  ${named(record.call)} ${record.isError ? style.bad('ran, with an error') : style.good('done')} in ${record.ms} ms: ${short(record.text)}`];
      case 'refused':
        return [`  ${named(record.call)} ${style.bad(`refused (${record.code})`)}: ${short(record.note)}`];
      case 'unknown':
        return [`  ${named(record.call)} ${style.warn('UNKNOWN: it may have taken effect')}: ${short(record.why)}`];
      case 'end':
        return [`${style.bold(`end: ${record.status}`)}${record.code === undefined ? '' : ` (${record.code})`}`];
      default:
        return [];
    }
  });
}

/** By their names, as the model was offered them. */
function skillsOf({ skills = [] }: Of<'run'>): string {
  return skills.length === 0 ? '' : `, ${skills.length === 1 ? 'the skill' : 'the skills'} ${oneLine(skills.map((one) => one.replace(/#.*$/, '')).join(', '))}`;
}

function answerLines({ step, at, text, calls, usage, costUsd, latencyMs }: Of<'answer'>): string[] {
  const used = usage === null ? '' : `, ${count(usage.totalTokens)} tokens`;
  const head = `step ${step}  ${time(at)}  model, ${Math.round(latencyMs)} ms${used}, ${money(costUsd)}`;
  return [
    head,
    ...(text.trim() === '' ? [] : [`  ${short(text)}`]),
    ...calls.map(({ n, tool, arguments: args }) => `  ${step}.${n} ${oneLine(tool)} ${short(JSON.stringify(args))}`),
  ];
}

function time(at: string): string {
  return at.slice(11, 23);
}

function decisionText({ decision, by }: Of<'decision'>): string {
  if (by.channel !== 'clock') return `${decision} by ${by.channel} ${oneLine(by.name)}`;
  return decision === 'expire' ? 'nobody has decided in time' : 'its message ended before anybody has decided';
}

function note(text: string | undefined): string {
  return text === undefined ? '' : `: ${short(text)}`;
}

function short(text: string): string {
  const line = visibleLine(text);
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}
