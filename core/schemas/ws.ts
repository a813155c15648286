// The frames of the WebSocket. What a client sends is checked with these schemas; what the server sends is written as they
// say. Pure: no I/O.
import type { XStatic } from 'typebox/schema';
import { ERROR_TABLE, type ErrorCode } from '../errors.ts';

/** A longer one can't be the name of a block, and is not repeated in an answer. */
const block = { type: 'string', maxLength: 256, description: 'Name of the block' } as const;
const string = { type: 'string' } as const;
const seq = { type: 'integer', minimum: 0, description: 'Only ever counts up; subscribe with the last one seen to get what came after it' } as const;
const name = <const T extends string>(value: T) => ({ type: 'string', const: value }) as const;

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
export type SubscribeFrame = XStatic<typeof SubscribeFrame>;

export const UnsubscribeFrame = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'block'],
  properties: { type: name('unsubscribe'), block },
} as const;
export type UnsubscribeFrame = XStatic<typeof UnsubscribeFrame>;

export const PingFrame = { type: 'object', additionalProperties: false, required: ['type'], properties: { type: name('ping') } } as const;
export type PingFrame = XStatic<typeof PingFrame>;

export const RefreshFrame = { type: 'object', required: ['type', 'block'], properties: { type: name('refresh'), block } } as const;
export type RefreshFrame = XStatic<typeof RefreshFrame>;

export const GoneFrame = { type: 'object', required: ['type', 'block'], properties: { type: name('gone'), block } } as const;
export type GoneFrame = XStatic<typeof GoneFrame>;

export const PongFrame = { type: 'object', required: ['type'], properties: { type: name('pong') } } as const;
export type PongFrame = XStatic<typeof PongFrame>;

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
export interface WsErrorFrame {
  readonly type: 'error';
  readonly code: ErrorCode;
  readonly error: string;
  readonly block?: string;
}

const step = { type: name('stream'), block, id: { type: 'string', description: 'Of the message that is answered' }, seq } as const;
const STEP = ['type', 'block', 'id', 'seq', 'event'] as const;

export const StreamStartFrame = {
  type: 'object',
  required: [...STEP, 'provider', 'model', 'attempt'],
  properties: { ...step, event: name('start'), provider: string, model: string, attempt: { type: 'integer', minimum: 1 } },
} as const;
export const StreamContentFrame = {
  type: 'object',
  required: [...STEP, 'text'],
  properties: { ...step, event: name('content'), text: { type: 'string', description: 'The next piece of the answer' } },
} as const;
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

/** One step of a reply that is being written. A failed attempt makes void what was shown of it. */
export const StreamFrame = { anyOf: [StreamStartFrame, StreamContentFrame, StreamDoneFrame, StreamErrorFrame] } as const;
export type StreamFrame = XStatic<typeof StreamFrame>;
