// The published contract of the WebSocket: AsyncAPI 3.0, built from the schemas that check its frames. `npm run generate` writes
// it to spec/asyncapi.json, and `npm run verify` checks that the file is up to date. Pure: no I/O.
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
  UnsubscribeFrame,
  VERSION,
  WsErrorFrame,
} from '../../core/index.ts';
import { WS_PATH } from '../ws-path.ts';

interface Message {
  readonly schema: object;
  readonly summary: string;
}

/** What clients send. */
const RECEIVED: Readonly<Record<string, Message>> = {
  subscribe: {
    schema: SubscribeFrame,
    summary: 'Follow a block. The server answers at once with a refresh. Subscribing again replaces the options.',
  },
  unsubscribe: { schema: UnsubscribeFrame, summary: 'Stop following a block.' },
  ping: { schema: PingFrame, summary: 'Check that the connection is alive. The server answers with a pong.' },
};

/** What the server sends. */
const SENT: Readonly<Record<string, Message>> = {
  refresh: {
    schema: RefreshFrame,
    summary: 'The block has changed: read it again. Sent 100 ms after the last change of a burst, and never later than 500 ms after the first.',
  },
  gone: { schema: GoneFrame, summary: 'The block was archived, which ends the subscription.' },
  streamStart: { schema: StreamStartFrame, summary: 'A reply starts. Discard the text of an earlier attempt.' },
  streamContent: { schema: StreamContentFrame, summary: 'The next piece of a reply.' },
  streamDone: { schema: StreamDoneFrame, summary: 'A reply is complete or was interrupted.' },
  streamError: { schema: StreamErrorFrame, summary: 'The attempt failed. Discard its text.' },
  pong: { schema: PongFrame, summary: 'The answer to a ping.' },
  error: { schema: WsErrorFrame, summary: 'A message was refused. The connection stays open.' },
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
      description: 'Notices of changes to blocks, and replies while they are being written. The REST interface is in openapi.json.',
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
          'Each text frame is one JSON object. A refused handshake has a status and an error body as in the REST interface. Close codes: 1001 the server is shutting down, 1003 binary frame, 1007 text that is not UTF-8, 1008 too many messages or the token was replaced, 1009 message over 16 KiB.',
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
