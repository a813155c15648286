// Examples of keys and model names for the published contract. Pure: no I/O.
import type { Example } from './example.ts';

const FIGURES = {
  usdPerDay: 5,
  usdPerWeek: null,
  usdPerMonth: 50,
  tokensPerDay: null,
  tokensPerMonth: null,
  inFlight: 4,
  requestsPerMinute: 60,
  tokensPerMinute: null,
  unpriced: 'allow',
};
const LIMITS = { ...FIGURES, group: 'team', models: ['claude-*', 'ollama/*'], rights: [], blocks: null, expiresAt: null };
const SPEND = { usd: 0.42, tokens: 18_230, calls: 12, unpricedCalls: 2 };
const SPENT = { spentToday: SPEND, spentThisWeek: SPEND, spentThisMonth: SPEND, lastUsedOn: '2026-11-24' };
const KEY = { name: 'web-app', createdAt: '2026-11-22T08:00:00.000Z', ...LIMITS, rev: 'q3Zx0_7dPk2A' };
const WARNING = {
  field: 'usdPerDay',
  message: 'This cap does not count calls of ollama/gpt-oss:120b-cloud, because their price is not known; set tokensPerDay (`--tokens-per-day`) as well.',
};
const TARGETS = ['google/gemini-3.8-flash', 'ollama/gemma4'];

/** Each example under its name in the document. */
export const CLIENT_EXAMPLES = {
  KeyList: { of: 'KeyList', summary: 'One key', value: { keys: [{ ...KEY, ...SPENT }] } },
  ChangeKey: { of: 'ChangeKey', summary: 'A cap a month, and none a day', value: { usdPerMonth: 50, usdPerDay: null } },
  KeyChanged: { of: 'KeyChanged', summary: 'The limits that hold now', value: { success: true, key: KEY, warnings: [WARNING] } },
  SetKeyGroup: { of: 'SetKeyGroup', summary: '20 USD a day', value: { usdPerDay: 20 } },
  KeyGroupSet: { of: 'KeyGroupSet', summary: 'A group with one key', value: { success: true, group: { name: 'team', ...FIGURES, keys: ['web-app'] } } },
  KeyGroupList: {
    of: 'KeyGroupList',
    summary: 'A group with one key',
    value: { groups: [{ name: 'team', ...FIGURES, keys: ['web-app'], ...SPENT }] },
  },
  KeyGroupRemoved: {
    of: 'Done',
    operations: ['removeKeyGroup'],
    summary: 'It is removed',
    value: { success: true, message: 'The group team is removed.' },
  },
  CredentialStored: {
    of: 'Done',
    operations: ['setCredential'],
    summary: 'It is stored',
    value: { success: true, message: 'Stored apiKey of OpenAI in auth.json.' },
  },
  CredentialRemoved: {
    of: 'Done',
    operations: ['removeCredential'],
    summary: 'It is gone',
    value: { success: true, message: 'Removed OpenAI from auth.json.' },
  },
  ConnectionList: {
    of: 'ConnectionList',
    summary: 'A server of your own',
    value: {
      connections: [
        {
          name: 'gpu',
          adapter: 'openai',
          preset: null,
          baseURL: 'http://10.0.0.7:8000/v1',
          ready: true,
          detail: null,
          isLocal: false,
          models: { 'qwen3-*': { price: 0, contextWindow: 131_072 } },
          limits: { inFlight: 16, waiting: 100 },
          atWork: 2,
          waiting: 0,
          breaker: 'closed',
          cachedShare: null,
          keys: [
            { label: 'a', source: 'GPU_KEY', state: 'ready', until: null, models: [], weight: 1, maxInFlight: 4, inFlight: 2, calls: 180, cachedShare: 0.42 },
          ],
        },
      ],
    },
  },
  ConnectionEntry: {
    of: 'ConnectionEntry',
    summary: 'A server of your own, without a key',
    value: { adapter: 'openai', baseURL: 'http://10.0.0.7:8000/v1', auth: 'none', limits: { inFlight: 16 } },
  },
  ConnectionStored: { of: 'Done', operations: ['setConnection'], summary: 'It is stored', value: { success: true, message: 'Stored gpu in auth.json.' } },
  ConnectionRemoved: { of: 'Done', operations: ['removeConnection'], summary: 'It is gone', value: { success: true, message: 'Removed gpu from auth.json.' } },
  EntryKey: { of: 'EntryKey', summary: 'A second key', value: { label: 'b', apiKey: 'your-key', weight: 2, inFlight: 4 } },
  ChangeEntryKey: { of: 'ChangeEntryKey', summary: 'The first, for three times as many conversations', value: { weight: 3, place: 1 } },
  ConnectionKeys: {
    of: 'Done',
    operations: ['addConnectionKey', 'changeConnectionKey'],
    summary: 'The keys that it has now',
    value: { success: true, message: 'gpu has 2 keys: a, b.' },
  },
  ConnectionKeyRemoved: { of: 'Done', operations: ['removeConnectionKey'], summary: 'It is gone', value: { success: true, message: 'gpu has the key a.' } },
  PriceList: {
    of: 'PriceList',
    summary: 'A price of your own, and one of prices.json',
    value: {
      prices: [
        { model: 'gpu/prod', from: 'own', price: { input: 0.59, output: 0.79, cacheRead: 0.06 }, like: null },
        { model: 'groq/llama-3.3-70b-versatile', from: 'file', price: { input: 0.59, output: 0.79 }, like: null },
      ],
      source: { file: 'prices-2026-11.json', sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', date: '2026-11-27T09:00:00.000Z' },
    },
  },
  SetPrice: { of: 'SetPrice', summary: 'As much as another model', value: { price: 'openai/gpt-4o-mini' } },
  ShownPrice: {
    of: 'ShownPrice',
    summary: 'The price of a model',
    value: { model: 'gpu/mine', from: 'own', price: { input: 0.15, output: 0.6, cacheRead: 0.075, cacheWrite: 0.15 }, like: 'openai/gpt-4o-mini' },
  },
  PriceRemoved: {
    of: 'Done',
    operations: ['removePrice'],
    summary: 'It is gone',
    value: { success: true, message: 'Removed the price of gpu/mine from auth.json.' },
  },
  DetectedList: {
    of: 'DetectedList',
    summary: 'One server',
    value: { servers: [{ preset: 'vllm', baseURL: 'http://127.0.0.1:8000/v1', connection: null }] },
  },
  PresetList: {
    of: 'PresetList',
    summary: 'One preset',
    value: {
      presets: [
        {
          name: 'groq',
          adapter: 'openai',
          baseURL: 'https://api.groq.com/openai/v1',
          baseURLForm: null,
          variable: 'GROQ_API_KEY',
          isSet: true,
          isLocal: false,
          prices: 'groq',
          source: 'Where its facts were read',
        },
      ],
    },
  },
  RequestEnded: { of: 'Done', operations: ['endGatewayRequest'], summary: 'It is ended', value: { success: true, message: 'The request req_1 is ended.' } },
  GatewayFigures: {
    of: 'GatewayFigures',
    summary: 'One provider that was called once',
    value: {
      window: '15m',
      adapters: [
        {
          id: 'ollama',
          displayName: 'Ollama',
          defaultModel: 'gemma4',
          ready: true,
          source: null,
          breaker: 'closed',
          openUntil: null,
          paused: [],
          atWork: 0,
          waiting: 0,
          limits: { concurrency: 64, waiting: 256 },
          series: [
            {
              at: '2026-11-23T08:00:00.000Z',
              requests: 1,
              errors: 0,
              input: 20,
              output: 12,
              cached: 0,
              firstTextP50: 220,
              firstTextP95: 220,
              durationP50: 900,
              durationP95: 900,
            },
          ],
        },
      ],
    },
  },
  GatewayRequests: {
    of: 'GatewayRequests',
    summary: 'One under way',
    value: {
      live: [
        {
          requestId: 'req_1',
          adapter: 'ollama',
          model: 'gemma4',
          block: 'ada',
          phase: 'streaming',
          startedAt: '2026-11-23T08:00:00.000Z',
          queuedMs: 0,
          firstTextMs: 220,
          durationMs: 500,
          usage: null,
        },
      ],
      ended: [],
    },
  },
  GatewayRequestDetail: {
    of: 'GatewayRequestDetail',
    summary: 'A request that was repeated once',
    value: {
      requestId: 'req_2',
      calls: [
        {
          requestId: 'req_2',
          adapter: 'ollama',
          model: 'gemma4',
          key: 'web-app',
          phase: 'ended',
          startedAt: '2026-11-23T08:00:00.000Z',
          queuedMs: 0,
          firstTextMs: 1450,
          durationMs: 1900,
          usage: { inputTokens: 20, outputTokens: 12, totalTokens: 32 },
          kind: 'chat',
          asked: 'gemma4',
          path: '/v1/messages',
          attempts: [
            { sentMs: 0, endedMs: 210, firstTextMs: null, code: 'UPSTREAM_FAILED', upstreamStatus: 503, next: 'repeat', delayMs: 240 },
            { sentMs: 450, endedMs: 1900, firstTextMs: 1450 },
          ],
          costUsd: null,
        },
      ],
      bodies: [],
    },
  },
  SignIn: { of: 'SignIn', summary: 'A code of `blockhouse open`', value: { code: 'x'.repeat(22) } },
  SessionKey: { of: 'SessionKey', summary: 'A key for 30 days', value: { key: `bhs_${'x'.repeat(70)}`, expiresAt: '2026-12-23T08:00:00.000Z' } },
  SessionCode: { of: 'SessionCode', summary: 'A code', value: { code: 'x'.repeat(22), expiresAt: '2026-11-23T08:01:00.000Z', page: '/ui/' } },
  SessionTicket: { of: 'SessionTicket', summary: 'A ticket', value: { ticket: 'x'.repeat(22), expiresAt: '2026-11-23T08:00:30.000Z' } },
  SetCredential: { of: 'SetCredential', summary: 'A key', value: { apiKey: 'sk-example' } },
  CredentialList: {
    of: 'CredentialList',
    summary: 'A stored key and none',
    value: {
      credentials: [
        { adapter: 'openai', configured: true, source: 'auth.json', hint: '7f3a', baseURL: null },
        { adapter: 'ollama', configured: true, source: null, hint: null, baseURL: null },
      ],
    },
  },
  CreateKey: { of: 'CreateKey', summary: 'A key with a cap and its own models', value: { name: 'web-app', usdPerDay: 5, models: LIMITS.models } },
  KeyCreated: {
    of: 'KeyCreated',
    summary: 'The only time that the key is shown',
    value: { success: true, name: 'web-app', key: `bhk_${'x'.repeat(43)}`, warnings: [WARNING] },
  },
  ModelNames: {
    of: 'ModelNames',
    summary: 'One alias and a local model',
    value: {
      defaultProvider: null,
      aliases: [{ name: 'gpt-4o-mini', targets: TARGETS }],
      models: [
        { id: 'gpt-4o-mini', adapter: 'google' },
        { id: 'ollama/gemma4', adapter: 'ollama' },
      ],
    },
  },
  ModelResolved: {
    of: 'ModelResolved',
    summary: 'An alias with two models',
    value: {
      name: 'gpt-4o-mini',
      by: 'alias',
      rule: 'gpt-4o-mini',
      targets: [
        { adapter: 'google', model: 'gemini-3.8-flash' },
        { adapter: 'ollama', model: 'gemma4' },
      ],
    },
  },
  DebugKey: { of: 'DebugKey', summary: 'For half an hour', value: { minutes: 30 } },
  KeyDebugged: { of: 'KeyDebugged', summary: 'Until then', value: { success: true, name: 'web-app', debugUntil: '2026-11-23T08:30:00.000Z' } },
  DebugEnded: {
    of: 'Done',
    operations: ['endDebugKey'],
    summary: 'They are deleted',
    value: { success: true, message: 'The bodies of the calls of web-app are kept no longer; those that were are deleted.' },
  },
  KeyRevoked: { of: 'Done', operations: ['revokeKey'], summary: 'It is refused from now on', value: { success: true, message: 'The key web-app is revoked.' } },
  DefaultProviderSet: {
    of: 'Done',
    operations: ['setDefaultProvider'],
    summary: 'It is set',
    value: { success: true, message: 'The default provider is ollama.' },
  },
  AliasSet: {
    of: 'Done',
    operations: ['setAlias'],
    summary: 'It is set',
    value: { success: true, message: 'gpt-4o-mini stands for google/gemini-3.8-flash, then ollama/gemma4.' },
  },
  AliasRemoved: { of: 'Done', operations: ['removeAlias'], summary: 'It is gone', value: { success: true, message: 'The alias gpt-4o-mini is removed.' } },
  SetAlias: { of: 'SetAlias', summary: 'Two models, asked one after the other', value: { targets: TARGETS } },
  SetDefaultProvider: { of: 'SetDefaultProvider', summary: 'Ollama answers all other names', value: { defaultProvider: 'ollama' } },
} as const satisfies Readonly<Record<string, Example>>;
