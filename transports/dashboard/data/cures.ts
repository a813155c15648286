// What mends a block that needs a person: the actions that the server names. Types only.
import type { Explanation } from '../../../core/types.ts';

/** An action that the server offers. An id that this page does not know is shown as its words, without a button. */
export interface Cure {
  readonly id: string;
  readonly label: string;
  readonly block?: string;
  readonly adapter?: string;
  readonly field?: string;
}

/** Why a block is as it is, and what helps. */
export type Why = Explanation & { readonly actions?: readonly Cure[] };
