// Parses and serialises frames. Pure: no I/O.
import {
  BlockhouseError,
  compile,
  type GoneFrame,
  invalidRequest,
  isObject,
  PingFrame,
  type PongFrame,
  parseJson,
  type RefreshFrame,
  type ReplyStep,
  SubscribeFrame,
  UnsubscribeFrame,
  type WsErrorFrame,
} from '../../core/index.ts';

/** A message of a client. */
export type ClientFrame = SubscribeFrame | UnsubscribeFrame | PingFrame;
/** A message of the server. */
export type ServerFrame = RefreshFrame | GoneFrame | PongFrame | WsErrorFrame | ({ readonly type: 'stream'; readonly block: string } & ReplyStep);

const assertSubscribe: (value: unknown) => asserts value is SubscribeFrame = compile(SubscribeFrame);
const assertUnsubscribe: (value: unknown) => asserts value is UnsubscribeFrame = compile(UnsubscribeFrame);
const assertPing: (value: unknown) => asserts value is PingFrame = compile(PingFrame);

/** The checked message of a client. Throws INVALID_REQUEST, which names the wrong field. */
export function readFrame(text: string): ClientFrame {
  const value = parse(text);
  if (!isObject(value)) throw invalidRequest('', 'A message must be a JSON object, such as {"type":"subscribe","block":"my-block"}.');
  switch (value['type']) {
    case 'subscribe':
      assertSubscribe(value);
      if (value.sinceSeq !== undefined && value.stream !== true) throw invalidRequest('sinceSeq', 'is allowed only with stream: true.');
      return value;
    case 'unsubscribe':
      assertUnsubscribe(value);
      return value;
    case 'ping':
      assertPing(value);
      return value;
    default:
      throw invalidRequest('type', 'must be one of subscribe, unsubscribe, ping.');
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const where = /position \d+/.exec((error as Error).message)?.[0];
    throw new BlockhouseError('INVALID_REQUEST', `The message is not valid JSON${where === undefined ? '' : ` (at ${where})`}.`, { cause: error });
  }
}

/** The JSON text of a message of the server. */
export function writeFrame(frame: ServerFrame): string {
  return JSON.stringify(frame);
}
