// The reply that a block is writing, made of the frames of the socket. Pure.

/** A step of a reply, as the server sends it. */
export interface Step {
  readonly id: string;
  readonly seq: number;
  readonly event: string;
  readonly [field: string]: unknown;
}

/** What has been seen of a reply. */
export interface Reply {
  /** Id of the message that is answered. */
  readonly id: string;
  readonly seq: number;
  readonly text: string;
  readonly provider: string;
  readonly model: string;
  readonly attempt: number;
  /** Epoch milliseconds of the first text of this attempt; undefined before it. */
  readonly firstTextAt: number | undefined;
  /** Where its pace is measured from: what came at once, when the page was opened in the middle, says nothing about it. */
  readonly paceFrom: { readonly at: number; readonly characters: number };
  readonly phase: 'writing' | 'done' | 'failed' | 'waits';
  readonly answerId: string | undefined;
  readonly code: string | undefined;
  readonly error: string | undefined;
  /** When the last step came, in epoch milliseconds. */
  readonly at: number;
}

/** Pieces that come so soon after the first one were there already. */
const AT_ONCE_MS = 250;

/** The reply after a step. A step that was seen already, or that this page does not know, changes nothing. */
export function afterStep(reply: Reply | undefined, step: Step, at: number): Reply | undefined {
  if (reply !== undefined && step.seq <= reply.seq) return reply;
  const same = reply?.id === step.id ? reply : undefined;
  if (step.event === 'start') {
    const { provider = '', model = '', attempt = 1 } = step as { provider?: string; model?: string; attempt?: number };
    return { ...fresh(step, at), provider, model, attempt };
  }
  const before = same ?? fresh(step, at);
  const now = { ...before, seq: step.seq, at };
  if (step.event === 'content') {
    const text = before.text + String(step['text'] ?? '');
    const firstTextAt = before.firstTextAt ?? at;
    const paceFrom = at - firstTextAt < AT_ONCE_MS ? { at, characters: text.length } : before.paceFrom;
    return { ...now, phase: 'writing', text, firstTextAt, paceFrom };
  }
  if (step.event === 'done') return { ...now, phase: 'done', answerId: String(step['answerId'] ?? '') };
  if (step.event === 'error') {
    return { ...now, phase: step['willRetry'] === true ? 'waits' : 'failed', code: String(step['code'] ?? ''), error: String(step['error'] ?? '') };
  }
  return reply;
}

function fresh({ id, seq }: Step, at: number): Reply {
  return {
    id,
    seq,
    at,
    text: '',
    provider: '',
    model: '',
    attempt: 1,
    firstTextAt: undefined,
    paceFrom: { at, characters: 0 },
    phase: 'writing',
    answerId: undefined,
    code: undefined,
    error: undefined,
  };
}
