// The routes of approvals, over all blocks.
import { schemas } from '../../../core/index.ts';
import * as approvals from '../handlers/approvals.ts';
import { BODY, body, json, NO_BLOCKS, READ, WRITE, wordsOf } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const id = { id: 'Id of the approval' };
const { state, block, cursor, limit } = schemas.ApprovalQuery.properties;

/** The routes of approvals by `METHOD /path`. */
export const APPROVAL_ROUTES = {
  'GET /api/approvals': {
    id: 'listApprovals',
    tag: 'Approvals',
    summary: 'List calls that wait for people',
    description:
      'The calls of tools, of all blocks, that wait for a decision: the next deadline first. With another `state`, those that were decided since the server has started, the newest decision first.',
    query: { state: wordsOf(state), block: wordsOf(block), cursor: wordsOf(cursor), limit: wordsOf(limit) },
    answers: { 200: json('ApprovalList', 'A page of them. With a `cursor`, there are more.') },
    errors: ['INVALID_REQUEST', 'STORAGE_FAILED', NO_BLOCKS],
    handler: approvals.list,
  },
  'GET /api/approvals/:id': {
    id: 'getApproval',
    tag: 'Approvals',
    summary: 'Read an approval',
    description: 'A call that waits, or one that was decided since the server has started.',
    params: id,
    answers: { 200: json('ApprovalFound', 'The call, with the decision if there is one.') },
    errors: ['APPROVAL_NOT_FOUND', ...READ],
    handler: approvals.find,
  },
  'POST /api/approvals/:id': {
    id: 'decideApproval',
    tag: 'Approvals',
    summary: 'Decide about a call',
    description:
      'Approves or denies a call that waits; of one whose outcome is not known, says whether it ran. `digest` is that of the approval that was shown: another call needs another decision. The decision is on disk before the answer is sent. Of two decisions the first holds; the second gets 409 with the first one in `approval`.',
    params: id,
    body: body('Decide'),
    answers: { 200: json('ApprovalFound', 'The call, with the decision.') },
    errors: [...BODY, 'APPROVAL_NOT_FOUND', 'APPROVAL_STALE', 'APPROVAL_DECIDED', 'TOOL_SERVER_FAILED', ...WRITE],
    handler: approvals.decide,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
