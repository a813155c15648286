// Short notes at the foot of the page: what was done, with its undo; what failed, with the server's own sentence.
import { signal } from '@preact/signals';
import { announce } from './announce.ts';

/** One note. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action?: { readonly label: string; run(): void } | undefined;
}

const SHOWN_MS = 7000;
/** Time to read a failure and to copy it. */
const FAILURE_MS = 15_000;

export const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Tells what was done. */
export function tell(text: string, action?: Toast['action'], ms = SHOWN_MS): void {
  lastId += 1;
  const toast: Toast = { id: lastId, text, action };
  toasts.value = [...toasts.peek().slice(-2), toast];
  announce(text);
  setTimeout(() => dismiss(toast.id), ms);
}

/** Tells what failed. */
export function tellFailure(error: unknown, action?: Toast['action']): void {
  tell(error instanceof Error ? error.message : String(error), action, FAILURE_MS);
}

/** Takes a note away. */
export function dismiss(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}
