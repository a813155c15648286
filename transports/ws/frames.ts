// Parses and serialises frames. Pure: no I/O.
import { isObject, parseJson } from '../../core/base/json.ts';
import { faultPlace } from '../../core/base/json-place.ts';
import {
  type ApprovalFrame,
  BlockhouseError,
  compile,
  type EventFrame,
  type FleetFrame,
  type GoneFrame,
  invalidRequest,
  type LogFrame,
  type PingFrame,
  type PongFrame,
  type RefreshFrame,
  type ReplyStep,
  type RunProgressFrame,
  type RunStepFrame,
  type RunToolFrame,
  type SubscribeEventsFrame,
  type SubscribeFleetFrame,
  type SubscribeFrame,
  schemas,
  type UnsubscribeEventsFrame,
  type UnsubscribeFleetFrame,
  type UnsubscribeFrame,
} from '../../core/index.ts';

/** A message of a client. */
export type ClientFrame = SubscribeFrame | UnsubscribeFrame | WorkspaceFrame | PingFrame;
/** A message about the whole workspace. */
export type WorkspaceFrame = SubscribeFleetFrame | SubscribeEventsFrame | UnsubscribeFleetFrame | UnsubscribeEventsFrame;
/** A message of the server. */
export type ServerFrame =
  | RefreshFrame
  | GoneFrame
  | FleetFrame
  | EventFrame
  | LogFrame
  | PongFrame
  | RunStepFrame
  | RunToolFrame
  | RunProgressFrame
  | ApprovalFrame
  | schemas.frames.WsErrorFrame
  | ({ readonly type: 'stream'; readonly block: string } & ReplyStep);

const assertSubscribe: (value: unknown) => asserts value is SubscribeFrame = compile(schemas.frames.SubscribeFrame);
const assertUnsubscribe: (value: unknown) => asserts value is UnsubscribeFrame = compile(schemas.frames.UnsubscribeFrame);
const WORKSPACE = {
  subscribe: { fleet: compile(schemas.frames.SubscribeFleetFrame), events: compile(schemas.frames.SubscribeEventsFrame) },
  unsubscribe: { fleet: compile(schemas.frames.UnsubscribeFleetFrame), events: compile(schemas.frames.UnsubscribeEventsFrame) },
} as const;
const assertPing: (value: unknown) => asserts value is PingFrame = compile(schemas.frames.PingFrame);

/** The checked message of a client. Throws INVALID_REQUEST, which names the wrong field. */
export function readFrame(text: string): ClientFrame {
  const value = parse(text);
  if (!isObject(value)) throw invalidRequest('', 'A message must be a JSON object, such as {"type":"subscribe","block":"my-block"}.');
  const topic = topicOf(value);
  if (topic !== undefined && (value['type'] === 'subscribe' || value['type'] === 'unsubscribe')) {
    const assertFrame: (frame: unknown) => asserts frame is WorkspaceFrame = WORKSPACE[value['type']][topic];
    assertFrame(value);
    return value;
  }
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

/** What of the workspace a message is about; undefined for a block. */
export function topicOf(frame: object): 'fleet' | 'events' | undefined {
  return 'fleet' in frame ? 'fleet' : 'events' in frame ? 'events' : undefined;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new BlockhouseError('INVALID_REQUEST', `The message is not valid JSON (${faultPlace(text)}).`, { cause: error });
  }
}

/** The JSON text of a message of the server. */
export function writeFrame(frame: ServerFrame): string {
  return JSON.stringify(frame);
}
