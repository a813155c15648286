// Words of the echo block: its provider is `stand-in`, which answers without a model.
export const standInText = {
  make: 'Look around with an echo block first',
  makeMore: 'Makes a block that repeats what you write, and says that no model has answered. It calls nobody and costs nothing.',
  description: 'Answers without a model, to look around',
  there: 'There is an echo block to look around with. Its messages go with it.',
  open: 'Open the echo block',
  remove: 'Remove the echo block for good',
  removeTitle: 'Remove the echo block?',
  removeText: 'Its messages are deleted with it. This can’t be undone.',
  mark: 'Echo block',
  fact: 'No model answers here.',
  rest: 'The echo block repeats what you write; it calls nobody and costs nothing.',
  choose: 'Choose a model…',
  removed: 'The echo block is gone, with all its messages.',
  hasModel: 'The block has been given a model meanwhile, so it stays.',
} as const;

/** `Remove ada`. */
export function removeStandInText(name: string): string {
  return `Remove ${name}`;
}
