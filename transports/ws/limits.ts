// Limits of one client, and of all clients together. Pure: no I/O.

/** Limits of the WebSocket transport: counts, bytes and milliseconds. */
export interface WsLimits {
  /** Open sockets of the server. A further handshake gets 503 TOO_MANY_CONNECTIONS. */
  readonly maxSockets: number;
  /** Subscriptions of one socket. */
  readonly maxSubscriptions: number;
  /** Messages of a client: this many at once, then `messagesPerSecond`. Beyond that the socket is closed with 1008. */
  readonly messageBurst: number;
  readonly messagesPerSecond: number;
  /** The same for messages that are refused. */
  readonly refusalBurst: number;
  readonly refusalsPerSecond: number;
  /** A notice leaves this long after the last change … */
  readonly quietMs: number;
  /** … and never later than this after the first. */
  readonly patienceMs: number;
  /** Bytes that are sent and not yet read, beyond which a client counts as slow and further frames wait. */
  readonly highWaterBytes: number;
  /** Bytes that may wait for a slow client before it is cut off … */
  readonly maxWaitingBytes: number;
  /** … and how long they may wait. */
  readonly stallMs: number;
  /** Time between two pings. A client that has not answered one when the next is due is cut off. */
  readonly heartbeatMs: number;
  /** How often the token file is checked while sockets are open: requests, which also check it, may be rare. */
  readonly tokenCheckMs: number;
  /** How long a client may take to answer the close frame. */
  readonly closeMs: number;
}

const KIB = 1024;

/** The limits of `blockhouse serve`. */
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

/** The longest message of a client. The longest useful one has about 400 bytes. */
export const MAX_MESSAGE_BYTES = 16 * KIB;
/** The most frames of one message. Each costs as much as a short message, and empty ones count as no bytes. */
export const MAX_MESSAGE_FRAMES = 64;
/** The most reads from the connection for one message. */
export const MAX_MESSAGE_PIECES = 1024;
