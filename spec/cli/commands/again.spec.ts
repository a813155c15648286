import t from 'tap';
import { DAEMON_END, daemonLine } from '../../support/server.ts';
import type { Answerer } from '../../support/upstream.ts';
import { openDesk } from '../run.ts';

t.test('the last message is asked again, as it is, with another text, and with another model', async (t) => {
  const answer: Answerer = ({ body }, res) => {
    const { model, messages } = JSON.parse(String(body)) as { model: string; messages: { content: string }[] };
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.end(daemonLine(`${model} heard ${messages.length}: ${messages.at(-1)?.content}`) + DAEMON_END);
  };
  const { on } = await openDesk(t, answer);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  t.match(await on(['again', 'one']), { code: 2, stderr: /has no message/ });
  await on(['send', 'one', '--wait', 'hi']);
  t.match(await on(['again', 'one']), { code: 0, stdout: 'm heard 1: hi\n', stderr: '' });
  t.match(await on(['again', 'one', '-', '--no-stream'], { input: 'hello' }), { code: 0, stdout: 'm heard 1: hello\n' });
  t.match(await on(['again', 'one', '--model', 'ollama/other']), { code: 0, stdout: 'other heard 1: hello\n' });
  const { message } = JSON.parse((await on(['again', 'one', '--json'])).stdout) as { message: { id: string; channel: string } };
  t.match(message, { channel: 'cli', status: 'done', content: 'hello' });
  t.match(await on(['again', 'one', '--provider', 'ollama']), { code: 2, stderr: /needs --model/ });
  t.match(await on(['again', 'one', '--model', 'm', '--provider', 'nobody']), { code: 2, stderr: /provider/ });
  const { messages } = JSON.parse((await on(['history', 'one', '--json'])).stdout) as { messages: object[] };
  t.equal(messages.length, 10, 'all versions stay');
});
