// Words of notifications of the browser.

export const notifyText = {
  title: 'Notifications',
  lead: 'The browser tells you of each block that begins to need you, while this page is open and out of view.',
  on: 'Notify me of what needs me',
  refusals: {
    unsupported: 'This browser shows no notifications of pages.',
    insecure: 'Browsers show notifications only of pages that come over TLS, or from the own machine.',
    denied:
      'This browser refuses notifications of this page. Allow them in its settings for this site (the sign beside the address leads there), and switch this on again.',
    default: 'The browser was not allowed to show notifications. Switch this on again, and allow it when it asks.',
  },
} as const;

/** The title of a notification. */
export function needText(block: string): string {
  return `${block} needs you`;
}

/** The title of one that tells of many. */
export function manyNeedText(blocks: number): string {
  return `${blocks} blocks need you`;
}

export const targetText = {
  title: 'Also to an address',
  lead: 'Another program is told by a signed POST, also while no page is open: a chat program, a phone, a script.',
  add: 'Add an address…',
  name: 'Name',
  nameWrong: '1 to 32 characters of a-z, 0-9 and -.',
  url: 'Address',
  urlHelp: 'https, or http in a private network.',
  events: 'Of what',
  blocks: 'Blocks, one a line',
  blocksHelp: 'Left empty: all. A name may end with *.',
  links: 'With a link that decides, for who has it',
  publicURL: 'Where people reach this server',
  save: 'Save',
  test: 'Test',
  remove: 'Remove',
  removed: 'Removed.',
  off: 'off: its address has said that it is gone',
  secretTitle: 'The secret is shown this once',
  secretText: 'The receiver checks with it that a notice comes from here.',
  delivered: 'It has arrived.',
} as const;

export const removeTargetText = (name: string) => ({
  title: `Remove ${name}?`,
  text: 'No notice goes there any more, and its secret can’t be had again.',
  does: `Remove ${name}`,
});

export const NOTICE_NAMES = {
  'approval.asked': 'a call waits for a decision',
  'message.failed': 'a message has failed',
  'cap.reached': 'a cap is reached',
  'message.done': 'a message is answered',
} as const;

/** `2 wait, 1 given up, last answer 200`. */
export function targetStateText(pending: number, dropped: number, status: number | null | undefined): string {
  const parts = [
    pending > 0 ? `${pending} wait` : '',
    dropped > 0 ? `${dropped} given up` : '',
    status === null ? 'no answer the last time' : '',
    status === undefined || status === null ? '' : `last answer ${status}`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

export function notArrivedText(problem: string | null, status: number | null): string {
  return `It has not arrived: ${problem ?? `the answer was ${status}`}.`;
}
