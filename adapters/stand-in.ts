// The echo provider, whose id is `stand-in`: it repeats what it gets and says that no model has answered. It calls nobody and costs nothing, so that a person
// can look around before there is a key or a local model.
import { setTimeout as delay } from 'node:timers/promises';
import { type Adapter, BlockhouseError, type ChatCall, type Prompt } from '../core/index.ts';

const NAME = 'stand-in';
/** Slow enough to see the words arrive. */
const WORD_MS = 25;
/** A longer message is repeated up to here. */
const ECHO_CHARACTERS = 300;
const NO_TOKENS = { inputTokens: 0, outputTokens: 0, usesNothing: true } as const;

/** The options of `createStandIn`. */
export interface StandInOptions {
  /** Milliseconds between two words of a streamed answer; the default is 25. */
  readonly wordMs?: number;
}

/** The echo provider. It is not among those of `createAdapters()` and in no list of adapters. */
export function createStandIn({ wordMs = WORD_MS }: StandInOptions = {}): Adapter {
  return {
    id: NAME,
    aliases: [],
    displayName: 'The echo provider',
    authRequired: false,
    defaultModel: NAME,
    supportsStreaming: true,
    standsIn: true,
    envVars: [],
    settings: {},
    missingCredential: () => undefined,
    chat: (call) => answer(call, wordMs),
    curatedModels: [NAME],
    listModels: () => Promise.resolve([NAME]),
    verify: () => Promise.resolve('The echo provider answers without a model and calls nobody.'),
    close: () => Promise.resolve(),
  };
}

async function answer({ prompt, stream, sink, signal }: ChatCall, wordMs: number): Promise<void> {
  const text = textFor(prompt);
  for (const word of stream ? (text.match(/\S+\s*/g) ?? []) : [text]) {
    assertWanted(signal);
    if (!sink.emit([{ type: 'text', text: word }])) await new Promise<void>((resolve) => sink.onceWritable(resolve));
    // An abort ends the wait and is told by the next look at the signal.
    if (stream) await delay(wordMs, undefined, { signal }).catch(() => undefined);
  }
  assertWanted(signal);
  sink.emit([
    { type: 'usage', usage: NO_TOKENS },
    { type: 'stop', stopReason: 'end_turn' },
  ]);
}

function assertWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.', { cause: signal.reason });
}

function textFor({ turns }: Prompt): string {
  const last = turns.findLast((turn) => turn.role === 'user');
  return [
    `No model has answered: this is the echo provider of this server. You wrote: “${shortened(last?.text ?? '')}”.`,
    'All else is real: the words came one after the other, the answer stays in the folder of this block, and it cost nothing.',
    'For answers of a model, set a provider under **First steps** or with `blockhouse auth set`, and choose its model in the **Config** of this block.',
  ].join('\n\n');
}

/** In one line, so that it stays one sentence. */
function shortened(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length <= ECHO_CHARACTERS ? line : `${line.slice(0, ECHO_CHARACTERS).trimEnd()}…`;
}
