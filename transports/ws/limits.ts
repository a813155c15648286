// How much one client, and all of them, may ask of the server. Pure: no I/O.

export interface WsLimits {
  readonly maxSockets: number;
  readonly maxSubscriptions: number;
  /** Messages of a client: so many at once, then so many a second. Beyond it the socket is closed with 1008. */
  readonly messageBurst: number;
  readonly messagesPerSecond: number;
  /** The same for messages that are refused. */
  readonly refusalBurst: number;
  readonly refusalsPerSecond: number;
  /** A notice leaves this long after the last change … */
  readonly quietMs: number;
  /** … and never later than this after the first. */
  readonly patienceMs: number;
  /** Bytes on their way to a client beyond which it counts as slow, and further frames wait. */
  readonly highWaterBytes: number;
  /** Bytes that may wait for a slow client before it is cut off … */
  readonly maxWaitingBytes: number;
  /** … and how long they may. */
  readonly stallMs: number;
  readonly heartbeatMs: number;
  /** How often the token file is looked at while sockets are open: requests that would do it may be rare. */
  readonly tokenCheckMs: number;
  /** How long a client may take to answer the end of its connection. */
  readonly closeMs: number;
}

const KIB = 1024;

export const DEFAULT_LIMITS: WsLimits = {
  maxSockets: 1000,
  maxSubscriptions: 100,
  messageBurst: 400,
  messagesPerSecond: 200,
  refusalBurst: 1000,
  refusalsPerSecond: 1,
  quietMs: 100,
  patienceMs: 500,
  highWaterBytes: 64 * KIB,
  maxWaitingBytes: 1024 * KIB,
  stallMs: 30_000,
  heartbeatMs: 30_000,
  tokenCheckMs: 1000,
  closeMs: 1000,
};

/** The longest message of a client; the longest that makes sense is some 400 bytes. */
export const MAX_MESSAGE_BYTES = 16 * KIB;
/** Pieces that one message may come in: frames, and reads from the connection. */
export const MAX_MESSAGE_PIECES = 1024;
