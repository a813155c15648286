// Examples of blocks and the workspace for the published contract. Pure: no I/O.
import type { Example } from './example.ts';

const CREATED_AT = '2026-11-22T08:00:00.000Z';
const ASKED_AT = '2026-11-22T08:05:00.120Z';
const ANSWERED_AT = '2026-11-22T08:05:02.480Z';
const ARCHIVE_NAME = 'ada_2026-11-22T18-00-00-000Z';
const MODEL = { provider: 'ollama', model: 'gemma4' };
const CONFIG = {
  name: 'ada',
  description: 'Answers questions about mathematics',
  adapter: { ...MODEL, maxTokens: 4096, cacheControl: false },
  systemPrompt: 'Answer in one sentence.',
  tags: ['math'],
  enabled: true,
  createdAt: CREATED_AT,
  updatedAt: CREATED_AT,
  rev: 3,
};
const QUEUE = { queued: 0, processing: 0, failed: 0, oldestQueuedAt: null };
const PULSE = {
  status: 'ACTIVE',
  state: 'idle',
  reason: null,
  desired: 'running',
  attention: false,
  lastPulse: ANSWERED_AT,
  lastRun: ANSWERED_AT,
  nextWakeUp: null,
  error: null,
  currentTask: null,
  startedAt: CREATED_AT,
  stoppedAt: null,
  uptimeSeconds: 60,
  restarts: 0,
  consecutiveFailures: 0,
  queue: QUEUE,
  transitions: [],
};
const STOPPED = { ...PULSE, status: 'SLEEPING', state: 'stopped', desired: 'stopped' };
const FAILURES = { count: 0, since: null, last: null };
const FACT = { id: 'febbe17065c2a', text: 'The customer prefers metric units.', pinned: true, createdAt: ASKED_AT };
const MEMORY = {
  summary: '',
  summaryUpdatedAt: null,
  facts: [FACT],
  window: { firstKeptId: null, messages: 2, tokens: 45, maxTokens: 32_768, percent: 0.1 },
  compactions: [],
  compactionCount: 0,
};
const COSTS = { totalInput: 24, totalOutput: 12, totalCost: null, calls: 1 };
const ALL_COSTS = {
  ...COSTS,
  sessionInput: 24,
  sessionOutput: 12,
  sessionCost: null,
  currency: 'USD',
  failedCalls: 0,
  unpricedCalls: 1,
  byModel: {},
  byDay: {},
  byPurpose: {},
  answersByHour: {},
  lastCall: null,
  budget: { day: { usd: 0, tokens: 36 }, month: { usd: 0, tokens: 36 }, state: 'ok' },
  lastUpdated: ANSWERED_AT,
  lastReset: null,
};
const BUCKET = { calls: 1, input: 24, output: 12, cacheRead: 0, cacheWrite: 0, costUsd: null, unpricedCalls: 1 };
const MESSAGE = {
  id: 'm0mwsgohuc000030c1625b',
  role: 'user',
  content: 'Who are you?',
  timestamp: ASKED_AT,
  processed: true,
  status: 'done',
  channel: 'web',
  clientId: 'mail-17',
};
const ANSWER = {
  id: 'm0mwsgoi17000069665459',
  role: 'assistant',
  content: 'I am Ada.',
  timestamp: ANSWERED_AT,
  processed: true,
  status: 'done',
  channel: 'web',
  replyTo: MESSAGE.id,
  ...MODEL,
  usage: { inputTokens: 24, outputTokens: 12, totalTokens: 36 },
  costUsd: null,
  stopReason: 'end_turn',
};
const RECEIPT = { queued: true, block: 'ada', id: MESSAGE.id, position: 0, running: true };
const NO_ANSWER = 'There is no answer yet. It will be in the chat history.';

/** The examples by name. */
export const BLOCK_EXAMPLES = {
  NewBlock: { of: 'CreateBlock', summary: 'A block with a model', value: { name: 'ada', config: { adapter: MODEL, systemPrompt: 'Answer in one sentence.' } } },
  CreatedBlock: { of: 'BlockCreated', summary: 'The block exists', value: { success: true, name: 'ada' } },
  Blocks: {
    of: 'BlockList',
    summary: 'One block',
    value: {
      blocks: [
        {
          name: 'ada',
          status: 'ACTIVE',
          state: 'idle',
          attention: false,
          config: { description: CONFIG.description, adapter: MODEL, tags: CONFIG.tags, enabled: true },
          costs: { ...COSTS, today: null },
          pulse: { status: 'ACTIVE', state: 'idle', lastPulse: ANSWERED_AT, nextWakeUp: null, error: null },
          queue: 0,
          failures: FAILURES,
          lastMessageAt: ANSWERED_AT,
          budget: { dailyUsd: 2, spentUsd: 0.38, state: 'ok' },
          activity: [...Array.from({ length: 23 }, () => 0), 1],
        },
      ],
    },
  },
  Block: { of: 'BlockDetails', summary: 'A block that runs', value: { name: 'ada', config: CONFIG, memory: MEMORY, costs: ALL_COSTS, pulse: PULSE } },
  WhyIdle: {
    of: 'Explanation',
    summary: 'Nothing to do',
    value: {
      name: 'ada',
      state: 'idle',
      status: 'ACTIVE',
      attention: false,
      reason: null,
      why: 'Its monitor is running and no messages are waiting.',
      next: 'It will answer the next message as soon as it arrives.',
      fix: null,
      since: ANSWERED_AT,
      queue: QUEUE,
      failures: FAILURES,
      failed: null,
      lastTransitions: [{ at: ANSWERED_AT, from: 'working', to: 'idle', cause: 'answered', actor: 'monitor' }],
      actions: [],
    },
  },
  Started: {
    of: 'MonitorChanged',
    operations: ['startBlock', 'restartBlock'],
    summary: 'It runs',
    value: { success: true, message: 'ada is running.', pulse: PULSE },
  },
  Stopped: {
    of: 'MonitorChanged',
    operations: ['stopBlock'],
    summary: 'It is stopped',
    value: { success: true, message: 'ada is stopped.', pulse: STOPPED },
  },
  Reset: {
    of: 'WasReset',
    summary: 'What was cleared',
    value: { success: true, message: 'ada was reset. Its configuration and chat history were kept.', cleared: ['memory', 'costs', 'pulse'] },
  },
  Config: { of: 'ConfigAnswer', summary: 'A configuration, shortened', value: { config: CONFIG } },
  NewPrompt: { of: 'BlockConfigPatch', summary: 'Another prompt and a budget', value: { systemPrompt: 'Answer in French.', budget: { dailyUsd: 1 } } },
  ChangedConfig: {
    of: 'ConfigChanged',
    summary: 'The configuration after it, shortened',
    value: { success: true, config: { ...CONFIG, systemPrompt: 'Answer in French.', rev: 4 } },
  },
  Logs: {
    of: 'LogList',
    summary: 'One file',
    value: {
      logs: [
        {
          file: '2026-11-22T08-00-00Z-monitor.log',
          content: '2026-11-22T08:00:00.491Z INFO monitor.started queued=0\n',
          size: 55,
          modifiedAt: CREATED_AT,
          truncated: false,
        },
      ],
    },
  },
  AskedAgain: {
    of: 'AskAgain',
    summary: 'Another text, for another model',
    value: { message: 'What is my name, and since when do you know it?', model: 'gemma4' },
  },
  Versions: {
    of: 'MessageVersions',
    summary: 'A message that was asked again',
    value: {
      versions: [
        { entry: { ...MESSAGE, id: 'm0kd81-earlier' }, answer: { ...ANSWER, replyTo: 'm0kd81-earlier' } },
        { entry: { ...MESSAGE, replaces: 'm0kd81-earlier' }, answer: ANSWER },
      ],
    },
  },
  RunWithACall: {
    of: 'RunJournal',
    summary: 'A run with one call',
    value: {
      messageId: MESSAGE.id,
      records: [
        { t: 'call', call: '1.1', at: MESSAGE.timestamp, try: 1, pin: '3f9c' },
        { t: 'result', call: '1.1', at: MESSAGE.timestamp, ms: 12, isError: false, text: 'Paid 5 to bob.' },
      ],
    },
  },
  PageOfResult: { of: 'RunResult', summary: 'With offset and limit', value: { isError: false, parts: [{ type: 'text', text: '5 to bob.' }], chars: 48213 } },
  LongResult: { of: 'RunResult', summary: 'A text', value: { isError: false, parts: [{ type: 'text', text: 'Paid 5 to bob. …' }] } },
  Found: {
    of: 'SearchResult',
    summary: 'One text',
    value: {
      hits: [{ block: 'ada', archive: null, by: 'message', id: MESSAGE.id, at: MESSAGE.timestamp, excerpt: 'Where is the needle?', marks: [[13, 19]] }],
      total: 1,
      complete: true,
      unreadable: [],
    },
  },
  NewMessage: { of: 'PostMessage', summary: 'A message that may be sent twice', value: { message: MESSAGE.content, clientId: 'mail-17' } },
  QueuedMessage: { of: 'ChatAnswer', summary: 'It will be answered', value: { ...RECEIPT, note: 'The answer will be in the chat history.' } },
  AnsweredMessage: {
    of: 'ChatAnswer',
    summary: 'With `wait`: it was answered',
    value: { ...RECEIPT, note: 'The message has its answer.', entry: MESSAGE, answer: ANSWER },
  },
  MessageWithoutAnswer: { of: 'ChatReceipt', summary: 'It has no answer yet', value: { ...RECEIPT, note: NO_ANSWER } },
  Conversation: { of: 'ChatHistory', summary: 'A message and its answer', value: { messages: [MESSAGE, ANSWER], seq: 1795000000000042 } },
  Exchange: { of: 'MessageFound', summary: 'A message that was answered', value: { entry: MESSAGE, answer: ANSWER } },
  AwaitedExchange: {
    of: 'AwaitedMessage',
    status: 200,
    summary: 'With `wait`: it was answered',
    value: { entry: MESSAGE, answer: ANSWER, running: true, note: null },
  },
  PendingExchange: {
    of: 'AwaitedMessage',
    status: 202,
    summary: 'It has no answer yet',
    value: { entry: { ...MESSAGE, processed: false, status: 'processing' }, answer: null, running: true, note: NO_ANSWER },
  },
  ReplyStartEvent: { of: 'ReplyEvent', summary: 'An attempt begins', value: { event: 'start', data: { ...MODEL, id: MESSAGE.id, attempt: 1 } } },
  ReplyContentEvent: { of: 'ReplyEvent', summary: 'A piece of the reply', value: { event: 'content', data: { text: 'I am' } } },
  ReplyStepEvent: {
    of: 'ReplyEvent',
    summary: 'With `steps=true`: the run is at step 3',
    value: { event: 'run', data: { block: 'ada', id: MESSAGE.id, event: 'step', n: 3 } },
  },
  ReplyToolEvent: {
    of: 'ReplyEvent',
    summary: 'With `steps=true`: a call has its outcome',
    value: {
      event: 'run',
      data: { block: 'ada', id: MESSAGE.id, event: 'tool', call: '3.1', tool: 'github/create_issue', state: 'done', isError: false, ms: 412 },
    },
  },
  ReplyProgressEvent: {
    of: 'ReplyEvent',
    summary: 'With `steps=true`: a call goes on',
    value: {
      event: 'run',
      data: {
        block: 'ada',
        id: MESSAGE.id,
        event: 'progress',
        call: '3.1',
        tool: 'files/index',
        state: 'working',
        task: true,
        progress: 3,
        total: 10,
        message: 'Reading',
      },
    },
  },
  ReplyApprovalEvent: {
    of: 'ReplyEvent',
    summary: 'With `steps=true`: a call waits for a person',
    value: { event: 'approval', data: { id: 'a3f9c2b1d0e4a7586', block: 'ada', state: 'pending' } },
  },
  ReplyDoneEvent: {
    of: 'ReplyEvent',
    summary: 'The end of the reply',
    value: { event: 'done', data: { usage: ANSWER.usage, stopReason: 'end_turn', answerId: ANSWER.id } },
  },
  Cancelled: {
    of: 'MessageChanged',
    operations: ['cancelMessage'],
    summary: 'It is cancelled',
    value: { success: true, message: 'The message is cancelled now.', entry: { ...MESSAGE, status: 'cancelled' } },
  },
  QueuedAgain: {
    of: 'MessageChanged',
    operations: ['retryMessage'],
    summary: 'It waits again',
    value: { success: true, message: 'The message is queued now.', entry: { ...MESSAGE, processed: false, status: 'queued' } },
  },
  NewFact: { of: 'AddFact', summary: 'A fact', value: { text: FACT.text } },
  ChangedFact: { of: 'ChangeFact', summary: 'No longer in every prompt', value: { pinned: false } },
  AddedFact: { of: 'FactAdded', summary: 'The fact with its id', value: { success: true, fact: FACT } },
  FactRemoved: { of: 'Done', operations: ['removeFact'], summary: 'It is gone', value: { success: true, message: 'The fact was removed.' } },
  Memory: {
    of: 'MemoryAnswer',
    summary: 'The memory afterwards',
    value: { success: true, message: 'The model now sees 2 messages: 45 of 32768 tokens.', memory: MEMORY },
  },
  Archived: {
    of: 'Archived',
    summary: 'It is in the archive',
    value: { success: true, message: `ada was archived as ${ARCHIVE_NAME}.`, archiveName: ARCHIVE_NAME },
  },
  Archive: {
    of: 'ArchiveList',
    summary: 'One archived block',
    value: {
      archives: [
        { archiveName: ARCHIVE_NAME, originalName: 'ada', archivedAt: '2026-11-22T18:00:00.000Z', description: CONFIG.description, sizeBytes: 4323, files: 5 },
      ],
    },
  },
  OtherName: { of: 'RestoreArchive', summary: 'Under another name', value: { name: 'ada-2' } },
  Restored: {
    of: 'Restored',
    operations: ['restoreBlock'],
    summary: 'It is active again',
    value: { success: true, message: 'ada-2 was restored from the archive; its monitor is stopped.', name: 'ada-2' },
  },
  Purged: { of: 'Done', operations: ['purgeArchive'], summary: 'It is gone', value: { success: true, message: `${ARCHIVE_NAME} was permanently deleted.` } },
  NewName: { of: 'RenameBlock', summary: 'Another name', value: { name: 'grace' } },
  Renamed: {
    of: 'Restored',
    operations: ['renameBlock'],
    summary: 'It has the other name',
    value: { success: true, message: 'ada was renamed to grace.', name: 'grace' },
  },
  Costs: { of: 'CostsReport', summary: 'The costs of one block', value: { by: 'block', rows: [{ key: 'ada', ...BUCKET }], total: BUCKET } },
  Reconciled: {
    of: 'BillComparison',
    summary: 'A day on which the provider bills more',
    value: {
      connection: 'openai',
      matched: 41,
      differs: [
        {
          date: '2026-11-01',
          model: 'gpt-4o',
          ours: { usd: 0.25, input: 80_000, output: 5000, calls: 40, unpricedCalls: 0 },
          theirs: { usd: 0.31 },
        },
      ],
    },
  },
  Healthy: { of: 'DoctorReport', summary: 'Nothing is wrong', value: { ok: true, checked: { blocks: 1, files: 5, messages: 2 }, findings: [] } },
  Nodes: {
    of: 'NodeList',
    summary: 'One server',
    value: {
      nodes: [
        {
          id: '6b0d7f5e-3a53-4d0c-9c9e-0f6b6c1c5a10',
          self: true,
          version: '0.1.0',
          url: 'http://127.0.0.1:8420',
          startedAt: CREATED_AT,
          seenAt: CREATED_AT,
          alive: true,
          draining: false,
          blocks: 1,
        },
      ],
    },
  },
  Drained: {
    of: 'ServerNode',
    summary: 'A server that is drained',
    value: {
      id: '6b0d7f5e-3a53-4d0c-9c9e-0f6b6c1c5a10',
      self: false,
      version: '0.1.0',
      url: 'http://127.0.0.1:8420',
      startedAt: CREATED_AT,
      seenAt: CREATED_AT,
      alive: true,
      draining: true,
      blocks: 1,
    },
  },
  NotHalted: { of: 'HaltState', operations: ['getHalt', 'releaseHalt'], summary: 'It is not set', value: { halted: false, since: null, reason: null } },
  Halt: { of: 'SetHalt', summary: 'With a reason', value: { reason: 'The costs are too high.' } },
  Halted: {
    of: 'HaltState',
    operations: ['getHalt', 'setHalt'],
    summary: 'It is set',
    value: { halted: true, since: CREATED_AT, reason: 'The costs are too high.' },
  },
} as const satisfies Record<string, Example>;
