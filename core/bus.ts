// The bus: facts about what has happened, in the past tense, for logs, metrics and transports. Documented in
// docs/events.md; a test holds the list there to this one.
import mittModule, { type Emitter } from 'mitt';
import type { ErrorCode } from './errors.ts';
import type { Usage } from './schemas/chat.ts';

interface ChatFact {
  readonly requestId: string;
  readonly adapter: string;
  readonly model: string;
}

export type CoreEvents = {
  /** A chat request was accepted and is about to wait for its place in the queue. */
  'chat.started': ChatFact & { readonly stream: boolean };
  /** An attempt failed and will be repeated after `delayMs`. */
  'chat.retried': ChatFact & { readonly attempt: number; readonly delayMs: number; readonly code: ErrorCode; readonly error: string };
  /** A chat request ended: exactly one for each `chat.started`. `code` is absent when it succeeded. */
  'chat.finished': ChatFact & {
    readonly attempts: number;
    readonly durationMs: number;
    /** Milliseconds from acceptance to the first text; absent when there was none. */
    readonly firstTextMs?: number | undefined;
    readonly usage?: Usage | undefined;
    readonly code?: ErrorCode | undefined;
  };
  /** auth.json was read again after a change. */
  'credentials.changed': { readonly file: string };
  /** auth.json can't be read; the last good content stays in use. */
  'credentials.damaged': { readonly file: string; readonly reason: string };
  /** The API token is another one now. */
  'token.rotated': { readonly file: string };
};

export type CoreBus = Emitter<CoreEvents>;

// The package's types describe its CommonJS build, where the function is a property; at run time it is the default export.
const mitt = mittModule as unknown as typeof mittModule.default;

/** A listener that throws is reported as a process warning; neither the other listeners nor the work that emitted the fact notice. */
export function createBus(): CoreBus {
  const bus = mitt<CoreEvents>();
  const emit = (type: keyof CoreEvents, fact?: unknown): void => {
    for (const listener of [...(bus.all.get(type) ?? [])]) tell(() => (listener as (fact: unknown) => void)(fact));
    for (const listener of [...(bus.all.get('*') ?? [])]) tell(() => (listener as (type: string, fact: unknown) => void)(type, fact));
  };
  return { ...bus, emit };
}

function tell(call: () => void): void {
  try {
    call();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
