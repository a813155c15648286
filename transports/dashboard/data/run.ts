// The run of a message as a line of time: the calls of the model and of tools, in their order. The second half is pure.
import type { ContentPart, RunJournal, RunRecord, ShownApproval } from '../../../core/types.ts';
import { get } from './http.ts';
import { blockURL } from './paths.ts';

/** Rejects with an ApiError. */
export async function readRun(block: string, messageId: string): Promise<RunJournal> {
  return get<RunJournal>(blockURL(block, `/runs/${encodeURIComponent(messageId)}`));
}

/** The text of a result that was too long for the model. Rejects with an ApiError. */
export async function readResult(block: string, messageId: string, ref: string): Promise<string> {
  const { parts } = await get<{ readonly parts: readonly ContentPart[] }>(
    blockURL(block, `/runs/${encodeURIComponent(messageId)}/results/${encodeURIComponent(ref)}`),
  );
  return parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}

type Of<T extends RunRecord['t']> = Extract<RunRecord, { readonly t: T }>;

/** A wait for a person, with its end. */
interface Wait {
  readonly ask: Of<'ask'>['approval'];
  decision?: Of<'decision'>;
}

/** A wait, what the server has asked, or that it goes on by itself. */
export type Moment = Wait | Of<'input'> | Of<'task'>;

/** A call of a tool, with all that the journal has of it. */
export interface ToolLine {
  readonly kind: 'tool';
  /** The step, and the number of the call in it. */
  readonly place: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** When it was sent; undefined if it was not. */
  at?: string;
  tries: number;
  /** What happened to it on the way, in this order. */
  readonly moments: Moment[];
  /** `done`, `unknown`, or why it was refused; undefined while it waits or runs. */
  outcome?: string;
  isError?: boolean;
  ms?: number;
  /** The result, or what was said instead. */
  text?: string;
  /** Where the whole result is, if the model has got a part alone. */
  ref?: string;
  /** A tool that looked after an outcome that was not known. */
  by?: string;
}

/** A call of the model. */
export interface ModelLine {
  readonly kind: 'model';
  readonly step: number;
  readonly at: string;
  readonly model: string;
  /** Undefined while there is none. */
  answer?: Of<'answer'>;
}

/** A run that begins again, or goes on. */
export interface BeginLine {
  readonly kind: 'run' | 'resume';
  readonly at: string;
}

export type RunLine = ToolLine | ModelLine | BeginLine;

/** The line of time. A record that this page has never heard of changes nothing. */
export function linesOfRun(records: readonly RunRecord[]): readonly RunLine[] {
  const lines: RunLine[] = [];
  const tools = new Map<string, ToolLine>();
  const asked = new Map<string, Wait>();
  let before: string | undefined;
  for (const record of records) {
    const isAfterWait = before === 'decision'; // that is why it goes on, and stands at its call
    before = record.t;
    if ((record.t === 'resume' && !isAfterWait) || (record.t === 'run' && record.run > 1)) lines.push({ kind: record.t, at: record.at });
    else if (record.t === 'model') lines.push({ kind: 'model', step: record.step, at: record.at, model: record.model });
    else if (record.t === 'answer') {
      const line = lines.findLast((each) => each.kind === 'model');
      if (line?.step === record.step) line.answer = record;
      for (const { n, tool, arguments: args } of record.calls) {
        const call: ToolLine = { kind: 'tool', place: `${record.step}.${n}`, tool, arguments: args, tries: 0, moments: [] };
        tools.set(call.place, call);
        lines.push(call);
      }
    } else takeCall(record, tools, asked);
  }
  return lines;
}

function takeCall(record: RunRecord, tools: ReadonlyMap<string, ToolLine>, asked: Map<string, Wait>): void {
  if (record.t === 'decision') {
    const moment = asked.get(record.approval);
    if (moment !== undefined) moment.decision ??= record;
    return;
  }
  const line = 'call' in record ? tools.get(record.call) : undefined;
  if (line === undefined) return;
  if (record.t === 'ask') {
    const moment = { ask: record.approval };
    line.moments.push(moment);
    asked.set(record.approval.id, moment);
  } else if (record.t === 'input' || record.t === 'task') line.moments.push(record);
  else if (record.t === 'call') {
    // One that goes on with an answer of a person is no other try.
    line.at ??= record.at;
    line.tries = record.try - line.moments.filter((moment) => 't' in moment && moment.t === 'input').length;
  } else if (record.t === 'result') {
    const { isError, ms, text, ref, by } = record;
    Object.assign(line, { outcome: 'done', isError, ms, text, ref, by });
  } else if (record.t === 'refused') Object.assign(line, { outcome: record.code, text: record.note });
  else if (record.t === 'unknown') Object.assign(line, { outcome: 'unknown', text: record.why });
}

/** The cost of the calls of the model, and how many of them had no price. */
export function costOf(lines: readonly RunLine[]): { readonly usd: number | null; readonly uncounted: number } {
  const answers = lines.flatMap((line) => (line.kind === 'model' && line.answer !== undefined ? [line.answer.costUsd] : []));
  const priced = answers.filter((usd) => usd !== null);
  return { usd: priced.length === 0 ? null : priced.reduce((sum, usd) => sum + usd, 0), uncounted: answers.length - priced.length };
}

/** True while nobody has decided. */
export function waitsNow({ moments }: ToolLine): boolean {
  const last = moments.at(-1);
  return last !== undefined && 'ask' in last && last.decision === undefined;
}

/** What a decision says, in the form of an approval that was decided. */
export function decidedOf(
  { kind }: Pick<Of<'ask'>['approval'], 'kind'>,
  { decision, by }: Of<'decision'>,
): Pick<ShownApproval, 'kind' | 'state' | 'decision' | 'scope' | 'decidedBy'> {
  return { kind, state: 'approved', decision, decidedBy: by };
}
