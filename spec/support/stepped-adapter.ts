// A double of the adapter port for the core: each attempt plays the next step of a list.
import { once } from 'node:events';
import { type Adapter, type AdapterCall, BlockhouseError, type ChatCall, type ChatEvent } from '../../core/index.ts';

/** One attempt: events to emit, a failure to reject with, or a function that does what it likes. */
export type Step = readonly ChatEvent[] | Error | ((call: ChatCall) => Promise<void>);

export interface SteppedAdapter extends Adapter {
  /** The calls that `chat` received, one for each attempt. */
  readonly calls: ChatCall[];
  /** The calls that `verify` and `listModels` received. */
  readonly probes: AdapterCall[];
  closed: number;
}

/** A small whole answer. */
export const HELLO: readonly ChatEvent[] = [
  { type: 'text', text: 'Hel' },
  { type: 'text', text: 'lo' },
  { type: 'usage', usage: { inputTokens: 3, outputTokens: 2 } },
  { type: 'stop', stopReason: 'end_turn' },
];

/** Plays `steps` one by one and repeats the last. */
export function steppedAdapter(steps: readonly Step[] = [HELLO], overrides: Partial<Adapter> = {}): SteppedAdapter {
  const calls: ChatCall[] = [];
  const probes: AdapterCall[] = [];
  return {
    id: 'stepped',
    aliases: [],
    displayName: 'Stepped',
    authRequired: true,
    defaultModel: 'model-1',
    supportsStreaming: true,
    envVars: ['STEPPED_API_KEY', 'STEPPED_BASE_URL'],
    settings: {
      apiKey: { env: ['STEPPED_API_KEY'], secret: true },
      baseURL: { env: ['STEPPED_BASE_URL'], default: 'https://api.stepped.example/v1' },
    },
    missingCredential: (settings) => (settings.values['apiKey'] === undefined ? 'Stepped needs STEPPED_API_KEY.' : undefined),
    async chat(call) {
      const step = steps[Math.min(calls.length, steps.length - 1)] ?? HELLO;
      calls.push(call);
      if (step instanceof Error) throw step;
      if (typeof step === 'function') return step(call);
      call.sink.emit(step);
    },
    async listModels(call) {
      probes.push(call);
      return ['model-1', 'model-2'];
    },
    async verify(call) {
      probes.push(call);
      return 'It answers.';
    },
    async close() {
      this.closed += 1;
    },
    ...overrides,
    calls,
    probes,
    closed: 0,
  };
}

/** A provider that has the request and says nothing until the caller leaves. */
export async function untilAborted(call: ChatCall): Promise<void> {
  if (!call.signal.aborted) await once(call.signal, 'abort');
  throw new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.', { mayHaveRun: true });
}

/** A failure that may be repeated, almost at once. */
export function passingFault(message = 'overloaded', retryAfterMs = 1): BlockhouseError {
  return new BlockhouseError('UPSTREAM_FAILED', message, { retryAfterMs });
}

/** A promise with the function that settles it, to hold a step where a test wants it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
