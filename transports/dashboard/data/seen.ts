// How many tokens a model has seen for each answer of a block, from the answers themselves.
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { ChatEntry } from '../../../core/types.ts';
import { ApiError } from './api-error.ts';
import { get } from './http.ts';
import { blockURL } from './paths.ts';
import { type Seen, seenIn } from './window.ts';

/** Entries that are read at most: an answer and its message are two. */
const MAX_ENTRIES = 300;

/** What the newest answers have seen. */
export interface SeenAnswers {
  /** Oldest first. */
  readonly answers: readonly Seen[];
  /** The newest answer that was read, with a count or without. */
  readonly last?: string | undefined;
  /** What went wrong since. */
  readonly error?: unknown;
}

/** Read again when `turn` changes, and then only what is new. */
export function useSeen(name: string, turn: unknown): Signal<SeenAnswers> {
  const state = useMemo(() => signal<SeenAnswers>({ answers: [] }), [name]);
  useEffect(() => {
    let isWanted = true;
    const before = state.peek();
    const take = (found: SeenAnswers): void => {
      if (isWanted) state.value = found;
    };
    void readAfter(name, before).then(take, (error: unknown) => take({ ...before, error }));
    return () => {
      isWanted = false;
    };
  }, [name, turn]);
  return state;
}

async function readAfter(name: string, { answers, last }: SeenAnswers): Promise<SeenAnswers> {
  if (last === undefined) return read(name, '');
  try {
    const fresh = await read(name, `&since=${encodeURIComponent(last)}`);
    return { answers: [...answers, ...fresh.answers].slice(-MAX_ENTRIES / 2), last: fresh.last ?? last };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'MESSAGE_NOT_FOUND') throw error;
    return read(name, ''); // the conversation is another one
  }
}

async function read(name: string, place: string): Promise<SeenAnswers> {
  const { messages } = await get<{ readonly messages: readonly ChatEntry[] }>(blockURL(name, `/chat?limit=${MAX_ENTRIES}${place}`));
  return { answers: seenIn(messages), last: messages.findLast(({ role }) => role === 'assistant')?.id };
}
