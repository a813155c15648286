// Examples of approvals for the published contract. Pure: no I/O.
import type { Example } from './example.ts';

const APPROVAL = {
  id: 'a3f9c2b1d0e4a7586',
  block: 'my-block',
  messageId: 'm0mwsgohuc000030c1625b',
  call: '2.1',
  kind: 'call',
  tool: 'github/create_issue',
  arguments: { title: 'The printer is on fire' },
  digest: '7d1a0e5c9b3f4e2a8c6d5b4a3f2e1d0c9b8a7f6e5d4c3b2a1f0e9d8c7b6a5f4e',
  because: 'tainted',
  marks: { readOnly: false, idempotent: false, closedWorld: false },
  readBefore: ['web/fetch'],
  taint: [{ messageId: 'm0mwsgohuc000030c1625b', tool: 'web/fetch' }],
  pin: '3f9c0b6a5f4e7d1a0e5c9b3f4e2a8c6d5b4a3f2e1d0c9b8a7f6e5d4c3b2a1f0e',
  createdAt: '2026-11-23T07:00:02.120Z',
  expiresAt: '2026-11-24T07:00:02.120Z',
  state: 'pending',
  scopes: ['once'],
};

/** The examples by name. */
export const APPROVAL_EXAMPLES = {
  Approvals: { of: 'ApprovalList', summary: 'One call waits', value: { approvals: [APPROVAL], cursor: null } },
  Approval: { of: 'ApprovalFound', operations: ['getApproval'], summary: 'It waits for a decision', value: { approval: APPROVAL } },
  Approve: { of: 'Decide', summary: 'Approve what was shown, once', value: { decision: 'approve', digest: APPROVAL.digest } },
  Answer: {
    of: 'Decide',
    summary: 'Answer a server that asks for something',
    value: { decision: 'approve', digest: APPROVAL.digest, input: { who: { action: 'accept', content: { name: 'Ada' } } } },
  },
  Deny: {
    of: 'Decide',
    summary: 'Deny it, with a word for the model',
    value: { decision: 'deny', digest: APPROVAL.digest, note: 'There is an issue already.' },
  },
  Approved: {
    of: 'ApprovalFound',
    operations: ['decideApproval'],
    summary: 'It will be made',
    value: {
      approval: {
        ...APPROVAL,
        state: 'approved',
        scopes: [],
        decision: 'approve',
        decidedBy: { channel: 'cli', name: 'token' },
        decidedAt: '2026-11-23T07:04:40.000Z',
      },
    },
  },
} as const satisfies Record<string, Example>;
