// Words that several pages share.
import type { BlockState } from '../../../core/types.ts';
import type { Tab } from '../data/route.ts';

/** What a person would call a state. */
const STATES: Readonly<Record<BlockState, string>> = {
  unconfigured: 'Has no model',
  stopped: 'Stopped',
  starting: 'Starting',
  idle: 'Idle',
  working: 'Answering',
  compacting: 'Summarising',
  backoff: 'Waits to try again',
  paused: 'Paused',
  'waiting-approval': 'Waits for a decision',
  stopping: 'Stopping',
  failed: 'Failed',
};

/** A state of the server in words. A state that this page does not know keeps its own name. */
export function stateName(state: string): string {
  return Object.hasOwn(STATES, state) ? STATES[state as BlockState] : state;
}

export const TAB_NAMES: Readonly<Record<Tab, string>> = {
  chat: 'Chat',
  memory: 'Memory',
  config: 'Config',
  logs: 'Logs',
  costs: 'Costs',
  history: 'History',
  schedule: 'Schedule',
};

export const WORDS = {
  cancel: 'Cancel',
  close: 'Close',
  copy: 'Copy',
  copied: 'Copied',
  copyDetails: 'Copy details',
  tryNow: 'Try now',
  undo: 'Undo',
  discardTitle: 'Throw away what you have typed?',
  discardText: 'It is not kept anywhere.',
  discard: 'Throw it away',
  notes: 'Notes',
  why: 'Why',
  start: 'Start block',
  stop: 'Stop block',
  restart: 'Restart',
  findOrDo: 'Find or do…',
  halt: 'Halt all model calls',
  release: 'Release',
  live: 'Live',
  connecting: 'Connecting',
  notConnected: 'Not connected',
  pinned: 'Pinned',
  skip: 'Skip to the page',
  newBlock: 'New block',
  notFound: 'There is no such page.',
  later: 'This page comes as soon as the server answers.',
  toFleet: 'Go to the fleet',
} as const;

export const signInText = {
  title: 'Sign in to Blockhouse',
  lead: 'This page belongs to the server that you run. Open it from a terminal with a link that signs you in:',
  or: 'Or paste the token of the workspace, which blockhouse token prints. It is exchanged for a key of this browser and not kept.',
  token: 'Token',
  submit: 'Sign in',
  again: 'You were signed out. What you had open is still there.',
  empty: 'Paste the token first.',
  refused: 'This is not the token of this server. Run blockhouse token on its machine, and paste the whole line.',
} as const;

/** The line above every page while the server does not answer. */
export function lostText(since: string, nextIn: number): string {
  return `The server has not answered since ${since}. What you see is as it was then. ${nextIn > 0 ? `Next try in ${nextIn} s.` : 'Trying now…'}`;
}

/** The line above every page while model calls are halted. */
export function haltText(since: string, reason: string | null): { readonly fact: string; readonly rest: string } {
  return {
    fact: 'All model calls are halted.',
    rest: `Since ${since}${reason === null || reason === '' ? '' : `: ${reason}`}. Messages wait and are answered after the release.`,
  };
}

export const haltDialog = {
  title: 'Halt all model calls?',
  text: 'Calls under way are ended, and none begins until you release it. Messages are kept.',
  reason: 'Reason, for whoever looks next',
  submit: 'Halt all model calls',
} as const;
