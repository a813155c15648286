// Words of a block's hooks.
import type { HookView } from '../../../core/types.ts';

export const hooksText = {
  title: 'Hooks',
  lead: 'Doors for other programs: what they deliver, signed with the secret of the hook, becomes a message.',
  add: 'Add a hook…',
  newTitle: 'Add a hook',
  save: 'Make the hook',
  signed: 'Deliveries are signed as',
  message: 'What the block is to do with what is delivered',
  newSecret: 'New secret',
  noSecret: 'It has no secret, so nothing can be delivered.',
  remove: 'Remove',
  removeText: 'Its secret opens nothing any more. Messages that it has taken stay.',
  removed: 'The hook is removed.',
  secretTitle: 'The secret of the hook',
  secretText: 'Give it to the program that delivers, with this address. It is shown this once.',
  copySecret: 'Copy the secret',
  tryIt: 'To try it, in a shell:',
  copyCommand: 'Copy the command',
} as const;

export const STYLES: Readonly<Record<HookView['style'], string>> = { standard: 'Standard Webhooks', github: 'GitHub' };

/** `GitHub, 60 an hour at most`. */
export function hookFactsText({ style, perHour }: HookView): string {
  return `${STYLES[style]}, ${perHour} an hour at most`;
}

export function hookRemoveTitle(id: string): string {
  return `Remove the hook ${id}?`;
}
