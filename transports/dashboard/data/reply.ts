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
  readonly phase: 'writing' | 'done' | 'failed' | 'waits';
  readonly answerId: string | undefined;
  readonly code: string | undefined;
  readonly error: string | undefined;
  /** When the last step came, in epoch milliseconds. */
  readonly at: number;
}

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
    return { ...now, phase: 'writing', text: before.text + String(step['text'] ?? ''), firstTextAt: before.firstTextAt ?? at };
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
    phase: 'writing',
    answerId: undefined,
    code: undefined,
    error: undefined,
  };
}
