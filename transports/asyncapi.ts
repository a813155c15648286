// The published contract of the WebSocket: AsyncAPI 3.0, built from the schemas that check its frames. HTTP serves it. `npm run generate`
// writes it to spec/asyncapi.json, and `npm run verify` checks that the file is up to date. Pure: no I/O.
import {
  GoneFrame,
  PingFrame,
  PongFrame,
  RefreshFrame,
  StreamContentFrame,
  StreamDoneFrame,
  StreamErrorFrame,
  StreamStartFrame,
  SubscribeFrame,
  toJsonText,
  UnsubscribeFrame,
  VERSION,
  WsErrorFrame,
} from '../core/index.ts';
import { WS_PATH } from './ws-path.ts';

interface Message {
  readonly schema: object;
  readonly summary: string;
}

/** What clients send. */
const RECEIVED: Readonly<Record<string, Message>> = {
  subscribe: {
    schema: SubscribeFrame,
    summary: 'Follow a block. Answered by one refresh at once. Subscribing again replaces the options.',
  },
  unsubscribe: { schema: UnsubscribeFrame, summary: 'Stop following a block.' },
  ping: { schema: PingFrame, summary: 'Check that the connection is alive; answered by a pong.' },
};

/** What the server sends. */
const SENT: Readonly<Record<string, Message>> = {
  refresh: {
    schema: RefreshFrame,
    summary: 'The block has changed: read it again. Sent 100 ms after the last change of a burst, and never later than 500 ms after the first.',
  },
  gone: { schema: GoneFrame, summary: 'The block was archived; the subscription is over.' },
  streamStart: { schema: StreamStartFrame, summary: 'A reply begins. What was shown of an earlier attempt is void.' },
  streamContent: { schema: StreamContentFrame, summary: 'The next piece of a reply.' },
  streamDone: { schema: StreamDoneFrame, summary: 'A reply is complete, or was interrupted.' },
  streamError: { schema: StreamErrorFrame, summary: 'The attempt failed; what was shown of it is void.' },
  pong: { schema: PongFrame, summary: 'The answer to a ping.' },
  error: { schema: WsErrorFrame, summary: 'A message was refused. The connection goes on.' },
};

const MESSAGES = { ...RECEIVED, ...SENT };

const mapOf = <T>(build: (name: string, message: Message) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(MESSAGES).map(([name, message]) => [name, build(name, message)]));
const inChannel = (name: string) => ({ $ref: `#/channels/changes/messages/${name}` });
const schemaName = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}`;

/** The AsyncAPI document; a new object at each call. */
export function asyncApiDocument(): Record<string, unknown> {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Blockhouse',
      version: VERSION,
      description: 'Change notices of blocks, and their replies while they are written. The REST interface is in openapi.json.',
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: {
      local: {
        host: '127.0.0.1:8420',
        protocol: 'ws',
        description: 'The default address',
        security: [{ $ref: '#/components/securitySchemes/token' }],
      },
    },
    channels: {
      changes: {
        address: WS_PATH,
        title: 'Changes',
        description:
          'One JSON object in each text frame. A refused handshake has the status and the error body of the REST interface. Close codes: 1001 the server shuts down, 1003 a binary frame, 1007 text that is not UTF-8, 1008 too many messages or a token that was replaced, 1009 a message over 16 KiB.',
        messages: mapOf((name) => ({ $ref: `#/components/messages/${name}` })),
        bindings: { ws: { method: 'GET', query: { type: 'object', required: ['token'], properties: { token: { type: 'string' } } }, bindingVersion: '0.1.0' } },
      },
    },
    operations: {
      fromClient: { action: 'receive', channel: { $ref: '#/channels/changes' }, summary: 'What clients send', messages: Object.keys(RECEIVED).map(inChannel) },
      toClient: { action: 'send', channel: { $ref: '#/channels/changes' }, summary: 'What the server sends', messages: Object.keys(SENT).map(inChannel) },
    },
    components: {
      messages: mapOf((name, { summary }) => ({ name, summary, payload: { $ref: `#/components/schemas/${schemaName(name)}` } })),
      schemas: Object.fromEntries(Object.entries(MESSAGES).map(([name, { schema }]) => [schemaName(name), schema])),
      securitySchemes: { token: { type: 'httpApiKey', name: 'token', in: 'query', description: 'The token of the workspace; `blockhouse token` prints it.' } },
    },
  };
}

let text: string | undefined;

/** The document as JSON text, built once. */
export function asyncApiText(): string {
  text ??= toJsonText(asyncApiDocument());
  return text;
}
