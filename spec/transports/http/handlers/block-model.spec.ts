import t from 'tap';
import { createBlock } from '../../../support/block-calls.ts';
import { startServer } from '../../../support/server.ts';

const ask = (content: string, more: object = {}) => ({ model: 'block/ada', messages: [{ role: 'user', content }], ...more });

t.test('an answer names its message and its block, and carries the name that the client wrote', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'ada');
  await server.call('POST', '/api/blocks/ada/start');
  const whole = await server.call('POST', '/v1/chat/completions', { body: ask('hi', { temperature: 0.5 }) });
  t.match(whole, { status: 200, headers: { 'x-blockhouse-model': 'block/ada', 'x-blockhouse-message': /^m/, 'x-blockhouse-warnings': 'temperature' } });
  t.match(whole.json, { model: 'block/ada', choices: [{ message: { content: 'Hello, you' } }] });
});
