// The routes of notifications. Those of decision links are open: their ticket is what admits.
import * as decide from '../handlers/decide.ts';
import * as notify from '../handlers/notify.ts';
import { BODY, body, DISK, json, NO_BLOCKS, orPage } from '../openapi/parts.ts';
import { ref } from '../openapi/schemas.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const name = { name: 'Name of the target' };
const ticket = { ticket: 'The ticket of the link' };
const WRITE = ['ADAPTER_NOT_CONFIGURED', NO_BLOCKS, ...DISK] as const;
const LINK = ['NOT_FOUND', 'LINK_USED', 'TOO_MANY_ATTEMPTS', 'STORAGE_FAILED', NO_BLOCKS] as const;

/** The routes of notifications by `METHOD /path`. */
export const NOTIFY_ROUTES = {
  'GET /api/notify': {
    id: 'listNotifyTargets',
    tag: 'Notifications',
    summary: 'List targets of notifications',
    description: 'Where notices are sent, how much waits there, and how the last try ended.',
    answers: { 200: json('NotifyList', 'By name, without their secrets.') },
    errors: ['ADAPTER_NOT_CONFIGURED', NO_BLOCKS],
    handler: notify.list,
  },
  'PUT /api/notify/:name': {
    id: 'setNotifyTarget',
    tag: 'Notifications',
    summary: 'Make or replace a target',
    description:
      'Notices are sent to `url` by POST, signed as Standard Webhooks says. A target without a secret gets one, which is shown in this answer only. One that was off is on again. At most five.',
    params: name,
    body: body('SetNotifyTarget'),
    answers: { 200: json('NotifySet', 'The target, and its secret if one was made.') },
    errors: [...BODY, ...WRITE],
    handler: notify.set,
  },
  'DELETE /api/notify/:name': {
    id: 'removeNotifyTarget',
    tag: 'Notifications',
    summary: 'Remove a target',
    description: 'Removes a target with its secret and what waits for it. Links that it has got open nothing any more.',
    params: name,
    answers: { 200: json('Done', 'It is gone.') },
    errors: ['NOTIFY_TARGET_NOT_FOUND', ...WRITE],
    handler: notify.remove,
  },
  'POST /api/notify/:name/test': {
    id: 'testNotifyTarget',
    tag: 'Notifications',
    summary: 'Try a target',
    description: 'Sends one notice now, which says nothing, and tells what became of it. It changes nothing, and is not sent again.',
    params: name,
    answers: { 200: json('NotifyTest', 'What became of it.') },
    errors: ['NOTIFY_TARGET_NOT_FOUND', NO_BLOCKS],
    handler: notify.test,
  },
  'GET /api/decide/:ticket': {
    id: 'showDecision',
    tag: 'Notifications',
    summary: 'Show what a link decides',
    description: 'The call that waits, as a page without scripts for `Accept: text/html`. It needs no token: the ticket opens it. It decides nothing.',
    public: true,
    params: ticket,
    answers: { 200: orPage(json('LinkedApproval', 'The call.')) },
    errors: LINK,
    handler: decide.show,
  },
  'POST /api/decide/:ticket': {
    id: 'decideByLink',
    tag: 'Notifications',
    summary: 'Decide with a link',
    description: 'Decides once about the call that was shown. It needs no token: the ticket opens it.',
    public: true,
    params: ticket,
    body: {
      required: true,
      content: { 'application/x-www-form-urlencoded': { schema: ref('LinkDecision') }, 'application/json': { schema: ref('LinkDecision') } },
    },
    answers: { 200: orPage(json('LinkDecided', 'It is decided.')) },
    errors: ['INVALID_REQUEST', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'QUEUE_FULL', 'STORAGE_FULL', 'TOOL_SERVER_FAILED', ...LINK],
    handler: decide.take,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
