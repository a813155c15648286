// Tagged unions that only the published contract has: the messages of a chat request by role, and the events of a chat stream by name.
// They are made of the schemas that validate. Pure: no I/O.
import { schemas } from '../../../core/index.ts';

const REF = '#/components/schemas/';

/** One of several schemas of the document; the field `tag` says which. */
const oneOfTagged = (tag: string, byValue: Readonly<Record<string, string>>, description: string) => ({
  description,
  oneOf: Object.values(byValue).map((name) => ({ $ref: REF + name })),
  discriminator: { propertyName: tag, mapping: Object.fromEntries(Object.entries(byValue).map(([value, name]) => [value, REF + name])) },
});

/** The message of a role, with the fields that this role has. */
function messageOf(role: keyof typeof schemas.MESSAGE_FIELDS): object {
  const { required, optional } = schemas.MESSAGE_FIELDS[role];
  const fields = [...required, ...optional].map((field) => [field, schemas.Message.properties[field]] as const);
  const properties = { role: { type: 'string', const: role }, ...Object.fromEntries(fields) };
  return { type: 'object', additionalProperties: false, required: ['role', ...required], properties };
}

/** An event of the stream: its name and its data. */
const eventOf = (name: string, data: object, description: string) => ({
  type: 'object',
  description,
  required: ['event', 'data'],
  properties: { event: { type: 'string', const: name }, data },
});

const REPLY_ID = { type: 'string', description: 'Of the message that is answered' };
const EVENT =
  'One server-sent event: its name in the line `event:`, and the JSON in its line `data:`. The body is a sequence of them, with a blank line after each.';

/** What `start` and `done` say besides in the reply of a block. */
const ReplyStart = {
  ...schemas.ChatStart,
  required: [...schemas.ChatStart.required, 'id', 'attempt'],
  properties: { ...schemas.ChatStart.properties, id: REPLY_ID, attempt: { type: 'integer', minimum: 1 } },
};
const ReplyDone = {
  ...schemas.ChatDone,
  required: [...schemas.ChatDone.required, 'answerId'],
  properties: { ...schemas.ChatDone.properties, answerId: { type: 'string', description: 'Of the answer in the chat history' } },
};

/** The frames of a run, as the WebSocket has them; the name of the event is their `type`. */
const dataOf = <const P extends object, R extends readonly string[]>({
  type,
  required,
  properties,
}: {
  readonly type: string;
  readonly required: R;
  readonly properties: P;
}) => ({
  type,
  required: required.filter((name) => name !== 'type'),
  properties: Object.fromEntries(Object.entries(properties).filter(([name]) => name !== 'type')),
});
const { RunStepFrame, RunToolFrame, RunProgressFrame, ApprovalFrame } = schemas.frames;

/** The unions and their alternatives, by the name that each has in the document. */
export const UNIONS = {
  ChatMessage: oneOfTagged(
    'role',
    { system: 'SystemMessage', user: 'UserMessage', assistant: 'AssistantMessage', tool: 'ToolMessage' },
    'One message of a conversation',
  ),
  SystemMessage: messageOf('system'),
  UserMessage: messageOf('user'),
  AssistantMessage: messageOf('assistant'),
  ToolMessage: messageOf('tool'),
  ChatEvent: oneOfTagged(
    'event',
    {
      start: 'ChatStartEvent',
      content: 'ChatContentEvent',
      reasoning: 'ChatReasoningEvent',
      toolCallStart: 'ChatToolCallStartEvent',
      toolCallDelta: 'ChatToolCallDeltaEvent',
      done: 'ChatDoneEvent',
      error: 'ChatErrorEvent',
    },
    EVENT,
  ),
  ReplyEvent: oneOfTagged(
    'event',
    {
      start: 'ReplyStartEvent',
      content: 'ChatContentEvent',
      run: 'ReplyRunEvent',
      approval: 'ReplyApprovalEvent',
      done: 'ReplyDoneEvent',
      error: 'ChatErrorEvent',
    },
    EVENT,
  ),
  ReplyStartEvent: eventOf('start', ReplyStart, 'An attempt at the reply begins; the text of earlier ones is void'),
  ReplyRunEvent: eventOf(
    'run',
    { oneOf: [dataOf(RunStepFrame), dataOf(RunToolFrame), dataOf(RunProgressFrame)] },
    'The run has come to a step, or a call of a tool is about to be sent, goes on or has its outcome; only with `steps=true`',
  ),
  ReplyApprovalEvent: eventOf('approval', dataOf(ApprovalFrame), 'A call waits for a person, or does not wait any more; only with `steps=true`'),
  ReplyDoneEvent: eventOf('done', ReplyDone, 'The last event of a whole answer'),
  ChatStartEvent: eventOf('start', schemas.ChatStart, 'The first event'),
  ChatContentEvent: eventOf('content', schemas.ChatContent, 'The next piece of the answer'),
  ChatReasoningEvent: eventOf('reasoning', schemas.ChatReasoning, 'The next piece of the reasoning; only with `stream: {"reasoning": true}`'),
  ChatToolCallStartEvent: eventOf('toolCallStart', schemas.ChatToolCallStart, 'A tool call begins; only with `stream: {"toolDeltas": true}`'),
  ChatToolCallDeltaEvent: eventOf(
    'toolCallDelta',
    schemas.ChatToolCallDelta,
    'The next piece of the arguments of a tool call; only with `stream: {"toolDeltas": true}`',
  ),
  ChatDoneEvent: eventOf('done', schemas.ChatDone, 'The last event of an answer that is complete'),
  ChatErrorEvent: eventOf('error', schemas.ErrorReport, 'The last event of an answer that failed'),
} as const;
