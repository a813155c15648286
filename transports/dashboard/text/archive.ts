// Words of the archive.
export const archiveText = {
  title: 'Archive',
  none: 'Nothing is archived. An archived block keeps its files and can be restored.',
  name: 'Block',
  when: 'Archived',
  size: 'Size',
  calls: 'Calls',
  cost: 'Cost',
  restore: 'Restore',
  restoreAs: 'Restore as…',
  newName: 'Name of the restored block',
  import: 'Import a file…',
  importing: 'Importing…',
  drop: 'Drop the file to import it.',
  remove: 'Delete for good…',
  typeName: 'Type the name to confirm',
} as const;

export function restoredText(name: string): string {
  return `${name} is restored. It is stopped.`;
}

export function importedText(name: string): string {
  return `${name} is imported. It is stopped.`;
}

export function removeTitle(name: string): string {
  return `Delete ${name} for good?`;
}

export function removeText(name: string): string {
  return `All files of ${name} are removed: its conversation, memory, costs and logs. This can't be undone.`;
}

export function removedText(name: string): string {
  return `${name} is deleted.`;
}
