// Words of the list of blocks.
import type { BlockEntry } from '../../../core/types.ts';
import { plural, usd } from '../base/format.ts';
import { stateName } from './common.ts';

export const fleetText = {
  title: 'Fleet',
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
  notWhole: '+ not priced',
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
  started: 'Started',
  stopped: 'Stopped',
  archived: 'Archived',
  restored: 'Restored',
  tagAll: 'Tag…',
  tag: 'Tag',
  tagHelp: 'A word to find blocks by: the filter looks at it, too.',
  tagEmpty: 'Write the tag first.',
  tagsThere: 'Tags that they have',
  addTag: 'Add the tag',
  untag: 'Remove the tag',
  clear: 'Clear',
  choose: 'Select',
  newName: 'Name',
  newNameHelp: 'Small letters, digits and hyphens; at most 32.',
  newFor: 'What it is for',
  newForHelp: 'Shown in the list. Its instructions can be written later.',
  newModel: 'Model',
  newModelHelp: 'Choose a provider or connection, and then one of its models. A name that no list has can be typed.',
  newStart: 'Start it now',
  create: 'Create the block',
  nameWrong: 'A name has small letters, digits and hyphens, begins with a letter or digit, and has at most 32 characters.',
  nameTaken: 'There is a block with this name already.',
  modelWrong: 'Write it as provider/model, such as ollama/gemma4.',
  noModel: 'No model',
} as const;

/** Why a block needs a person, as far as the list knows it. */
export function whyText({ why, state, queue, config }: Pick<BlockEntry, 'why' | 'state' | 'queue' | 'config'>): string {
  if (state !== 'unconfigured' || queue === 0) return why ?? stateName(state);
  const provider = config.adapter?.provider;
  const lack = provider === undefined ? 'No model is set' : `${provider}, the provider of its model, is not ready`;
  return `${lack}. ${plural(queue, 'message waits', 'messages wait')}.`;
}

/** `caps add up to $36`. */
export function capsText(sum: number): string {
  return `caps add up to ${usd(sum)}`;
}

/** `3 selected`. */
export function selectedText(count: number): string {
  return `${plural(count, 'block', 'blocks')} selected`;
}

/** What a batch has done; `failed` are sentences. */
export function batchText(done: string, count: number, failed: readonly string[]): string {
  const told = failed.slice(0, 3).map((text) => text.replace(/\.$/, ''));
  const more = failed.length > told.length ? [`and ${failed.length - told.length} more`] : [];
  return `${done}: ${plural(count, 'block', 'blocks')}.${failed.length === 0 ? '' : ` Failed: ${[...told, ...more].join('; ')}.`}`;
}

/** `12 / 60`. */
export function progressText(done: number, all: number): string {
  return `${done} / ${all}`;
}

/** `Select all 60`. */
export function selectAllText(all: number): string {
  return `Select all ${all}`;
}

/** The title of the dialog that tags blocks. */
export function tagTitle(count: number): string {
  return `Tag ${plural(count, 'block', 'blocks')}`;
}

/** What a batch of tags has done, as the beginning of its sentence. */
export function taggedText(tag: string, isAdded: boolean): string {
  return isAdded ? `Tagged “${tag}”` : `“${tag}” removed`;
}

/** A tag of selected blocks: `mail`, or `mail, 3 of 5`. */
export function tagCountText(tag: string, count: number, all: number): string {
  return count === all ? tag : `${tag}, ${count} of ${all}`;
}
