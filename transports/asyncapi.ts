// The published contract of the WebSocket: AsyncAPI 3.0, built from the schemas that check its frames. HTTP serves it. `npm run generate`
// writes it to spec/asyncapi.json, and `npm run verify` checks that the file is up to date. Pure: no I/O.
import { toJsonText } from '../core/base/json-text.ts';
import { schemas, VERSION } from '../core/index.ts';
import { WS_PATH } from './ws-path.ts';

const { frames } = schemas;

interface Message {
  readonly schema: object;
  readonly summary: string;
  readonly example: object;
}

const block = 'support';
const step = { type: 'stream', block, id: 'm0mwsgohuc000030c1625b' };

/** What clients send. */
const RECEIVED: Readonly<Record<string, Message>> = {
  subscribe: {
    schema: frames.SubscribeFrame,
    summary: 'Follow a block. The server answers at once with a refresh. Subscribing again replaces the options.',
    example: { type: 'subscribe', block, stream: true },
  },
  unsubscribe: { schema: frames.UnsubscribeFrame, summary: 'Stop following a block.', example: { type: 'unsubscribe', block } },
  subscribeFleet: {
    schema: frames.SubscribeFleetFrame,
    summary: 'Follow the list of blocks. The answer is what was missed since `since`, or a reset.',
    example: { type: 'subscribe', fleet: true },
  },
  unsubscribeFleet: { schema: frames.UnsubscribeFleetFrame, summary: 'Stop following the list.', example: { type: 'unsubscribe', fleet: true } },
  subscribeEvents: {
    schema: frames.SubscribeEventsFrame,
    summary: 'Follow the events of the server; with `since`, those that were missed come first.',
    example: { type: 'subscribe', events: true },
  },
  unsubscribeEvents: { schema: frames.UnsubscribeEventsFrame, summary: 'Stop following the events.', example: { type: 'unsubscribe', events: true } },
  ping: { schema: frames.PingFrame, summary: 'Check that the connection is alive. The server answers with a pong.', example: { type: 'ping' } },
};

/** What the server sends. */
const SENT: Readonly<Record<string, Message>> = {
  refresh: {
    schema: frames.RefreshFrame,
    summary: 'The block has changed: read it again. Sent 100 ms after the last change of a burst, and never later than 500 ms after the first.',
    example: { type: 'refresh', block },
  },
  fleet: {
    schema: frames.FleetFrame,
    summary: 'What has changed in the list of blocks. Sent at most twice a second, with at most 200 entries.',
    example: { type: 'fleet', seq: 17, reset: false, changed: [], gone: ['old-block'] },
  },
  event: {
    schema: frames.EventFrame,
    summary: 'Something has happened in the server.',
    example: { type: 'event', seq: 18, at: '2026-11-23T08:00:00.000Z', name: 'block.created', data: { block } },
  },
  log: {
    schema: frames.LogFrame,
    summary: "Lines of the block's log, with `logs`. A client that reads slowly misses some: an offset beyond the end of the lines before says so.",
    example: {
      type: 'log',
      block,
      file: '2026-11-23T08-00-00Z-monitor.log',
      offset: 412,
      text: '2026-11-23T08:01:02.003Z INFO message.done id=m0mwsgohuc000030c1625b\n',
    },
  },
  gone: { schema: frames.GoneFrame, summary: 'The block was archived or renamed, which ends the subscription.', example: { type: 'gone', block } },
  streamStart: {
    schema: frames.StreamStartFrame,
    summary: 'A reply starts. Discard the text of an earlier attempt.',
    example: { ...step, seq: 1, event: 'start', provider: 'my-provider', model: 'my-model', attempt: 1 },
  },
  streamContent: { schema: frames.StreamContentFrame, summary: 'The next piece of a reply.', example: { ...step, seq: 2, event: 'content', text: 'I am' } },
  streamDone: {
    schema: frames.StreamDoneFrame,
    summary: 'A reply is complete or was interrupted.',
    example: { ...step, seq: 3, event: 'done', answerId: 'm0mwsgoi17000069665459', status: 'done', stopReason: 'end_turn' },
  },
  streamError: {
    schema: frames.StreamErrorFrame,
    summary: 'The attempt failed. Discard its text.',
    example: { ...step, seq: 3, event: 'error', code: 'UPSTREAM_TIMEOUT', error: 'The provider sent nothing for 120 s.', willRetry: true },
  },
  runStep: {
    schema: frames.RunStepFrame,
    summary: 'With `steps`: the run of a message has come to this step.',
    example: { ...step, type: 'run', event: 'step', n: 3 },
  },
  runTool: {
    schema: frames.RunToolFrame,
    summary: 'With `steps`: a call of a tool is about to be sent, or has its outcome.',
    example: { ...step, type: 'run', event: 'tool', call: '3.1', tool: 'github/create_issue', state: 'done', isError: false, ms: 412 },
  },
  runProgress: {
    schema: frames.RunProgressFrame,
    summary: 'With `steps`: a call of a tool goes on.',
    example: {
      ...step,
      ...{ type: 'run', event: 'progress', call: '3.1', tool: 'files/index', state: 'working' },
      ...{ task: true, progress: 3, total: 10, message: 'Reading' },
    },
  },
  approval: {
    schema: frames.ApprovalFrame,
    summary: 'With `steps`: a call waits for a person, or does not wait any more.',
    example: { type: 'approval', id: 'a3f9c2b1d0e4a7586', block, state: 'pending' },
  },
  pong: { schema: frames.PongFrame, summary: 'The answer to a ping.', example: { type: 'pong' } },
  error: {
    schema: frames.WsErrorFrame,
    summary: 'A message was refused. The connection stays open.',
    example: {
      type: 'error',
      code: 'BLOCK_NOT_FOUND',
      error: 'There is no block "grace"; `blockhouse ls` lists them, and `blockhouse new grace` makes one.',
      block: 'grace',
    },
  },
};

const MESSAGES = { ...RECEIVED, ...SENT };

const mapOf = <T>(build: (name: string, message: Message) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(MESSAGES).map(([name, message]) => [name, build(name, message)]));
const inChannel = (name: string) => ({ $ref: `#/channels/changes/messages/${name}` });
const fields = (...names: string[]) => ({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) });
const schemaName = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}`;

/** The AsyncAPI document; a new object at each call. */
export function asyncApiDocument(): Record<string, unknown> {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Blockhouse',
      version: VERSION,
      description: 'Notices of changes to blocks, and replies while they are being written. The REST interface is in openapi.json.',
      contact: { name: 'The maintainers of Blockhouse' },
      license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
      tags: [{ name: 'Blocks', description: 'Named agents that answer messages.' }],
    },
    defaultContentType: 'application/json',
    servers: {
      local: {
        host: '127.0.0.1:8420',
        protocol: 'ws',
        description: 'The default address',
        security: [
          { $ref: '#/components/securitySchemes/bearer' },
          { $ref: '#/components/securitySchemes/token' },
          { $ref: '#/components/securitySchemes/ticket' },
        ],
      },
    },
    channels: {
      changes: {
        address: WS_PATH,
        title: 'Changes',
        description:
          'Each text frame is one JSON object. A refused handshake has a status and an error body as in the REST interface. Close codes: 1001 the server is shutting down, 1003 binary frame, 1007 text that is not UTF-8, 1008 too many messages, the token was replaced or the session has ended, 1009 message over 16 KiB.',
        messages: mapOf((name) => ({ $ref: `#/components/messages/${name}` })),
        bindings: { ws: { method: 'GET', headers: fields('authorization'), query: fields('token', 'ticket'), bindingVersion: '0.1.0' } },
      },
    },
    operations: {
      fromClient: {
        action: 'receive',
        channel: { $ref: '#/channels/changes' },
        summary: 'What clients send',
        description: 'One connection can follow up to 100 blocks.',
        messages: Object.keys(RECEIVED).map(inChannel),
      },
      toClient: {
        action: 'send',
        channel: { $ref: '#/channels/changes' },
        summary: 'What the server sends',
        description: 'Notices of changed blocks, and with `stream` the steps of their replies; the fields `type` and `event` tell them apart.',
        messages: Object.keys(SENT).map(inChannel),
      },
    },
    components: {
      messages: mapOf((name, { summary, example }) => ({
        name,
        summary,
        payload: { $ref: `#/components/schemas/${schemaName(name)}` },
        examples: [{ name, payload: example }],
      })),
      schemas: Object.fromEntries(Object.entries(MESSAGES).map(([name, { schema }]) => [schemaName(name), schema])),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The token of the workspace; `blockhouse token` prints it.' },
        token: { type: 'httpApiKey', name: 'token', in: 'query', description: 'The same token, for pages; a `bearer` is used instead if a request has both.' },
        ticket: { type: 'httpApiKey', name: 'ticket', in: 'query', description: 'From `POST /api/session/ticket`; opens one WebSocket within 30 s.' },
      },
    },
  };
}

let text: string | undefined;

/** The document as JSON text, built once. */
export function asyncApiText(): string {
  text ??= toJsonText(asyncApiDocument());
  return text;
}
