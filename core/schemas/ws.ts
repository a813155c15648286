// The frames of the WebSocket. Frames of clients are checked with these schemas; frames of the server have the form that they describe.
// Pure: no I/O.
import type { XStatic } from 'typebox/schema';
import { ERROR_TABLE, type ErrorCode } from '../errors.ts';

/** A longer text can't be the name of a block, and is not repeated in an answer. */
const block = { type: 'string', maxLength: 256, description: 'Name of the block' } as const;
const string = { type: 'string' } as const;
const seq = { type: 'integer', minimum: 0, description: 'Only ever counts up; subscribe with the last one seen to get what came after it' } as const;
const name = <const T extends string>(value: T) => ({ type: 'string', const: value }) as const;

/** From the client: follow a block. */
export const SubscribeFrame = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'block'],
  properties: {
    type: name('subscribe'),
    block,
    stream: { type: 'boolean', description: 'Also send replies while they are written; default false' },
    sinceSeq: { ...seq, description: 'With stream: the last seq seen of a reply that is still being written' },
  },
} as const;
/** A value that `SubscribeFrame` accepts. */
export type SubscribeFrame = XStatic<typeof SubscribeFrame>;

/** From the client: stop following a block. */
export const UnsubscribeFrame = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'block'],
  properties: { type: name('unsubscribe'), block },
} as const;
/** A value that `UnsubscribeFrame` accepts. */
export type UnsubscribeFrame = XStatic<typeof UnsubscribeFrame>;

/** From the client: asks for a `pong`. */
export const PingFrame = { type: 'object', additionalProperties: false, required: ['type'], properties: { type: name('ping') } } as const;
/** A value that `PingFrame` accepts. */
export type PingFrame = XStatic<typeof PingFrame>;

/** From the server: a file of the block has changed; read it again. */
export const RefreshFrame = { type: 'object', required: ['type', 'block'], properties: { type: name('refresh'), block } } as const;
/** A value that `RefreshFrame` accepts. */
export type RefreshFrame = XStatic<typeof RefreshFrame>;

/** From the server: the block is gone (archived); the subscription has ended. */
export const GoneFrame = { type: 'object', required: ['type', 'block'], properties: { type: name('gone'), block } } as const;
/** A value that `GoneFrame` accepts. */
export type GoneFrame = XStatic<typeof GoneFrame>;

/** From the server: the answer to `ping`. */
export const PongFrame = { type: 'object', required: ['type'], properties: { type: name('pong') } } as const;
/** A value that `PongFrame` accepts. */
export type PongFrame = XStatic<typeof PongFrame>;

/** From the server: a frame of the client was refused. */
export const WsErrorFrame = {
  type: 'object',
  required: ['type', 'code', 'error'],
  properties: {
    type: name('error'),
    code: { type: 'string', enum: Object.keys(ERROR_TABLE) },
    error: { type: 'string', description: 'For people: what is wrong and what cures it' },
    block: { ...block, description: 'Where the message named one' },
  },
} as const;
/** A refused frame, with the code of the error table. */
export interface WsErrorFrame {
  readonly type: 'error';
  readonly code: ErrorCode;
  readonly error: string;
  readonly block?: string;
}

const step = { type: name('stream'), block, id: { type: 'string', description: 'Of the message that is answered' }, seq } as const;
const STEP = ['type', 'block', 'id', 'seq', 'event'] as const;

/** An attempt at a reply has begun. */
export const StreamStartFrame = {
  type: 'object',
  required: [...STEP, 'provider', 'model', 'attempt'],
  properties: { ...step, event: name('start'), provider: string, model: string, attempt: { type: 'integer', minimum: 1 } },
} as const;
/** The next piece of a reply. */
export const StreamContentFrame = {
  type: 'object',
  required: [...STEP, 'text'],
  properties: { ...step, event: name('content'), text: { type: 'string', description: 'The next piece of the answer' } },
} as const;
/** A reply has ended and is in chat.json. */
export const StreamDoneFrame = {
  type: 'object',
  required: [...STEP, 'answerId', 'status', 'stopReason'],
  properties: {
    ...step,
    event: name('done'),
    answerId: string,
    status: { type: 'string', enum: ['done', 'interrupted'], description: 'interrupted: the text so far was kept as the answer' },
    stopReason: string,
  },
} as const;
/** An attempt has failed; discard the text that it sent. */
export const StreamErrorFrame = {
  type: 'object',
  required: [...STEP, 'code', 'error', 'willRetry'],
  properties: {
    ...step,
    event: name('error'),
    code: string,
    error: string,
    willRetry: { type: 'boolean', description: 'Another start follows later' },
  },
} as const;

/** One step of a reply while it is written. After an `error`, discard the text of that attempt. */
export const StreamFrame = { anyOf: [StreamStartFrame, StreamContentFrame, StreamDoneFrame, StreamErrorFrame] } as const;
/** A value that `StreamFrame` accepts. */
export type StreamFrame = XStatic<typeof StreamFrame>;
