// The frames of the WebSocket. Frames of clients are checked with these schemas; frames of the server have the form that they describe.
// Pure: no I/O.
import { ERROR_TABLE, type ErrorCode } from '../errors.ts';
import type * as types from '../types.ts';
import { BlockEntry } from './block-api.ts';
import { APPROVAL_STATES } from './chat-entry.ts';
import { closedObject, listOf, object, oneOf, string } from './fields.ts';

/** A longer text can't be the name of a block, and is not repeated in an answer. */
const block = { type: 'string', maxLength: 256, description: 'Name of the block' } as const;
const seq = {
  type: 'integer',
  minimum: 0,
  description: 'A number that only grows. Subscribe with the last one that you saw to get what came after it',
} as const;
const name = <const T extends string>(value: T) => ({ type: 'string', const: value }) as const;

/** From the client: follow a block. */
export const SubscribeFrame = closedObject(
  {
    type: name('subscribe'),
    block,
    stream: { type: 'boolean', description: 'True to also get replies while they are being written; default false' },
    sinceSeq: { ...seq, description: 'With stream: the last seq that you saw of a reply that is still being written' },
    steps: { type: 'boolean', description: 'True to also get the calls of tools, and those that wait for people; default false' },
    logs: { type: 'boolean', description: "True to also get the lines of the block's log as they are written; default false" },
  },
  ['stream', 'sinceSeq', 'logs', 'steps'],
);
export type SubscribeFrame = types.SubscribeFrame;

const since = {
  ...seq,
  description: 'The last seq that you saw; without it, the answer to `fleet` is a reset, and `events` begins with the next event',
} as const;
const yes = { type: 'boolean', const: true } as const;

/** From the client: follow the list of blocks, or the events of the server. Each counts as one subscription. */
export const SubscribeFleetFrame = closedObject({ type: name('subscribe'), fleet: yes, since }, ['since']);
export type SubscribeFleetFrame = types.SubscribeFleetFrame;
export const SubscribeEventsFrame = closedObject({ type: name('subscribe'), events: yes, since }, ['since']);
export type SubscribeEventsFrame = types.SubscribeEventsFrame;
export const UnsubscribeFleetFrame = closedObject({ type: name('unsubscribe'), fleet: yes });
export type UnsubscribeFleetFrame = types.UnsubscribeFleetFrame;
export const UnsubscribeEventsFrame = closedObject({ type: name('unsubscribe'), events: yes });
export type UnsubscribeEventsFrame = types.UnsubscribeEventsFrame;

/** From the client: stop following a block. */
export const UnsubscribeFrame = closedObject({ type: name('unsubscribe'), block });
export type UnsubscribeFrame = types.UnsubscribeFrame;

/** From the client: asks for a `pong`. */
export const PingFrame = closedObject({ type: name('ping') });
export type PingFrame = types.PingFrame;

/** From the server: a file of the block has changed; read it again. */
export const RefreshFrame = object({ type: name('refresh'), block });
export type RefreshFrame = types.RefreshFrame;

/** From the server: the block is gone (archived or renamed); the subscription has ended. */
export const GoneFrame = object({ type: name('gone'), block });
export type GoneFrame = types.GoneFrame;

/** From the server: what has changed in the list of blocks, at most twice a second and at most 200 entries in a frame. */
export const FleetFrame = object({
  type: name('fleet'),
  seq,
  reset: { type: 'boolean', description: 'True if changes were missed: read the list' },
  changed: { ...listOf(BlockEntry), description: 'Blocks that are new or other than before' },
  gone: { ...listOf(string), description: 'Names of blocks that were archived or renamed' },
});
export type FleetFrame = types.FleetFrame;

/** From the server: something has happened; docs/events.md lists the events. With `missed`, that many were lost. */
export const EventFrame = object(
  {
    type: name('event'),
    seq,
    at: { type: 'string', description: 'ISO 8601, UTC, with milliseconds' },
    name: string,
    data: { type: 'object', description: 'The fields of the event' },
    missed: { type: 'integer', minimum: 1 },
  },
  ['seq', 'at', 'name', 'data', 'missed'],
);
export type EventFrame = types.EventFrame;

/** From the server: lines of the block's log. A client that reads slowly misses some: a larger offset than expected says so, also without text. */
export const LogFrame = object({
  type: name('log'),
  block,
  file: { type: 'string', description: 'Name of the log file' },
  offset: { type: 'integer', minimum: 0, description: 'Where the text begins in the file, in bytes' },
  text: { type: 'string', description: 'Whole lines; empty if they were left out' },
});
export type LogFrame = types.LogFrame;

const ofRun = { type: name('run'), block, id: { type: 'string', description: 'Id of the message that is being answered' } } as const;

/** From the server: the run of a message has come to this step. */
export const RunStepFrame = object({ ...ofRun, event: name('step'), n: { type: 'integer', minimum: 1 } });
export type RunStepFrame = types.RunStepFrame;

/** From the server: a call of a tool is about to be sent, or has its outcome. */
export const RunToolFrame = object(
  {
    ...ofRun,
    event: name('tool'),
    call: { type: 'string', description: 'The step, and the number of the call in it: 3.1' },
    tool: string,
    state: { type: 'string', description: 'called, done, unknown, or why it was refused' },
    isError: { type: 'boolean' },
    ms: { type: 'number' },
  },
  ['isError', 'ms'],
);
export type RunToolFrame = types.RunToolFrame;

/** From the server: a call of a tool goes on. */
export const RunProgressFrame = object(
  {
    ...ofRun,
    event: name('progress'),
    call: { type: 'string', description: 'The step, and the number of the call in it: 3.1' },
    tool: string,
    state: { ...oneOf(['working', 'cancelling']), description: 'cancelling: nobody waits for the task any more, and its server is asked to cancel it' },
    task: { type: 'boolean', description: 'Its server goes on with it as a task' },
    progress: { type: 'number', description: 'How far it is, as its server counts' },
    total: { type: 'number', description: 'How far it goes' },
    message: { type: 'string', description: 'What its server says: one line' },
  },
  ['progress', 'total', 'message'],
);
export type RunProgressFrame = types.RunProgressFrame;

/** From the server: a call waits for a person, or does not wait any more. */
export const ApprovalFrame = object({
  type: name('approval'),
  id: { type: 'string', description: 'Id of the approval' },
  block,
  state: oneOf(APPROVAL_STATES),
});
export type ApprovalFrame = types.ApprovalFrame;

/** From the server: the answer to `ping`. */
export const PongFrame = object({ type: name('pong') });
export type PongFrame = types.PongFrame;

/** From the server: a frame of the client was refused. */
export const WsErrorFrame = object(
  {
    type: name('error'),
    code: oneOf(Object.keys(ERROR_TABLE)),
    error: { type: 'string', description: 'What is wrong and how to fix it, for people' },
    block: { ...block, description: 'Name of the block, if the message had one' },
  },
  ['block'],
);
/** A refused frame, with the code of the error table. */
export interface WsErrorFrame {
  readonly type: 'error';
  readonly code: ErrorCode;
  readonly error: string;
  readonly block?: string;
}

const step = { type: name('stream'), block, id: { type: 'string', description: 'Id of the message that is being answered' }, seq } as const;

/** An attempt at a reply has begun. */
export const StreamStartFrame = object({ ...step, event: name('start'), provider: string, model: string, attempt: { type: 'integer', minimum: 1 } });
/** The next piece of a reply. */
export const StreamContentFrame = object({ ...step, event: name('content'), text: { type: 'string', description: 'The next piece of the answer' } });
/** A reply has ended and is in chat.json. */
export const StreamDoneFrame = object({
  ...step,
  event: name('done'),
  answerId: string,
  status: { ...oneOf(['done', 'interrupted']), description: 'interrupted if the reply was stopped; the text so far was kept as the answer' },
  stopReason: string,
});
/** An attempt has failed; discard the text that it sent. */
export const StreamErrorFrame = object({
  ...step,
  event: name('error'),
  code: string,
  error: string,
  willRetry: { type: 'boolean', description: 'True if another attempt follows' },
});

/** One step of a reply while it is written. After an `error`, discard the text of that attempt. */
export const StreamFrame = { anyOf: [StreamStartFrame, StreamContentFrame, StreamDoneFrame, StreamErrorFrame] } as const;
export type StreamFrame = types.StreamFrame;
