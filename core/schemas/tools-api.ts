// The bodies and answers of `/api/tools` and `/api/skills`, and the settings of a server in mcp.json. Pure: no I/O.
import type * as types from '../types.ts';
import { ToolMarks } from './chat-entry.ts';
import { boolean, closedObject, count, listOf, object, oneOf, orNull, string } from './fields.ts';

const yes = { type: 'boolean', const: true } as const;
const hash = { type: 'string', pattern: '^[0-9a-f]{64}$', description: '64 hexadecimal digits, as an answer has shown them' } as const;
const patterns = {
  type: 'array',
  maxItems: 1000,
  items: { type: 'string', minLength: 1, maxLength: 256 },
  description: 'Patterns of tool names with `*`',
} as const;
const record = { type: 'object', description: 'Any object' } as const;
const pointer = { type: 'string', maxLength: 1024, pattern: '^(?:/|$)' } as const;
const ms = (most: number, description: string) => ({ type: 'integer', minimum: 1, maximum: most, description }) as const;

/** `blockhouse.<server>` of mcp.json: our settings beside the entry that other programs know. */
export const ToolServerSettings = closedObject(
  {
    share: { ...oneOf(['workspace', 'block']), description: 'One process for all blocks, or one for each; default workspace' },
    startTimeoutMs: ms(600_000, 'How long it may take to start; default 20000, or 120000 where it may have to be downloaded first, as with npx'),
    callTimeoutMs: ms(3_600_000, 'How long a call may take; default 60000'),
    maxCallMs: ms(3_600_000, 'The most that progress extends a call to; default 600000'),
    idleStopMs: ms(86_400_000, 'After so long without a call it is ended; default 300000'),
    concurrency: { type: 'integer', minimum: 1, maximum: 64, description: 'Calls side by side; default 4' },
    maxResultBytes: { type: 'integer', minimum: 1024, maximum: 67_108_864, description: 'A longer result fails its call; default 8388608' },
    marks: {
      ...closedObject({ readOnly: patterns, idempotent: patterns, closedWorld: patterns }, ['readOnly', 'idempotent', 'closedWorld']),
      description: 'Your half of a mark: it holds only where the annotation of the tool says the same',
    },
    keyArguments: {
      type: 'object',
      maxProperties: 1000,
      additionalProperties: {
        anyOf: [
          { type: 'string', minLength: 1, maxLength: 256 },
          closedObject({ argument: { type: 'string', minLength: 1, maxLength: 256 }, repeatable: boolean }),
        ],
      },
      description: 'The argument of a tool that gets the id of the call',
    },
    probe: {
      type: 'object',
      maxProperties: 1000,
      additionalProperties: closedObject({
        tool: { type: 'string', minLength: 1, maxLength: 256, description: 'A tool of the same server with the mark readOnly' },
        with: { type: 'object', maxProperties: 100, additionalProperties: pointer, description: 'Its arguments: JSON pointers into those that were sent' },
        found: { ...pointer, description: 'JSON pointer into its result: the call ran if something stands there that is neither null nor empty' },
      }),
      description: 'By the name of a tool: which other one says whether a call of it ran whose outcome is not known',
    },
    oauth: {
      ...closedObject(
        {
          grant: {
            ...oneOf(['authorization_code', 'client_credentials']),
            description: 'A person signs in (`blockhouse tools login`), or Blockhouse for itself; default authorization_code',
          },
          clientId: { type: 'string', minLength: 1, maxLength: 2048, description: 'The id of the client at the authorization server' },
          issuer: {
            type: 'string',
            minLength: 1,
            maxLength: 2048,
            description: 'The only authorization server that is taken, letter by letter as it names itself',
          },
          scope: { type: 'string', minLength: 1, maxLength: 2048, description: 'What is asked for; left out, what the server says that it needs' },
          method: {
            ...oneOf(['client_secret', 'private_key_jwt']),
            description:
              'How the client proves who it is: with the secret `<server>.client_secret`, or with a signature of a private key (RFC 7523), which needs clientId and issuer; default client_secret',
          },
          keyFile: {
            type: 'string',
            minLength: 1,
            maxLength: 4096,
            description: 'With private_key_jwt: the file of the private key (PEM or JWK); left out, the secret `<server>.client_key`',
          },
          keyId: { type: 'string', minLength: 1, maxLength: 256, description: 'With private_key_jwt: the name of the key at the authorization server (kid)' },
        },
        ['grant', 'clientId', 'issuer', 'scope', 'method', 'keyFile', 'keyId'],
      ),
      description: 'Of a server at an address: how it is signed in to. It is part of what is approved',
    },
    usdPerCall: {
      type: 'object',
      maxProperties: 1000,
      additionalProperties: { type: 'number', minimum: 0, maximum: 10_000 },
      description: 'What one call of a tool costs, in USD, by its name or a pattern; it is in the ledger and counts for caps',
    },
    sandbox: { ...oneOf(['bwrap', 'bwrap+net']), description: 'Linux: without network and home, or with the network' },
    newTools: {
      ...oneOf(['hold', 'offer']),
      description: 'What happens to tools that appear after the approval: they wait for a person, or are offered at first sight; default hold',
    },
  },
  [
    'share',
    'startTimeoutMs',
    'callTimeoutMs',
    'maxCallMs',
    'idleStopMs',
    'concurrency',
    'maxResultBytes',
    'marks',
    'keyArguments',
    'probe',
    'oauth',
    'usdPerCall',
    'sandbox',
    'newTools',
  ],
);
export type ToolServerSettings = types.ToolServerSettings;

/** The body that makes or replaces a server. */
export const PutToolServer = closedObject(
  {
    server: { ...record, description: 'The entry as `mcpServers` of other programs has it: `command`, `args`, `env`, or `url`, `headers`' },
    settings: { ...ToolServerSettings, description: 'Settings beside it; left out, they stay' },
  },
  ['settings'],
);
export type PutToolServer = types.PutToolServer;

/** The body that starts a server once, to look at it. */
export const TestToolServer = closedObject({ definition: { ...hash, description: 'The definition that was shown' } });
export type TestToolServer = types.TestToolServer;

/** The body that approves a server and tools of it. */
export const ApproveToolServer = closedObject({
  definition: { ...hash, description: 'The definition that was shown' },
  tools: { type: 'object', maxProperties: 5000, additionalProperties: hash, description: 'The hashes that were shown, by the names of the tools' },
});
export type ApproveToolServer = types.ApproveToolServer;

/** The body that stores a secret of a server. */
export const SetToolSecret = closedObject({
  value: orNull({ type: 'string', minLength: 1, maxLength: 8192, description: 'The secret; null takes it away' }),
});
export type SetToolSecret = types.SetToolSecret;

/** The body that makes one call of a tool. */
export const CallTool = closedObject({
  tool: { type: 'string', minLength: 1, maxLength: 128, description: 'Its name, as the server says it' },
  hash: { ...hash, description: 'Its definition that was shown and approved' },
  arguments: { ...record, description: 'As its schema wants them' },
});
export type CallTool = types.CallTool;

/** A tool was called for a person. */
export const ToolCalled = object({
  success: yes,
  result: object(
    {
      isError: { ...boolean, description: 'The tool has said that it failed' },
      text: { type: 'string', description: 'What a model would read of it, whole' },
      structuredContent: { description: 'The JSON that the tool gives beside or instead of its text' },
      images: { ...count, description: 'Images that a model would see' },
      ms: count,
      bytes: { ...count, description: 'Of all parts' },
      marks: { ...ToolMarks, description: 'The marks of the tool that hold' },
    },
    ['structuredContent'],
  ),
});
export type ToolCalled = types.ToolCalled;

const short = { type: 'string', minLength: 1, maxLength: 2048 } as const;
/** The body that begins to sign in to a server. */
export const BeginToolSignIn = closedObject(
  {
    redirectURI: {
      type: 'string',
      pattern: '^http://127\\.0\\.0\\.1:(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])/callback$',
      description: 'Where the browser is led at the end: a port of the machine with the browser, where the caller listens',
    },
    clientId: { ...short, description: 'The id of a client that was registered at the authorization server, or the https address of its document' },
    issuer: { ...short, description: 'The only authorization server that is taken. Needed where the client has a secret, or is in a private network' },
    scope: { ...short, description: 'What is asked for; left out, what the server says that it needs' },
  },
  ['clientId', 'issuer', 'scope'],
);
export type BeginToolSignIn = types.BeginToolSignIn;

/** A sign-in that has begun. */
export const ToolSignInBegun = object({
  url: { ...orNull(string), description: 'What the browser must open; null if Blockhouse has signed in for itself' },
  issuer: { type: 'string', description: 'The authorization server' },
  expiresAt: { ...orNull(string), description: 'Until when it can be finished' },
});
export type ToolSignInBegun = types.ToolSignInBegun;

/** The body that finishes a sign-in. */
export const FinishToolSignIn = closedObject({
  query: { type: 'string', minLength: 1, maxLength: 16_384, description: 'The query with which the browser was led to `redirectURI`' },
});
export type FinishToolSignIn = types.FinishToolSignIn;

/** A tool of a server. */
export const ToolView = object(
  {
    name: string,
    state: {
      ...oneOf(['approved', 'changed', 'new', 'unusable', 'gone']),
      description: 'Only approved ones are offered. unusable: its schema is beyond the bounds. gone: the server does not list it any more',
    },
    hash: { type: 'string', description: 'Of its definition as the server showed it last' },
    tokens: { ...count, description: 'Of its definition, by estimate' },
    description: string,
    annotations: { ...record, description: 'What the server says of it, which alone counts for nothing' },
    marks: { ...ToolMarks, description: 'Those that hold: annotation and settings say the same' },
    now: { ...record, description: 'Its definition, as the server showed it last; only where one server is asked for' },
    was: { ...record, description: 'The approved definition, of a tool that has changed' },
    problem: { type: 'string', description: 'Why it is unusable' },
  },
  ['now', 'was', 'problem'],
);
export type ToolView = types.ToolView;

/** A server of tools, without any secret. */
export const ToolServerView = object(
  {
    name: string,
    state: {
      ...oneOf(['idle', 'starting', 'ready', 'stopping', 'failed', 'held', 'changed']),
      description:
        'held: its definition is not approved. changed: it is not the approved one any more. failed: it does not start, or its entry can not be used',
    },
    problem: { type: 'string', description: 'Why it is failed, held or changed, and the command that helps' },
    definition: { type: 'string', description: 'sha256 of what is started' },
    server: { ...record, description: 'The entry as mcp.json has it: `${…}` is not resolved, literal secrets are masked' },
    settings: record,
    era: { ...orNull(oneOf(['legacy', 'modern'])), description: 'Of its protocol; null for a server that was never started, whose tools nobody knows yet' },
    tools: listOf(ToolView),
    signIn: {
      ...object({
        state: {
          ...oneOf(['signed-in', 'expired', 'ended', 'needed']),
          description: 'signed-in: it renews itself, or has a token that holds. The others need a person: `blockhouse tools login`',
        },
        grant: oneOf(['authorization_code', 'client_credentials']),
        issuer: orNull(string),
        scope: orNull(string),
        expiresAt: { ...orNull(string), description: 'When the token ends; a sign-in that renews itself goes on then' },
      }),
      description: 'Of a server that is signed in to: how, never with what',
    },
    secrets: {
      ...listOf(object({ name: string, isStored: boolean })),
      description: 'The secrets that it gets, such as `github.token`, and whether auth.json has them',
    },
  },
  ['problem', 'signIn', 'secrets'],
);
export type ToolServerView = types.ToolServerView;
/** All servers. */
export const ToolServerList = object({ servers: listOf(ToolServerView) });
export type ToolServerList = types.ToolServerList;
/** A server with the whole definitions of its tools. */
export const ToolServerShown = object({ server: ToolServerView });
/** A tool, as the rules of a block have it. */
export const BlockToolView = object({
  server: string,
  tool: string,
  state: { ...oneOf(['approved', 'changed', 'new', 'unusable', 'gone']), description: 'Only approved ones of a server that can be called are offered' },
  rule: { ...oneOf(['allow', 'ask', 'deny']), description: 'What becomes of a call' },
  by: { type: 'string', description: 'The pattern that says so, or `default`' },
  allowsSome: { ...boolean, description: 'Calls with some arguments are allowed, which the rule does not say' },
  evenTainted: { ...boolean, description: 'A rule allows it also in a tainted run' },
  asksTainted: { ...boolean, description: 'In a tainted run it waits for a person, although it is allowed' },
  marks: ToolMarks,
  tokens: { ...count, description: 'Of its definition, by estimate' },
  callsToday: { ...count, description: 'Calls of the block that were made today, in the timezone of its budget' },
  mustBeFound: { ...boolean, description: 'A new run does not offer it: the model must find it with block__find_tool' },
});
/** The tools of a block. */
export const BlockToolList = object({
  servers: listOf(
    object({ name: string, state: ToolServerView.properties.state, problem: { type: 'string', description: 'Why tools of it are missing' } }, ['problem']),
  ),
  tools: listOf(BlockToolView),
});
export type BlockToolList = types.BlockToolList;
export type BlockToolView = types.BlockToolView;
/** A server was changed, looked at or approved. */
export const ToolServerChanged = object({ success: yes, server: ToolServerView });

/** The body that approves a skill. */
export const ApproveSkill = closedObject({ hash: { ...hash, description: 'The hash of the skill that was shown' } });
export type ApproveSkill = types.ApproveSkill;

const texts = { type: 'object', additionalProperties: string } as const;

/** A skill of a block or of the workspace. */
export const SkillView = object(
  {
    owner: { type: 'string', description: 'The block, or `_` for the workspace' },
    name: string,
    description: string,
    hash: { type: 'string', description: 'sha256 over the paths and contents of all its files; empty where they can not be read' },
    state: {
      ...oneOf(['approved', 'changed', 'new', 'unusable']),
      description: 'Only approved ones are offered. unusable: it is no skill as it is; `problem` says why',
    },
    tokens: { ...count, description: 'Of its SKILL.md, by estimate' },
    files: { ...listOf(string), description: 'The paths of its files' },
    problem: { type: 'string', description: 'Why it is unusable: the file, the line, and what helps' },
    approvedAt: string,
    approvedBy: string,
    now: { ...texts, description: 'Its files by their paths; only where one skill is asked for' },
    was: { ...texts, description: 'The approved files, of a skill that has changed; missing where they were too long to keep' },
  },
  ['problem', 'approvedAt', 'approvedBy', 'now', 'was'],
);
export type SkillView = types.SkillView;
/** Skills, with those that can not be used. */
export const SkillList = object({ skills: listOf(SkillView) });
export type SkillList = types.SkillList;
/** A skill with its texts. */
export const SkillShown = object({ skill: SkillView });
/** A skill was approved. */
export const SkillChanged = object({ success: yes, skill: SkillView });
