// Examples of servers of tools for the published contract. Pure: no I/O.
import type { Example } from './example.ts';

const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const TOOL_HASH = '3f9c2b1d884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const ENTRY = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem@2026.8.31', '~/shared'] };
const SETTINGS = { marks: { readOnly: ['read_*', 'list_*'], closedWorld: ['*'] } };
const DEFINITION = {
  name: 'read_file',
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  annotations: { readOnlyHint: true, openWorldHint: false },
};
const TOOL = {
  name: 'read_file',
  state: 'approved',
  hash: TOOL_HASH,
  tokens: 34,
  description: DEFINITION.description,
  annotations: DEFINITION.annotations,
  marks: { readOnly: true, idempotent: false, closedWorld: true },
};
const SERVER = { name: 'files', state: 'idle', definition: HASH, server: ENTRY, settings: SETTINGS, era: 'legacy', tools: [TOOL], secrets: [] };
const WHOLE = { ...SERVER, tools: [{ ...TOOL, now: DEFINITION }] };
const HELD = {
  ...SERVER,
  state: 'held',
  problem: 'It is not approved; look at it with `blockhouse tools test files`, then `blockhouse tools approve files`.',
  era: null,
  tools: [],
};

const SIGNED_IN = {
  ...HELD,
  name: 'crm',
  problem: 'It is not approved; look at it with `blockhouse tools test crm`, then `blockhouse tools approve crm`.',
  server: { type: 'http', url: 'https://crm.example/mcp' },
  settings: {},
  signIn: { state: 'signed-in', grant: 'authorization_code', issuer: 'https://auth.example', scope: 'read', expiresAt: '2026-11-28T13:00:00.000Z' },
};
const SKILL = {
  owner: '_',
  name: 'invoice',
  description: 'How we write an invoice. Read it before you write one.',
  hash: HASH,
  state: 'approved',
  tokens: 120,
  files: ['SKILL.md'],
  approvedAt: '2026-11-28T12:00:00.000Z',
  approvedBy: 'cli',
};
const TEXT = '---\nname: invoice\ndescription: How we write an invoice. Read it before you write one.\n---\nAn invoice has a number.\n';
const WHOLE_SKILL = { ...SKILL, now: { 'SKILL.md': TEXT } };

/** The examples by name. */
export const TOOL_EXAMPLES = {
  ToolServers: { of: 'ToolServerList', summary: 'A server for files', value: { servers: [SERVER] } },
  ToolServer: { of: 'ToolServerShown', summary: 'A server for files, with what its tool says of itself', value: { server: WHOLE } },
  NewToolServer: { of: 'PutToolServer', summary: 'A server for files, of one version', value: { server: ENTRY, settings: SETTINGS } },
  HeldToolServer: { of: 'ToolServerChanged', operations: ['putToolServer'], summary: 'It is written, and held', value: { success: true, server: HELD } },
  LookAtToolServer: { of: 'TestToolServer', summary: 'The definition that was shown', value: { definition: HASH } },
  SeenToolServer: {
    of: 'ToolServerChanged',
    operations: ['testToolServer'],
    summary: 'It has listed a tool',
    value: { success: true, server: { ...HELD, era: 'legacy', tools: [{ ...TOOL, state: 'new', now: DEFINITION }] } },
  },
  CallOfTool: { of: 'CallTool', summary: 'Reads a file', value: { tool: 'read_file', hash: TOOL_HASH, arguments: { path: '~/shared/a.txt' } } },
  CalledTool: {
    of: 'ToolCalled',
    summary: 'What it gave',
    value: { success: true, result: { isError: false, text: 'Hello', images: 0, ms: 12, bytes: 32, marks: TOOL.marks } },
  },
  BlockTools: {
    of: 'BlockToolList',
    summary: 'One tool, which may be called',
    value: {
      servers: [{ name: 'files', state: 'idle' }],
      tools: [
        {
          server: 'files',
          tool: 'read_file',
          state: 'approved',
          rule: 'allow',
          by: 'files/read_*',
          allowsSome: false,
          evenTainted: false,
          asksTainted: false,
          marks: TOOL.marks,
          tokens: 34,
          callsToday: 2,
          mustBeFound: false,
        },
      ],
    },
  },
  ApprovedTools: { of: 'ApproveToolServer', summary: 'The server, and a tool', value: { definition: HASH, tools: { read_file: TOOL_HASH } } },
  ApprovedToolServer: {
    of: 'ToolServerChanged',
    operations: ['approveToolServer'],
    summary: 'Its tool is offered',
    value: { success: true, server: WHOLE },
  },
  BeginToolSignIn: {
    of: 'BeginToolSignIn',
    summary: 'In a browser of this machine',
    value: { redirectURI: 'http://127.0.0.1:4567/callback', clientId: 'my-blocks', issuer: 'https://auth.example' },
  },
  ToolSignInBegun: {
    of: 'ToolSignInBegun',
    summary: 'The link for the browser',
    value: {
      url: 'https://auth.example/authorize?response_type=code&client_id=my-blocks&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&redirect_uri=http%3A%2F%2F127.0.0.1%3A4567%2Fcallback&state=af0ifjsldkj&scope=read&resource=https%3A%2F%2Fcrm.example%2Fmcp',
      issuer: 'https://auth.example',
      expiresAt: '2026-11-28T12:10:00.000Z',
    },
  },
  FinishToolSignIn: {
    of: 'FinishToolSignIn',
    summary: 'What the browser has brought',
    value: { query: 'code=SplxlOBeZQQYbYS6WxSbIA&state=af0ifjsldkj&iss=https%3A%2F%2Fauth.example' },
  },
  SignedInToolServer: {
    of: 'ToolServerChanged',
    operations: ['finishToolSignIn'],
    summary: 'A server at an address, signed in to',
    value: { success: true, server: SIGNED_IN },
  },
  CameBack: {
    of: 'Done',
    operations: ['answerToolSignIn'],
    summary: 'Somebody is signed in',
    value: { success: true, message: 'crm is signed in. You can close this page.' },
  },
  SignedOutOfTools: { of: 'Done', operations: ['signOutOfToolServer'], summary: 'They are gone', value: { success: true, message: 'The tokens are deleted.' } },
  Skills: { of: 'SkillList', summary: 'A skill of the workspace', value: { skills: [SKILL] } },
  Skill: { of: 'SkillShown', summary: 'A skill with its text', value: { skill: WHOLE_SKILL } },
  ReadSkill: { of: 'ApproveSkill', summary: 'The hash that was shown', value: { hash: HASH } },
  ApprovedSkill: { of: 'SkillChanged', summary: 'It is offered', value: { success: true, skill: WHOLE_SKILL } },
  ToolSecret: { of: 'SetToolSecret', summary: 'A token', value: { value: 'ghp_0123456789' } },
  ToolServerRemoved: {
    of: 'Done',
    operations: ['removeToolServer'],
    summary: 'It is gone',
    value: { success: true, message: 'The server is removed, with its approvals and its secrets.' },
  },
  ToolSecretStored: { of: 'Done', operations: ['setToolSecret'], summary: 'It is stored', value: { success: true, message: 'The secret is stored.' } },
  ToolSecretRemoved: { of: 'Done', operations: ['removeToolSecret'], summary: 'It is gone', value: { success: true, message: 'The secret is removed.' } },
} as const satisfies Record<string, Example>;
