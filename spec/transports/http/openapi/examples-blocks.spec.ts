import t from 'tap';
import { BLOCK_EXAMPLES as examples } from '../../../../transports/http/openapi/examples-blocks.ts';
import { createBlock } from '../../../support/block-calls.ts';
import { heldDaemon } from '../../../support/held-daemon.ts';
import { startServer, until } from '../../../support/server.ts';

type Name = keyof typeof examples;

t.test('the server takes the examples of requests, and answers with the fields of the examples of answers', async (t) => {
  const server = await startServer(t);
  const steps: [method: string, path: string, answer: Name, request?: Name][] = [
    ['POST', '/api/blocks', 'CreatedBlock', 'NewBlock'],
    ['GET', '/api/blocks', 'Blocks'],
    ['GET', '/api/blocks/ada', 'Block'],
    ['GET', '/api/blocks/ada/config', 'Config'],
    ['PUT', '/api/blocks/ada/config', 'ChangedConfig', 'NewPrompt'],
    ['POST', '/api/blocks/ada/start', 'Started'],
    ['GET', '/api/blocks/ada/why', 'WhyIdle'],
    ['POST', '/api/blocks/ada/chat', 'QueuedMessage', 'NewMessage'],
    ['GET', '/api/blocks/ada/chat', 'Conversation'],
    ['POST', '/api/blocks/ada/memory/facts', 'AddedFact', 'NewFact'],
    ['POST', '/api/blocks/ada/stop', 'Stopped'],
    ['POST', '/api/blocks/ada/reset', 'Reset'],
    ['GET', '/api/blocks/ada/logs', 'Logs'],
    ['GET', '/api/costs', 'Costs'],
    ['GET', '/api/doctor', 'Healthy'],
    ['POST', '/api/halt', 'Halted', 'Halt'],
    ['DELETE', '/api/halt', 'NotHalted'],
    ['POST', '/api/blocks/ada/rename', 'Renamed', 'NewName'],
    ['DELETE', '/api/blocks/grace', 'Archived'],
    ['GET', '/api/archive', 'Archive'],
    ['POST', '/api/archive/grace/restore', 'Restored', 'OtherName'],
  ];
  for (const [method, path, answer, request] of steps) {
    const { status, json } = await server.call(method, path, request === undefined ? {} : { body: examples[request].value });
    t.equal(status, 200, `${method} ${path}`);
    const { value } = examples[answer];
    t.strictSame(Object.keys(json), Object.keys(value), `${method} ${path}`);
    const says = (body: object): unknown => ('message' in body ? body.message : 'note' in body ? body.note : undefined);
    if (answer !== 'Archived') t.equal(says(json), says(value), `${method} ${path}`); // its text has the time
  }
});

t.test('the example of an explanation has the words of an idle block', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'ada');
  await server.call('POST', '/api/blocks/ada/start');
  await until(async () => (await server.call('GET', '/api/blocks/ada/why')).json['state'] === 'idle', 'it to be idle');
  const { why, next } = examples.WhyIdle.value;
  t.match((await server.call('GET', '/api/blocks/ada/why')).json, { why, next });
});

t.test('the examples of waits have the words of a late reply and of one in time', async (t) => {
  const daemon = heldDaemon();
  const server = await startServer(t, { answer: daemon.answer });
  await createBlock(server, 'ada');
  await server.call('POST', '/api/blocks/ada/start');
  const send = (wait: number) => server.call('POST', `/api/blocks/ada/chat?wait=${wait}`, { body: examples.NewMessage.value });
  t.match(await send(0), { status: 202, json: { note: examples.MessageWithoutAnswer.value.note } });
  const answered = send(60);
  (await daemon.call(0)).answer('I am Ada.');
  const { status, json } = await answered;
  t.equal(status, 200);
  t.strictSame(Object.keys(json), Object.keys(examples.AnsweredMessage.value));
  t.equal(json['note'], examples.AnsweredMessage.value.note);
});

t.test('the answer of the example belongs to its message', async (t) => {
  const [message, answer] = examples.Conversation.value.messages;
  t.equal(answer.replyTo, message.id);
  t.equal(examples.QueuedMessage.value.id, message.id);
});
