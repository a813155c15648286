// Decides the calls of an answer before any of them is made (decide-all-then-act): refused, to be made, or to be decided by a person.
//
// no-silent-repeat: a call that was sent and has no outcome is sent again only if its tool is repeatable, and not more than MAX_TRIES times in all.
// bound: what was approved is this tool with these arguments and this definition.
// few-asked: an answer may have thousands of calls. Those for which the run has no room are refused before anything else is looked at, so no more wait for a person
//   than the run may make.
// in-turns: an answer may have thousands of calls whose arguments take long to check, so others are served between them.
// where-again: a call that only a rule with `where` allows is judged again right before it is made, when the calls before it have ended: they may have made a link.
import { homedir } from 'node:os';
import { randomBytes } from 'node:crypto';
import { hasRoom, sharedTurn } from '../../../base/next-turn.ts';
import type { RunRecord } from '../../../types.ts';
import { FIND_TOOL } from '../../../tools/builtin/definitions.ts';
import { digestOf } from '../../../tools/canonical.ts';
import type { CallState, RunState } from '../../../tools/journal.ts';
import { equalBefore, isRepeatOf } from '../../../tools/next.ts';
import type { OfferedTool } from '../../../tools/offer.ts';
import { judgeCall } from '../../../tools/policy.ts';
import type { Probe } from '../../../tools/probe.ts';
import type { ToolSettings } from '../../../tools/settings.ts';
import { taintOfRun, unitedTaint } from '../../../tools/taint.ts';
import type { Approval, Taint } from '../../../types.ts';

/** The first one, and two more. */
export const MAX_TRIES = 3;
/** As many times the model reads what is wrong with its arguments. */
const MAX_EXPLAINED = 2;

/** What calls are checked with. */
export interface CheckOptions {
  readonly block: string;
  readonly messageId: string;
  readonly state: RunState;
  readonly settings: ToolSettings;
  /** By `server/tool`. */
  readonly tools: ReadonlyMap<string, OfferedTool>;
  /** Why calls broke off that were made in this process, by their place. */
  readonly causes: ReadonlyMap<string, string>;
  /** Places of calls whose task has said nothing, and is not asked for again in this attempt. */
  readonly lost: ReadonlySet<string>;
  /** The probe of a call whose outcome is not known; undefined where there is none that says it. */
  probeOf?(call: CallState, tool: OfferedTool): Probe | undefined;
  /** What the prompt shows of somebody outside. */
  readonly taint: readonly Taint[];
  /** Epoch milliseconds. */
  readonly now: number;
  real(path: string): Promise<string | undefined>;
}

/** A call that may be made. */
export interface ReadyCall {
  readonly call: CallState;
  readonly tool: OfferedTool;
  /** where-again. Undefined where nothing can have changed. */
  isStillAllowed?(): Promise<boolean>;
}

/** What becomes of the calls: if anything is asked, none is ready. */
export interface Checked {
  readonly records: readonly RunRecord[];
  readonly ready: readonly ReadyCall[];
  /** To be asked before all else: nothing is recorded or made until they have answered. */
  readonly probes: readonly ProbeCall[];
}

/** A call that a probe is asked about. */
export interface ProbeCall extends ReadyCall {
  readonly probe: Probe;
}

type Verdict = RunRecord | { readonly ready: ReadyCall } | { readonly probe: ProbeCall };

/** Checks the calls of the last answer that have no outcome. */
export async function checkCalls(options: CheckOptions): Promise<Checked> {
  const records: RunRecord[] = [];
  const ready: ReadyCall[] = [];
  const probes: ProbeCall[] = [];
  const room = new CallRoom(options.state);
  for (const call of options.state.last?.calls ?? []) {
    if (call.outcome !== undefined) continue;
    if (!hasRoom()) await sharedTurn(options.block); // in-turns
    const verdict = await new Check(options, call, room).verdict();
    if ('ready' in verdict) ready.push(verdict.ready);
    else if ('probe' in verdict) probes.push(verdict.probe);
    else records.push(verdict);
  }
  if (probes.length > 0) return { records: [], ready: [], probes };
  return { records, ready: records.some(({ t }) => t === 'ask') ? [] : ready, probes };
}

/** How many calls a run may still make. */
class CallRoom {
  #left: number;

  constructor(state: RunState) {
    const made = state.calls.filter(({ run, tries }) => run === state.run?.run && tries > 0).length;
    this.#left = (state.limits?.calls ?? 0) - made;
  }

  get isFull(): boolean {
    return this.#left <= 0;
  }

  take(): void {
    this.#left -= 1;
  }
}

class Check {
  readonly #options: CheckOptions;
  readonly #call: CallState;
  readonly #room: CallRoom;

  constructor(options: CheckOptions, call: CallState, room: CallRoom) {
    this.#options = options;
    this.#call = call;
    this.#room = room;
  }

  async verdict(): Promise<Verdict> {
    const { asked, approval, tries } = this.#call;
    const { tools, state } = this.#options;
    const tool = tools.get(asked.tool);
    if (tries > 0) return this.#sent(tool);
    if (this.#room.isFull) return this.#refuse('limit', 'The run has made all the calls that it may make. Answer with what you have.'); // few-asked
    if (tool === undefined) return this.#notThere();
    const wrong = tool.check(asked.arguments);
    if (wrong !== undefined) return this.#wrongArguments(wrong);
    if (approval === undefined && equalBefore(state, this.#call) + 1 >= (state.limits?.sameCall ?? Number.POSITIVE_INFINITY))
      return this.#refuse('same-call', 'You have called this with the same arguments before; the results are above. Do something else, or answer.');
    const ruled = await this.#ruled(tool);
    if (ruled === undefined || !('t' in ruled) || ruled.t === 'ask') this.#room.take();
    if (ruled !== undefined && 't' in ruled) return ruled;
    return { ready: { call: this.#call, tool, ...ruled } };
  }

  /** A record, unless the call may be made. */
  async #ruled(tool: OfferedTool): Promise<RunRecord | Pick<ReadyCall, 'isStillAllowed'> | undefined> {
    const { settings, state, real } = this.#options;
    const { asked, approval } = this.#call;
    const isRepeat = isRepeatOf(state, this.#call, tool.marks.readOnly);
    const call = { tool: tool.id, arguments: asked.arguments, pin: tool.definition.pin, marks: tool.marks, isRepeat, isTainted: this.#taint().length > 0 };
    if (tool.isFree) return undefined;
    const verdict = await judgeCall(settings, call, { home: homedir(), real });
    if (verdict.kind === 'deny') return this.#refuse('denied', 'The rules of this block do not allow this call.');
    if (approval?.decision !== undefined) return this.#decided(tool);
    if (verdict.kind === 'allow')
      return verdict.isByPath === true
        ? { isStillAllowed: async () => (await judgeCall(settings, call, { home: homedir(), real })).kind === 'allow' }
        : undefined;
    return this.#ask(tool, 'call', verdict.because);
  }

  /** bound. */
  #decided({ id, definition }: OfferedTool): RunRecord | undefined {
    const { approval, asked } = this.#call;
    const { decision, note } = approval?.decision ?? { decision: 'cancel', note: undefined };
    const said = note === undefined ? '' : ` ${note}`;
    if (decision === 'deny') return this.#refuse('denied', `The user has denied this call.${said}`);
    if (decision !== 'approve') return this.#refuse('expired', 'Nobody has answered whether this call may be made, so it was not made.');
    if (approval?.approval.digest === digestOf(id, asked.arguments, definition.pin)) return undefined;
    return this.#refuse('changed', 'The tool has changed since the user approved the call, so it was not made.');
  }

  /** What becomes of a call that may have run. */
  #sent(tool: OfferedTool | undefined): Verdict {
    const { settings, causes } = this.#options;
    const { tries, approval, place } = this.#call;
    const isSame = tool !== undefined && tool.definition.pin === this.#call.pin;
    const question = this.#question(tool, isSame);
    if (question !== undefined) return question;
    if (isSame && this.#call.task !== undefined && !this.#options.lost.has(place)) return { ready: { call: this.#call, tool } }; // the server knows
    if (isSame && tool.isRepeatable && tries < MAX_TRIES) return { ready: { call: this.#call, tool } }; // no-silent-repeat
    const why = causes.get(place) ?? 'the server ended while it ran';
    // A decision about an earlier try says nothing of the last one.
    const isOfLastTry = approval?.approval.kind === 'unknown' && approval.approval.createdAt >= (this.#call.begunAt ?? '');
    const asked = isOfLastTry ? approval.decision : undefined;
    if (asked?.decision === 'ran')
      return {
        t: 'result',
        call: place,
        at: asked.at,
        ms: 0,
        isError: false,
        text: `The user says that this call ran.${asked.note === undefined ? '' : ` ${asked.note}`}`,
        by: 'person',
      };
    const probe = isSame && asked === undefined ? this.#options.probeOf?.(this.#call, tool) : undefined;
    if (tool !== undefined && probe !== undefined) return { probe: { call: this.#call, tool, probe } };
    if (asked?.decision === 'not-ran' && isSame) return { ready: { call: this.#call, tool } };
    if (settings.onUnknown === 'ask' && asked === undefined && tool !== undefined) return this.#ask(tool, 'unknown', 'unknown');
    return { t: 'unknown', call: place, why, ...(causes.has(place) && { open: tool?.marks.closedWorld !== true }) };
  }

  /** What becomes of a call whose server has asked a person; undefined where it has not, or where the call was made again with the answer. */
  #question(tool: OfferedTool | undefined, isSame: boolean): Verdict | undefined {
    const { question, place, task } = this.#call;
    if (question === undefined || question.isAnswered || (task !== undefined && this.#options.lost.has(place))) return undefined;
    const over = (why: string): RunRecord => {
      const text = `The server has asked a person for something, and got no answer: ${why}.`;
      return { t: 'result', call: place, at: new Date(this.#options.now).toISOString(), ms: 0, isError: true, text };
    };
    if (tool === undefined || !isSame) return over('the tool has changed since'); // bound
    if (Object.keys(question.requests).length > 0 && question.asked === undefined) return this.#ask(tool, 'input', 'input');
    const asked = question.asked?.approval;
    if (asked !== undefined && asked.digest !== this.#digest(tool, 'input')) return over('the tool has changed since'); // bound
    return { ready: { call: this.#call, tool } };
  }

  /** Of what a person sees. */
  #digest({ id, definition }: OfferedTool, kind: Approval['kind']): string {
    const { asked, question } = this.#call;
    return digestOf(id, kind === 'input' ? { arguments: asked.arguments, request: question?.requests } : asked.arguments, definition.pin);
  }

  #notThere(): RunRecord {
    const { tools, state } = this.#options;
    const { tool } = this.#call.asked;
    const wasThere = [...(state.run?.tools ?? []), ...state.added].some((one) => one.startsWith(`${tool}#`));
    if (wasThere) return this.#refuse('changed', 'The definition of this tool has changed, so it can not be called now.');
    const names = [...tools.values()].map(({ shown }) => shown.name);
    const more = names.includes(FIND_TOOL) ? ` Others are found with ${FIND_TOOL}.` : '';
    return this.#refuse('not-offered', `There is no tool of this name. The tools are ${names.join(', ') || 'none'}.${more}`);
  }

  #wrongArguments(wrong: string): RunRecord {
    const { state } = this.#options;
    const before = state.calls.filter(({ run, outcome }) => run === state.run?.run && outcome?.t === 'refused' && outcome.code === 'invalid-arguments');
    const note = before.length < MAX_EXPLAINED ? `The call was not made: ${wrong}` : 'The call was not made: its arguments are wrong again.';
    return this.#refuse('invalid-arguments', note);
  }

  #refuse(code: Extract<RunRecord, { readonly t: 'refused' }>['code'], note: string): RunRecord {
    return { t: 'refused', call: this.#call.place, code, note };
  }

  #ask(tool: OfferedTool, kind: Approval['kind'], because: Approval['because']): RunRecord {
    const { id, definition, marks } = tool;
    const { block, messageId, settings, now } = this.#options;
    const { place, asked, question } = this.#call;
    const approval: Approval = {
      id: `a${randomBytes(8).toString('hex')}`,
      block,
      messageId,
      call: place,
      kind,
      tool: id,
      arguments: asked.arguments,
      digest: this.#digest(tool, kind),
      because,
      marks,
      readBefore: this.#readBefore(),
      ...(this.#taint().length > 0 && { taint: this.#taint() }),
      pin: definition.pin,
      ...(kind === 'input' && question !== undefined && { request: question.requests }),
      createdAt: new Date(now).toISOString(),
      expiresAt: new Date(now + settings.approvals.timeoutMs).toISOString(),
    };
    return { t: 'ask', call: place, approval };
  }

  #readBefore(): string[] {
    return [...new Set(this.#options.state.calls.flatMap(({ asked, outcome }) => (outcome?.t === 'result' ? [asked.tool] : [])))];
  }

  #taint(): readonly Taint[] {
    const { tools, state, messageId, taint } = this.#options;
    return unitedTaint(
      taintOfRun(state, messageId, (id) => tools.get(id)?.marks.closedWorld === true),
      taint,
    );
  }
}
