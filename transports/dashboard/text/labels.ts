// Names of things, and what keys do.

/** What a key does, as the list of keys says it. */
export const KEY_WORDS = {
  nextBlock: 'Next block',
  blockBefore: 'Block before',
  nextPage: 'Next page',
  pageBefore: 'Page before',
  firstBlock: 'First block',
  lastBlock: 'Last block',
  select: 'Select',
  selectDown: 'Select downwards',
  selectUp: 'Select upwards',
  startOrStop: 'Start or stop the block',
  message: 'Message',
  budget: 'Budget',
  pin: 'Pin',
  allKeys: 'All keys',
} as const;

/** What the palette finds within pages: the name, and further words. The first six are parts of the settings. */
export const PALETTE_PARTS = {
  providers: ['Keys of the providers', 'Settings: set, replace, remove'],
  connections: ['Connections', 'Settings: services and servers, with their keys'],
  halt: ['Kill switch', 'Settings: halt and release model calls'],
  doctor: ['Doctor', 'Settings: examine the workspace'],
  notifications: ['Notifications', 'Settings: of what needs you'],
  browser: ['This browser', 'Settings: theme, keys of the keyboard, sign out'],
  about: ['About this server', 'Settings: version, licences'],
  programs: ['Programs', 'Gateway: keys, caps, aliases'],
} as const;

/** Names of parts of pages, and of small buttons. */
export const LABELS = {
  product: 'Blockhouse',
  find: 'Find',
  changeCaps: 'Change the caps',
  lightTheme: 'Light theme',
  darkTheme: 'Dark theme',
  systemTheme: 'Theme of the system',
  signOut: 'Sign out',
  requests: 'Requests',
  model: 'Model',
  end: 'End',
  halted: 'Halted',
  actions: 'What can be done',
  nothingFound: 'Nothing is called so.',
  problem: 'Problem',
  show: 'Show',
  window: 'Window',
  backToFleet: 'Back to the fleet',
  more: 'More',
  blockParts: 'Parts of the block',
  log: 'Log',
  blocks: 'Blocks',
  keys: 'Keys',
  loadAnew: 'Load the page anew',
  main: 'Main',
  pages: 'Pages',
  open: 'Open',
  done: '(done)',
} as const;

/** The menu of an archived block. */
export function moreAbout(name: string): string {
  return `More about ${name}`;
}
