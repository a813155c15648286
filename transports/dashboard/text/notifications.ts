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
