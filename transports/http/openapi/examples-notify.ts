// Examples of notifications for the published contract. Pure: no I/O.
import type { Example } from './example.ts';

const TARGET = {
  name: 'phone',
  url: 'https://push.example/…',
  events: ['approval.asked', 'message.failed', 'cap.reached'],
  blocks: null,
  links: true,
  publicURL: 'https://blocks.example',
  state: 'on',
  pending: 0,
  dropped: 0,
  last: { at: '2026-11-28T16:00:00.000Z', status: 204 },
};

/** The examples by name. */
export const NOTIFY_EXAMPLES = {
  NotifyTargets: { of: 'NotifyList', summary: 'A phone', value: { targets: [TARGET] } },
  NewTarget: {
    of: 'SetNotifyTarget',
    summary: 'A phone, with links that decide',
    value: { url: 'https://push.example/in/4f1c', links: true, publicURL: 'https://blocks.example' },
  },
  MadeTarget: {
    of: 'NotifySet',
    summary: 'It is made, with a secret',
    value: { success: true, target: { ...TARGET, last: null }, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' },
  },
  TargetRemoved: {
    of: 'Done',
    operations: ['removeNotifyTarget'],
    summary: 'It is gone',
    value: { success: true, message: 'The target is removed, with its secret, what waited for it, and its links.' },
  },
  TargetTried: { of: 'NotifyTest', summary: 'It has arrived', value: { delivered: true, status: 204, problem: null, ms: 41.2 } },
  LinkShown: {
    of: 'LinkedApproval',
    summary: 'A payment',
    value: {
      approval: {
        id: 'a0mwsgohuc000030c1625b',
        block: 'ada',
        messageId: 'm0mwsgohuc000030c1625b',
        call: '1.1',
        kind: 'call',
        tool: 'bank/pay',
        arguments: { to: 'bob', amount: 5 },
        digest: '3f9c0a',
        because: 'rule',
        marks: { readOnly: false, idempotent: false, closedWorld: true },
        readBefore: [],
        createdAt: '2026-11-28T16:00:00.000Z',
        expiresAt: '2026-11-29T16:00:00.000Z',
      },
    },
  },
  LinkForm: { of: 'LinkDecision', summary: 'Yes', value: { decision: 'approve' } },
  LinkDone: { of: 'LinkDecided', summary: 'It is approved', value: { success: true, block: 'ada', tool: 'bank/pay', decision: 'approve' } },
} as const satisfies Record<string, Example>;
