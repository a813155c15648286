// A message of the server over the WebSocket. Types only.

/** A frame of the server. */
export interface Frame {
  readonly type: string;
  readonly [field: string]: unknown;
}
