// Examples of hooks for the published contract. Pure: no I/O.
import type { Example } from './example.ts';

const HOOK = {
  id: 'issues',
  style: 'github',
  message: 'A new issue came in. Sort it.',
  window: 0,
  perHour: 60,
  path: '/api/hooks/ada/issues',
  hasSecret: true,
};

/** The examples by name. */
export const HOOK_EXAMPLES = {
  Hooks: { of: 'HookList', summary: 'A hook for a repository', value: { hooks: [HOOK] } },
  NewHook: { of: 'SetHook', summary: 'A hook for a repository', value: { style: 'github', message: HOOK.message, window: 0 } },
  MadeHook: {
    of: 'HookSet',
    summary: 'It is made, with a secret',
    value: { success: true, hook: HOOK, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' },
  },
  HookRemoved: {
    of: 'Done',
    operations: ['removeHook'],
    summary: 'It is gone',
    value: { success: true, message: 'The hook is removed, and its secret opens nothing any more.' },
  },
  Delivered: { of: 'HookTaken', summary: 'It is a message', value: { messageId: 'm0mwsgohuc000030c1625b' } },
} as const satisfies Record<string, Example>;
