// Words of the block that answers without a model.
export const standInText = {
  make: 'Look around with a stand-in first',
  makeMore: 'Makes a block that repeats what you write, and says that no model has answered. It calls nobody and costs nothing.',
  description: 'Answers without a model, to look around',
  there: 'There is a stand-in to look around with. Its messages go with it.',
  open: 'Open the stand-in',
  remove: 'Remove the stand-in for good',
  removeTitle: 'Remove the stand-in?',
  removeText: 'Its messages are deleted with it. This can’t be undone.',
  mark: 'Stand-in',
  fact: 'No model answers here.',
  rest: 'The stand-in repeats what you write; it calls nobody and costs nothing.',
  choose: 'Choose a model…',
  removed: 'The stand-in is gone, with all its messages.',
  hasModel: 'The block has been given a model meanwhile, so it stays.',
} as const;

/** `Remove stand-in`. */
export function removeStandInText(name: string): string {
  return `Remove ${name}`;
}
