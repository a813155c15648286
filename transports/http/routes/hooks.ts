// The routes of hooks. That of deliveries is open: their signature is what admits them.
import * as hooks from '../handlers/hooks.ts';
import { BODY, body, DISK, json, NO_BLOCKS, READ, WRITE } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const name = { name: 'Name of the block' };
const hook = { ...name, id: 'Id of the hook' };

/** The routes of hooks by `METHOD /path`. */
export const HOOK_ROUTES = {
  'POST /api/hooks/:block/:hook': {
    id: 'deliver',
    tag: 'Hooks',
    summary: 'Deliver to a hook',
    description:
      'Makes a message of what another program delivers: JSON, a form or text of up to 256 KiB. It needs no token but a signature with the secret of the hook, as Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`) or GitHub (`x-hub-signature-256`) make it. A delivery that comes again is the same message.',
    public: true,
    params: { block: 'Name of the block', hook: 'Id of the hook' },
    body: {
      required: true,
      content: { 'application/json': { schema: {} }, 'application/x-www-form-urlencoded': { schema: {} }, 'text/plain': { schema: {} } },
    },
    answers: { 202: json('HookTaken', 'The message is on disk, also of a block that is stopped.') },
    errors: ['HOOK_REFUSED', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'QUEUE_FULL', 'HOOK_LIMIT', 'HOOK_BUSY', NO_BLOCKS, ...DISK],
    handler: hooks.take,
  },
  'GET /api/blocks/:name/hooks': {
    id: 'listHooks',
    tag: 'Hooks',
    summary: 'List hooks',
    description: 'The hooks of a block, without their secrets.',
    params: name,
    answers: { 200: json('HookList', 'In the order of the configuration.') },
    errors: READ,
    handler: hooks.list,
  },
  'PUT /api/blocks/:name/hooks/:id': {
    id: 'setHook',
    tag: 'Hooks',
    summary: 'Make or change a hook',
    description: 'What is left out stays. A hook without a secret gets one, which is shown in this answer only.',
    params: hook,
    body: body('SetHook'),
    answers: { 200: json('HookSet', 'The hook, and its secret if one was made.') },
    errors: [...BODY, ...WRITE],
    handler: hooks.set,
  },
  'DELETE /api/blocks/:name/hooks/:id': {
    id: 'removeHook',
    tag: 'Hooks',
    summary: 'Remove a hook',
    description: 'Removes a hook with its secret.',
    params: hook,
    answers: { 200: json('Done', 'It is gone.') },
    errors: ['HOOK_NOT_FOUND', ...WRITE],
    handler: hooks.remove,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
