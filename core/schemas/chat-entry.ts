// chat.json: its entries are messages and answers. And the journal of a run: one record for each step of answering a message with tools, in the order in which they
// happened. Pure: no I/O.
import type * as types from '../types.ts';
import { ContentPart, STOP_REASONS, Usage } from './chat.ts';
import { boolean, closedObject, count, listOf, money, number, object, oneOf, orNull, string, time } from './fields.ts';

/** The statuses of a message. The last four are outcomes. */
export const USER_STATUSES = ['queued', 'processing', 'waiting-approval', 'done', 'failed', 'cancelled', 'expired'] as const;
/** The statuses of an answer. interrupted: only the text until a stop was kept. */
export const ANSWER_STATUSES = ['done', 'interrupted', 'failed'] as const;
/** What a client may say of where its message comes from. */
export const CHANNELS = ['web', 'cli', 'api'] as const;
export type Channel = types.Channel;
/** Where a message came from: a client, a schedule of the block, another program at one of its hooks, another agent over MCP, or another block. */
export const ORIGINS = [...CHANNELS, 'schedule', 'hook', 'mcp', 'block'] as const;

/** Why a message failed or waits for another attempt. */
export const EntryError = object({ code: string, message: string, retryable: boolean });
export type EntryError = types.EntryError;

/** A model that one message asks. */
export const AskedModel = object({ provider: string, model: string });
export type AskedModel = types.AskedModel;

/** How a message came: one step of its way. */
export const ChainLink = object(
  {
    via: oneOf(['api', 'key', 'hook', 'mcp', 'block']),
    key: { type: 'string', description: 'The name of the key with which it was sent' },
    trusted: { type: 'boolean', description: 'The key was trusted when the message came, so it does not taint' },
    hook: { type: 'string', description: 'The id of the hook that took it' },
    block: { type: 'string', description: 'The name of the block that has sent it with a call of `block/send`' },
    links: { ...count, description: 'How many messages in a row came from `block/later` before, without a person or a schedule' },
  },
  ['key', 'trusted', 'hook', 'block', 'links'],
);
const anyObject = { type: 'object', additionalProperties: {} } as const;
const name = <const T extends string>(value: T) => ({ type: 'string', const: value }) as const;
const call = { type: 'string', description: 'The step, and the number of the call in it: 3.1' } as const;
const step = { ...count, description: 'Counts the answers of the model, over all runs of the message' } as const;

/** Why a call was not made or, with `not-run`, is known not to have run. One that took too long or brought too much is a result or not known: it may have run. */
export const REFUSALS = ['denied', 'expired', 'invalid-arguments', 'not-offered', 'server-failed', 'changed', 'not-run', 'limit', 'same-call'] as const;

/** What a tool is known to do; each mark holds only if the server and the user say the same. */
export const ToolMarks = object({ readOnly: boolean, idempotent: boolean, closedWorld: boolean });
export type ToolMarks = types.ToolMarks;

/** Who decided. */
export const Decider = object({ channel: oneOf(['cli', 'web', 'api', 'link', 'clock']), name: string });
export type Decider = types.Decider;

/** What makes a run tainted: somebody outside may have written what it reads. */
export const Taint = object(
  {
    messageId: { type: 'string', description: 'The message whose run has read it, or which came in this way' },
    tool: { type: 'string', description: 'The tool whose output was read' },
    via: { ...oneOf(['key', 'hook', 'block', 'mcp']), description: 'How the message came' },
  },
  ['tool', 'via'],
);
export type Taint = types.Taint;

/** A field of a form that a server asks a person to fill in. */
export const InputField = object(
  {
    name: string,
    type: { ...oneOf(['string', 'number', 'integer', 'boolean', 'choice', 'choices']), description: 'choice: one of `options`; choices: a list of them' },
    title: string,
    description: string,
    isRequired: boolean,
    format: oneOf(['email', 'uri', 'date', 'date-time']),
    options: listOf(object({ value: string, title: string })),
    min: { ...number, description: 'The least value, or number of characters or choices' },
    max: { ...number, description: 'The largest' },
    default: { description: 'What the form begins with' },
  },
  ['title', 'description', 'format', 'options', 'min', 'max', 'default'],
);
export type InputField = types.InputField;

/** What a server asks a person. All of its words are those of the server. */
export const InputForm = object({ message: string, fields: listOf(InputField) });
export type InputForm = types.InputForm;

/** The answer to it: `content` has the values by the names of the fields. */
export const InputAnswer = closedObject(
  { action: oneOf(['accept', 'decline', 'cancel']), content: { type: 'object', maxProperties: 20, additionalProperties: {} } },
  ['content'],
);
export type InputAnswer = types.InputAnswer;
const forms = { type: 'object', additionalProperties: InputForm, description: 'By the names that the server gives them' } as const;
const answers = { type: 'object', maxProperties: 5, additionalProperties: InputAnswer } as const;

/** A call that waits for a person. */
export const Approval = object(
  {
    id: string,
    block: string,
    messageId: string,
    call,
    kind: { ...oneOf(['call', 'unknown', 'input']), description: 'unknown: whether a call ran whose outcome is not known' },
    tool: string,
    arguments: anyObject,
    digest: { type: 'string', description: 'Of tool, arguments and definition. A decision names it' },
    because: oneOf(['rule', 'default', 'tainted', 'repeat', 'unknown', 'input']),
    marks: ToolMarks,
    readBefore: { ...listOf(string), description: 'Tools whose output the run has read' },
    taint: { ...listOf(Taint), description: 'What the run, its message or what it remembers has read of somebody outside; the first ten' },
    pin: { type: 'string', description: 'The hash of the definition of the tool' },
    request: { ...forms, description: 'For the kind input: the forms that the server asks for, by the names that it gives them' },
    createdAt: time,
    expiresAt: time,
  },
  ['taint', 'pin', 'request'],
);
export type Approval = types.Approval;

/** How a decision was meant: for this call, for all calls of this tool, or for those with equal arguments. */
export const SCOPES = ['once', 'always', 'same-arguments'] as const;
/** What became of a call that waited. */
export const APPROVAL_STATES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const;

/** A call of a tool, as an answer shows it. The journal of the run has all of it. */
export const EntryStep = object(
  {
    call: { type: 'string', description: 'The step, and the number of the call in it: 3.1' },
    tool: string,
    arguments: { type: 'string', description: 'JSON, the first 2,048 characters' },
    outcome: { type: 'string', description: 'done, unknown, or why it was refused' },
    isError: boolean,
    ms: orNull(number),
    approvedBy: string,
    preview: { type: 'string', description: 'The first 500 characters of the result' },
  },
  ['approvedBy'],
);
export type EntryStep = types.EntryStep;

/** What a person, or the clock, has decided. */
export const DECISIONS = ['approve', 'deny', 'expire', 'cancel', 'ran', 'not-ran', 'tell'] as const;

/** A call that waits, or has waited, for a person, as people see it. */
export const ShownApproval = object(
  {
    ...Approval.properties,
    state: { ...oneOf(APPROVAL_STATES), description: 'approved also stands for a person who has said what became of a call whose outcome is not known' },
    scopes: { ...listOf(oneOf(SCOPES)), description: 'How it may be approved now' },
    decision: oneOf(DECISIONS),
    decidedBy: Decider,
    decidedAt: time,
    note: string,
    scope: oneOf(SCOPES),
  },
  ['taint', 'pin', 'request', 'decision', 'decidedBy', 'decidedAt', 'note', 'scope'],
);
export type ShownApproval = types.ShownApproval;

/** A call as the model asked for it. */
export const RunCall = object({ n: count, id: string, tool: string, name: string, arguments: anyObject, providerMetadata: anyObject }, ['providerMetadata']);
export type RunCall = types.RunCall;

const run = object(
  {
    t: name('run'),
    run: count,
    at: time,
    cause: string,
    tools: listOf(string),
    skills: { ...listOf(string), description: 'Those in the prompt, with the hash of each: `invoice#77ab…`' },
    limits: anyObject,
    taint: listOf(Taint),
  },
  ['skills', 'taint'],
);
const resume = object({ t: name('resume'), at: time, attempt: count });
const model = object({ t: name('model'), step, at: time, provider: string, model: string, tokens: count });
const answer = object(
  {
    t: name('answer'),
    step,
    at: time,
    text: string,
    calls: listOf(RunCall),
    usage: orNull(Usage),
    costUsd: money,
    leastUsd: { ...number, description: 'USD that it costs at least, where only that is known' },
    latencyMs: number,
    ttftMs: orNull(number),
    stopReason: string,
    state: { ...anyObject, description: 'Opaque state of the provider' },
  },
  ['leastUsd', 'state'],
);
const ask = object({ t: name('ask'), call, approval: Approval });
const decision = object(
  { t: name('decision'), approval: string, decision: oneOf(DECISIONS), by: Decider, at: time, note: string, scope: oneOf(SCOPES), input: answers },
  ['note', 'scope', 'input'],
);
const begun = object(
  { t: name('call'), call, at: time, try: count, pin: string, usd: { ...number, description: 'What the call costs by `usdPerCall`, in USD' } },
  ['usd'],
);
const task = object({
  t: name('task'),
  call,
  at: time,
  taskId: { type: 'string', description: 'Under which its server goes on with the call by itself' },
  ttlMs: { ...orNull(count), description: 'How long the server keeps the task; null: for ever' },
  pollMs: { ...count, description: 'How often the server wants to be asked for it' },
});
const cancel = object({ t: name('cancel'), call, at: time });
const input = object(
  {
    t: name('input'),
    call,
    at: time,
    requests: { ...forms, description: 'What the server asks a person before it goes on' },
    requestState: { type: 'string', description: 'Goes back to the server as it is' },
  },
  ['requestState'],
);
const result = object(
  {
    t: name('result'),
    call,
    at: time,
    ms: number,
    isError: boolean,
    text: string,
    notice: { type: 'string', description: 'What is left out of the text, as the model reads it before the text' },
    ref: { type: 'string', description: 'The whole result is kept under it' },
    chars: count,
    images: { ...count, description: 'How many images of the whole result a model may see' },
    tokens: { ...count, description: 'What the calls of models of another block have used for it, which counts for `limits.tokens`' },
    by: { type: 'string', description: 'Who says so, where it was not the tool: person or probe' },
    open: { type: 'boolean', description: 'Whether the tool reads what anybody may have written' },
  },
  ['notice', 'ref', 'chars', 'images', 'tokens', 'by', 'open'],
);
const found = object({ t: name('found'), call, query: string, tools: { ...listOf(string), description: 'They are in the list of tools from here on' } });
const quotes = { type: 'boolean', description: 'Whether it may quote a server that reads what anybody may have written' } as const;
const refused = object({ t: name('refused'), call, code: oneOf(REFUSALS), note: string, open: quotes }, ['open']);
const unknown = object({ t: name('unknown'), call, why: string, open: quotes }, ['open']);
const end = object({ t: name('end'), at: time, status: oneOf(['done', 'failed', 'cancelled']), content: string, stopReason: string, code: string }, [
  'content',
  'stopReason',
  'code',
]);

/** One line of a journal. */
export const RunRecord = { anyOf: [run, resume, model, answer, ask, decision, begun, task, cancel, input, result, found, refused, unknown, end] } as const;
export type RunRecord = types.RunRecord;

/** A whole result that was too long for the model, or with an offset or a limit some of its text. */
export const RunResult = object(
  {
    isError: boolean,
    parts: listOf(ContentPart),
    chars: { ...count, description: 'With `offset` or `limit`: how many characters the whole text has' },
  },
  ['chars'],
);
export type RunResult = types.RunResult;

/** The journal of a message. */
export const RunJournal = object({ messageId: string, records: listOf(RunRecord) });
export type RunJournal = types.RunJournal;

/** An entry of chat.json. */
export const ChatEntry = {
  type: 'object',
  required: ['id', 'role', 'content', 'timestamp', 'processed', 'status', 'channel'],
  properties: {
    id: { type: 'string', minLength: 1, maxLength: 256, description: 'Id of the entry; ids sort by time of arrival' },
    role: oneOf(['user', 'assistant']),
    content: string,
    timestamp: time,
    processed: { type: 'boolean', description: 'False while a user message is waiting or being answered' },
    status: oneOf([...USER_STATUSES, 'interrupted']),
    channel: oneOf(ORIGINS),
    replyTo: { type: 'string', description: 'On an answer: id of the message that it answers' },
    replaces: {
      type: 'string',
      description: 'On a message that was asked again: id of the message whose place it takes. Once it is answered, models see it and no longer the other one',
    },
    asks: { ...AskedModel, description: "On a message: the model that is asked in place of the block's" },
    chain: {
      ...listOf(ChainLink),
      description:
        'On a message from a hook, from an agent over MCP, from another block, or from a program that asks the block as a model: how it came, and with which key',
    },
    window: { ...count, description: 'On a message: how many earlier exchanges the model sees with it; left out: all that fit' },
    clientId: { type: 'string', description: "The sender's own id. Sending the same id again does not create a second message" },
    attempts: count,
    nextAttemptAt: time,
    error: orNull(EntryError),
    provider: string,
    model: string,
    usage: orNull(Usage),
    costUsd: money,
    latencyMs: orNull(number),
    ttftMs: orNull(number),
    stopReason: oneOf(STOP_REASONS),
    steps: { ...listOf(EntryStep), description: 'On an answer: the calls of tools that it took' },
    taint: {
      ...listOf(Taint),
      description:
        'On an answer: what of somebody outside was read for it, or for what the model saw with it. On a message that is asked again: what has tainted it before. The first ten',
    },
    run: { ...count, description: 'How many times the message was begun with tools' },
    waitingFor: { ...listOf(string), description: 'On a message that waits for a person: ids of what is to be decided' },
    startedAt: orNull(time),
    finishedAt: orNull(time),
  },
} as const;
export type ChatEntry = types.ChatEntry;
