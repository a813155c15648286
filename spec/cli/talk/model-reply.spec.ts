import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { ModelReply } from '../../../cli/talk/model-reply.ts';
import { DAEMON_END, daemonLine, friendlyDaemon, startServer } from '../../support/server.ts';
import type { Answerer } from '../../support/upstream.ts';

const REQUEST = { adapter: 'ollama', model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };

async function open(t: Test, answer: Answerer, isVerbose = false) {
  const { core } = await startServer(t, { answer });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said: string[] = [];
  const reply = new ModelReply({ stdout, stderr, say: async (text) => void said.push(text), isWatched: false, isVerbose });
  return { core, reply, said, shown: () => String(stdout.read() ?? ''), signal: new AbortController().signal };
}

t.test('an answer is printed with one newline at its end, streamed or whole', async (t) => {
  const streamed = await open(t, friendlyDaemon);
  t.match(await streamed.reply.stream(streamed.core, REQUEST, streamed.signal), { stopReason: 'end_turn' });
  t.equal(streamed.shown(), 'Hello, you\n');
  const whole = await open(t, friendlyDaemon);
  t.match(await whole.reply.whole(whole.core, REQUEST, whole.signal), { message: { content: 'Hello, you' } });
  t.equal(whole.shown(), 'Hello, you\n');
  t.same([streamed.said, whole.said], [[], []]);
});

t.test('an unusual end is said, and with -v how fast the answer was', async (t) => {
  const { core, reply, said, signal } = await open(
    t,
    (_request, res) => {
      res.writeHead(200, { 'content-type': 'application/x-ndjson' });
      res.end(daemonLine('long') + DAEMON_END.replace('"stop"', '"length"'));
    },
    true,
  );
  await reply.stream(core, REQUEST, signal);
  t.match(said, ['note: the answer ended with max_tokens.', /^2 tokens in \d+\.\d s/]);
});

t.test('after a failure the text so far is known, and its line is ended', async (t) => {
  const { core, reply, shown, signal } = await open(t, (_request, res) => {
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    res.end(daemonLine('half'));
  });
  await t.rejects(reply.stream(core, REQUEST, signal), { code: 'UPSTREAM_MALFORMED' });
  t.equal(reply.text, 'half');
  t.equal(shown(), 'half\n');
});
