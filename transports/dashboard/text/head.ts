// Words of a block's head and its menu.
export const headText = {
  write: 'Write a message',
  export: 'Export',
  rename: 'Rename…',
  reset: 'Reset…',
  hardReset: 'Reset with logs…',
  archive: 'Archive',
  pin: 'Pin',
  unpin: 'Unpin',
  newName: 'New name',
  newNameHelp: 'Its conversation, memory and spending stay. A monitor that runs is restarted.',
  gone: 'There is no block of this name any more. It was archived, renamed or removed by hand.',
  toArchive: 'Look in the archive',
} as const;

export function resetTitle(name: string): string {
  return `Reset ${name}?`;
}

/** What is cleared, and what stays. */
export function resetText(isHard: boolean): string {
  return `Its memory, costs and state are cleared${isHard ? ', and its logs are deleted' : ''}. The conversation and the configuration stay. This can't be undone.`;
}

/** `Reset ada`, `Reset ada with its logs`. */
export function resetDoes(name: string, isHard: boolean): string {
  return `Reset ${name}${isHard ? ' with its logs' : ''}`;
}

export function resetDoneText(name: string): string {
  return `${name} is reset.`;
}

export function archivedText(name: string): string {
  return `${name} is archived.`;
}

export function startedText(name: string): string {
  return `${name} is started.`;
}

export function stoppedText(name: string): string {
  return `${name} is stopped.`;
}

export function renamedText(name: string): string {
  return `It is called ${name} now.`;
}
