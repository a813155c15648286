// The routes of the servers of tools. They are for the token of the workspace and the sessions of the page: a key of an application approves nothing. The end of a sign-in is
// open: its state is what admits.
import * as signInAnswer from '../handlers/sign-in-answer.ts';
import * as tools from '../handlers/tools.ts';
import { BODY, body, DISK, json, orPage } from '../openapi/parts.ts';
import type { RouteEntry, RouteKey } from '../wire/route.ts';

const server = { server: 'Name of the server' };
const secret = { ...server, field: 'Name of the secret' };
/** WRONG_STATE: a server of the gateway alone has no tools. */
const READ = ['WRONG_STATE'] as const;
const NAMED = ['TOOL_SERVER_NOT_FOUND', ...READ] as const;
const WRITE = ['WORKSPACE_DAMAGED', ...DISK] as const;
const SECRETS = ['ADAPTER_NOT_CONFIGURED', 'INVALID_REQUEST', ...READ, ...DISK] as const;

/** The routes of servers of tools by `METHOD /path`. */
export const TOOL_ROUTES = {
  'GET /api/tools': {
    id: 'listToolServers',
    tag: 'Tools',
    summary: 'List servers of tools',
    description: 'The servers of mcp.json with their states and tools. Starts nothing, and shows no secret.',
    answers: { 200: json('ToolServerList', 'In the order of mcp.json.') },
    errors: READ,
    handler: tools.list,
  },
  'GET /api/tools/:server': {
    id: 'showToolServer',
    tag: 'Tools',
    summary: 'Show a server of tools',
    description: 'The same of one server, with the whole definitions of its tools: as it showed them last, and as they were approved where that differs.',
    params: server,
    answers: { 200: json('ToolServerShown', 'The server.') },
    errors: NAMED,
    handler: tools.show,
  },
  'PUT /api/tools/:server': {
    id: 'putToolServer',
    tag: 'Tools',
    summary: 'Set a server of tools',
    description: 'Writes its entry into mcp.json. Unless it is the approved one, it is held: nothing of it is started or offered until it is approved.',
    params: server,
    body: body('PutToolServer'),
    answers: { 200: json('ToolServerChanged', 'The server.') },
    errors: ['TOOL_SERVER_REFUSED', ...BODY, ...READ, ...WRITE],
    handler: tools.put,
  },
  'DELETE /api/tools/:server': {
    id: 'removeToolServer',
    tag: 'Tools',
    summary: 'Remove a server of tools',
    description: 'Ends its processes and removes its entry, its approvals, and its secrets unless another server reads them.',
    params: server,
    answers: { 200: json('Done', 'It is gone.') },
    errors: [...NAMED, ...WRITE, 'ADAPTER_NOT_CONFIGURED'],
    handler: tools.remove,
  },
  'POST /api/tools/:server/test': {
    id: 'testToolServer',
    tag: 'Tools',
    summary: 'Look at a server of tools',
    description:
      'Starts the server once, also one that is not approved, because the caller names the definition that was shown, and remembers which tools it lists.',
    params: server,
    body: body('TestToolServer'),
    answers: { 200: json('ToolServerChanged', 'The server with the tools that it has listed.') },
    errors: ['TOOL_NOT_APPROVED', 'TOOL_SERVER_REFUSED', 'TOOL_SERVER_FAILED', ...BODY, ...NAMED, ...WRITE],
    handler: tools.test,
  },
  'POST /api/tools/:server/call': {
    id: 'callTool',
    tag: 'Tools',
    summary: 'Call one tool',
    description:
      'Makes one call of an approved tool for a person, and answers with its result. It is in no journal, counts for no cap, and is never repeated: after TOOL_OUTCOME_UNKNOWN it may have taken effect.',
    params: server,
    body: body('CallTool'),
    answers: { 200: json('ToolCalled', 'The result, also where the tool says that it failed.') },
    errors: ['TOOL_NOT_APPROVED', 'TOOL_SERVER_FAILED', 'TOOL_OUTCOME_UNKNOWN', ...BODY, ...NAMED],
    handler: tools.call,
  },
  'POST /api/tools/:server/approve': {
    id: 'approveToolServer',
    tag: 'Tools',
    summary: 'Approve a server of tools',
    description:
      'Approves what is started, and tools by the hashes that were shown. Refused if either is another one by now. Tools of another definition that was approved before are not approved any more unless they are named.',
    params: server,
    body: body('ApproveToolServer'),
    answers: { 200: json('ToolServerChanged', 'The server, and its tools as they are approved now.') },
    errors: ['TOOL_CHANGED', 'TOOL_SERVER_REFUSED', ...BODY, ...NAMED, ...WRITE],
    handler: tools.approve,
  },
  'POST /api/tools/:server/login': {
    id: 'beginToolSignIn',
    tag: 'Tools',
    summary: 'Begin to sign in to a server',
    description:
      'Finds out who signs in for the server, and answers with what a browser must open. The browser is led back to `redirectURI`, and `login/finish` takes what it brings. Where mcp.json says that Blockhouse signs in for itself, it does so now.',
    params: server,
    body: body('BeginToolSignIn'),
    answers: { 200: json('ToolSignInBegun', 'What the browser must open.') },
    errors: ['TOOL_SERVER_REFUSED', 'TOOL_SERVER_FAILED', ...BODY, ...NAMED, ...WRITE, 'ADAPTER_NOT_CONFIGURED'],
    handler: tools.beginSignIn,
  },
  'POST /api/tools/:server/login/finish': {
    id: 'finishToolSignIn',
    tag: 'Tools',
    summary: 'End the sign-in to a server',
    description: 'Takes the query with which the browser came back, and gets the tokens for it. They are stored in auth.json and never shown.',
    params: server,
    body: body('FinishToolSignIn'),
    answers: { 200: json('ToolServerChanged', 'The server, signed in.') },
    errors: ['TOOL_SERVER_FAILED', ...BODY, ...NAMED, ...WRITE, 'ADAPTER_NOT_CONFIGURED'],
    handler: tools.finishSignIn,
  },
  'GET /callback': {
    id: 'answerToolSignIn',
    tag: 'Tools',
    summary: 'Come back from a sign-in',
    description:
      'Where a browser of this machine is led at the end of a sign-in that has begun with this address as its `redirectURI`, as the dashboard does. It needs no token: `state` says which sign-in it ends, once. For `Accept: text/html` it is a page without scripts.',
    public: true,
    query: {
      state: { schema: { type: 'string' }, description: 'What the link had' },
      code: { schema: { type: 'string' }, description: 'For which tokens are given' },
      iss: { schema: { type: 'string' }, description: 'The authorization server' },
      error: { schema: { type: 'string' }, description: 'Why there is no code' },
    },
    answers: { 200: orPage(json('Done', 'Somebody is signed in.')) },
    errors: ['INVALID_REQUEST', 'TOOL_SERVER_FAILED', 'TOOL_SERVER_REFUSED', 'TOO_MANY_ATTEMPTS', ...READ, ...WRITE, 'ADAPTER_NOT_CONFIGURED'],
    handler: signInAnswer.take,
  },
  'DELETE /api/tools/:server/login': {
    id: 'signOutOfToolServer',
    tag: 'Tools',
    summary: 'Sign out of a server of tools',
    description: 'Gives its tokens back, where its authorization server takes them, and deletes them in any case.',
    params: server,
    answers: { 200: json('Done', 'They are gone.') },
    errors: [...NAMED, ...WRITE, 'ADAPTER_NOT_CONFIGURED'],
    handler: tools.signOut,
  },
  'PUT /api/tools/:server/secrets/:field': {
    id: 'setToolSecret',
    tag: 'Tools',
    summary: 'Store a secret of a server',
    description: 'Keeps a value for `${auth:<server>.<field>}` in auth.json. It is never shown again. Servers that run with the one before are ended.',
    params: secret,
    body: body('SetToolSecret'),
    answers: { 200: json('Done', 'It is stored.') },
    errors: [...new Set([...BODY, ...SECRETS])],
    handler: tools.setSecret,
  },
  'DELETE /api/tools/:server/secrets/:field': {
    id: 'removeToolSecret',
    tag: 'Tools',
    summary: 'Remove a secret of a server',
    description: 'Takes the value out of auth.json. It is no error if there is none.',
    params: secret,
    answers: { 200: json('Done', 'It is gone.') },
    errors: SECRETS,
    handler: tools.removeSecret,
  },
} as const satisfies Record<RouteKey, RouteEntry>;
