// A person decides about a call that waits.
//
// bound: a decision names the digest of what was shown. Another tool, other arguments or another definition have another one, and a tool whose definition has changed
//   meanwhile can't be approved.
// one-decision: of two decisions at once one holds, because the journal takes one record of each number. The same
//   decision by the same person in the same millisecond, at two servers, is one record, and both are answered with it.
// late-is-no: after its deadline a call can't be approved, also where nothing has noticed the deadline yet.
// decided-then-ruled: a rule for later calls is written after the decision that it comes from is on disk, so that a decision that came second leaves none. A crash between
//   the two leaves the decision without its rule, and the next call asks again.
import { BlockhouseError, invalidRequest } from '../../../errors.ts';
import { answersFault } from '../../../tools/input.ts';
import type { AskedFor, RunState } from '../../../tools/journal.ts';
import type { Decide, Decider, RunRecord, ShownApproval, ToolRule } from '../../../types.ts';
import type { Approval } from '../../../types.ts';
import { type JournalOptions, RunJournal } from './run-journal.ts';
import { isOver, scopesFor, shown } from './shown.ts';

/** What is decided, by whom, and what it works on. */
export interface Decision extends JournalOptions {
  readonly approval: string;
  readonly body: Decide;
  readonly by: Decider;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The hash of the tool's definition as it is now: null for a tool that can't be called, undefined where that is not known. */
  pinNow(tool: string): Promise<string | null | undefined>;
  /** Adds a rule to `tools.allow` of the block. */
  allow(rule: ToolRule): Promise<void>;
}

const CHOICES: Readonly<Record<Approval['kind'], readonly string[]>> = {
  call: ['approve', 'deny'],
  unknown: ['ran', 'not-ran', 'tell'],
  input: ['approve', 'deny'],
};

/** On disk when it resolves. Rejects with APPROVAL_NOT_FOUND, APPROVAL_DECIDED, APPROVAL_STALE, INVALID_REQUEST. */
export async function decide(decision: Decision): Promise<ShownApproval> {
  const { approval: id, body, by, now } = decision;
  const journal = await RunJournal.open(decision);
  const { approval } = assertOpen(journal.state, decision);
  const scope = assertScope(approval, body);
  assertInput(approval, body);
  if (body.decision === 'approve' || body.decision === 'not-ran') await assertSameTool(approval, decision);
  const at = new Date(now).toISOString();
  const note = body.note === undefined || body.note.trim() === '' ? {} : { note: body.note };
  const late: RunRecord = { t: 'decision', approval: id, decision: 'expire', by: { channel: 'clock', name: 'deadline' }, at };
  await journal.appendFor((state) => {
    assertOpen(state, decision);
    if (isOver(approval, now)) return [late]; // late-is-no
    const more = { ...note, ...(scope !== 'once' && { scope }), ...(body.input !== undefined && { input: body.input }) };
    return [{ t: 'decision', approval: id, decision: body.decision, by, at, ...more }]; // one-decision
  });
  if (isOver(approval, now)) throw new BlockhouseError('APPROVAL_DECIDED', 'Its deadline is over, so the call is not made.');
  if (scope !== 'once') await decision.allow(ruleFor(approval, scope)); // decided-then-ruled
  return shown(journal.state, journal.state.askedFor(id) as AskedFor, now);
}

function assertOpen(state: RunState, { approval: id, body }: Decision): AskedFor {
  const asked = state.askedFor(id);
  if (asked === undefined) throw new BlockhouseError('APPROVAL_NOT_FOUND', `Nothing waits under the id ${JSON.stringify(id.slice(0, 64))}.`);
  const { decision: before, by } = asked.decision ?? {};
  if (before !== undefined) throw new BlockhouseError('APPROVAL_DECIDED', `It was decided already: ${before}, by ${by?.channel} ${by?.name}.`);
  if (!state.pending.includes(asked)) throw new BlockhouseError('APPROVAL_DECIDED', 'The call does not wait any more.');
  const { kind, digest } = asked.approval;
  if (digest !== body.digest) throw new BlockhouseError('APPROVAL_STALE', 'The call is another one than the digest says. Read it again.'); // bound
  if (!CHOICES[kind].includes(body.decision)) throw invalidRequest('decision', `must be one of ${CHOICES[kind].join(', ')} for this call`);
  return asked;
}

function assertScope(approval: Approval, { decision, scope = 'once' }: Decide): NonNullable<Decide['scope']> {
  if (scope === 'once') return scope;
  if (decision !== 'approve') throw invalidRequest('scope', 'is for the decision approve');
  if (scopesFor(approval).includes(scope)) return scope;
  const why = approval.because === 'tainted' ? 'the run has read what somebody outside may have written' : `it waits because of ${approval.because}`;
  throw invalidRequest('scope', `can only be once for this call, without always or same-arguments, because ${why}`);
}

/** as-asked (core/tools/input.ts). */
function assertInput({ kind, request = {} }: Approval, { decision, input }: Decide): void {
  if (kind !== 'input' || decision !== 'approve') {
    if (input !== undefined) throw invalidRequest('input', 'is for the decision approve about a call whose server asks for something');
    return;
  }
  if (input === undefined) throw invalidRequest('input', `must have an answer for ${Object.keys(request).join(', ')}`);
  const fault = answersFault(request, input);
  if (fault !== undefined) throw invalidRequest(fault.path, fault.problem);
}

/** bound. */
async function assertSameTool({ tool, pin }: Approval, { pinNow }: Decision): Promise<void> {
  const now = await pinNow(tool);
  if (now === undefined || pin === undefined || now === pin) return;
  const what = now === null ? 'is not offered any more (it was changed or removed)' : 'has changed since it was shown';
  throw new BlockhouseError('APPROVAL_STALE', `The tool ${tool} ${what}, so the call can't be approved. Deny it; the model may ask again.`);
}

function ruleFor({ tool, pin, arguments: args, because }: Approval, scope: 'always' | 'same-arguments'): ToolRule {
  return {
    tool,
    ...(pin !== undefined && { pin }),
    ...(scope === 'same-arguments' && { arguments: args }),
    ...(because === 'tainted' && { evenTainted: true }),
  };
}
