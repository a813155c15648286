// What an answer says of itself: its id, and the model that has made it. Pure: no I/O.
import type { AnswerFacts } from '../../core/index.ts';

type Told = Pick<AnswerFacts, 'id' | 'model'>;

/** No provider has longer names. A piece of a longer text would keep all of it in memory, so that is none. */
const MAX_NAME = 256;

/** A name that a provider tells; undefined for what is none. */
export function toldName(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME ? value : undefined;
}

/** From these two values of an answer; undefined if it says neither. */
export function toldAnswer(id: unknown, model: unknown): Told | undefined {
  const told = { id: toldName(id), model: toldName(model) };
  return told.id === undefined && told.model === undefined ? undefined : told;
}
