import t from 'tap';
import { GATEWAY_EXAMPLES } from '../../../../transports/http/openapi/examples-gateway.ts';
import { framesOf, startServer } from '../../../support/server.ts';

const { Question, StreamedQuestion, QuestionWithTools, ToolResults, Answer, StartEvent, ContentEvent, DoneEvent } = GATEWAY_EXAMPLES;

t.test('the server takes each example of a chat request', async (t) => {
  const server = await startServer(t);
  for (const { summary, value } of [Question, StreamedQuestion, QuestionWithTools, ToolResults])
    t.match(await server.call('POST', '/v1/chat', { body: value }), { status: 200 }, summary);
});

t.test('real answers have the fields of the examples, whole and streamed', async (t) => {
  const server = await startServer(t);
  const { json } = await server.call('POST', '/v1/chat', { body: Question.value });
  t.strictSame(Object.keys(json), Object.keys(Answer.value));
  const events = framesOf((await server.call('POST', '/v1/chat', { body: StreamedQuestion.value })).text);
  const fieldsOf = ({ event, data }: { event: string; data: object }): [string, string[]] => [event, Object.keys(data)];
  const shown = [StartEvent, ContentEvent, ContentEvent, DoneEvent].map(({ value }) => fieldsOf(value));
  t.strictSame(events.map(fieldsOf), shown);
});
