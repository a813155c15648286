// Announcements for screen readers: one polite region, one sentence at a time.
import { signal } from '@preact/signals';

/** The sentence that a screen reader reads out. */
export const announced = signal('');

let turn = false;

/** Tells a sentence, also when it is the same as the last one. */
export function announce(sentence: string): void {
  turn = !turn;
  announced.value = turn ? sentence : `${sentence}\u00a0`;
}
