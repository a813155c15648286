// Words of the list of blocks.
import { plural, usd } from '../format.ts';

export const fleetText = {
  all: 'All',
  work: 'At work',
  needs: 'Needs you',
  idle: 'Idle',
  asleep: 'Asleep',
  filter: 'Filter',
  filterHint: 'Name, what it is for, model or tag',
  block: 'Block',
  model: 'Model',
  activity: 'Last 24 h',
  waiting: 'Waiting',
  last: 'Last message',
  today: 'Today, of its cap',
  spent: 'Spent today',
  answered: 'Answers, last 24 h',
  waitingNow: 'Waiting',
  failing: 'Blocks with failures',
  atWork: 'At work',
  none: 'There is no block yet. A block is an agent with a name, which answers its messages by itself.',
  noneFound: 'No block fits the filter.',
  showAll: 'Show all',
  reading: 'Reading the list…',
  startAll: 'Start',
  stopAll: 'Stop',
  archiveAll: 'Archive',
  clear: 'Clear',
  newName: 'Name',
  newNameHelp: 'Small letters, digits and hyphens; at most 32.',
  newFor: 'What it is for',
  newForHelp: 'Shown in the list. Its instructions can be written later.',
  newModel: 'Model',
  newModelHelp: 'As provider/model, such as ollama/gemma4.',
  newStart: 'Start it now',
  create: 'Create the block',
  nameWrong: 'A name has small letters, digits and hyphens, begins with a letter or digit, and has at most 32 characters.',
  nameTaken: 'There is a block with this name already.',
  modelWrong: 'Write it as provider/model.',
  noModel: 'No model',
} as const;

/** `caps add up to $36`. */
export function capsText(sum: number): string {
  return `caps add up to ${usd(sum)}`;
}

/** `3 selected`. */
export function selectedText(count: number): string {
  return `${plural(count, 'block', 'blocks')} selected`;
}

/** What a batch has done. */
export function batchText(done: string, count: number, failed: readonly string[]): string {
  return `${done}: ${plural(count, 'block', 'blocks')}.${failed.length === 0 ? '' : ` Failed: ${failed.slice(0, 3).join('; ')}${failed.length > 3 ? `; and ${failed.length - 3} more` : ''}.`}`;
}
