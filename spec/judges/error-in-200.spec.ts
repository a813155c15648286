// An error that comes with status 200, as several compatible services send it, is an error in every lane and protocol: with its status in the client's form,
// counted as a failure, and free where the model has not run. And the line ends of a provider's stream change neither its bytes nor its count.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { CLIENTS, startTranslating } from '../support/dialect-clients.ts';
import { type Answerer, sendJson, startUpstream } from '../support/upstream.ts';
import { answerWith, WIRES } from '../support/wire-server.ts';

const COMPATIBLE = WIRES.filter(({ name }) => ['openai-chat', 'openai-responses', 'anthropic', 'ollama'].includes(name));
const lanesOf = (wire: string, native: string) => (wire === native ? [false, true] : [false]);

/** An error under status 200, by how it is written. */
const WRITTEN: Readonly<Record<string, Answerer>> = {
  'a JSON body': (_request, res) => sendJson(res, { error: { message: 'Slow down', code: 429 } }),
  'a JSON body on several lines': (_request, res) => {
    res.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    res.end(JSON.stringify({ error: { message: 'Slow down', code: 429 } }, null, 2));
  },
};
/** As the first frame of a stream. */
const FRAMES: Readonly<Record<string, string>> = {
  'a frame': 'data: {"error":{"message":"Slow down","code":429}}\n\n',
  'a frame behind comments': ': PROCESSING\n\n: PROCESSING\r\n\r\ndata: {"error":{"message":"Slow down","code":429}}\n\n',
  'a named frame': 'event: error\ndata: {"error":{"message":"Slow down","code":429}}\n\n',
  'a bare object': '{"error":{"message":"Slow down","code":429}}\n\n',
  'a frame with CR': 'data: {"error":{"message":"Slow down","code":429}}\r\r',
};

for (const wire of COMPATIBLE) {
  for (const client of CLIENTS) {
    for (const isNative of lanesOf(wire.name, client.native)) {
      const at = `${client.id} before ${wire.name}${isNative ? ', native' : ''}`;
      t.test(`an error in a 200 has the status that it means, and costs nothing (${at})`, async (t) => {
        let answer: Answerer = answerWith(wire);
        const { call, core, model } = await startTranslating(t, wire, (...sent) => answer(...sent), isNative);
        const judge = async (title: string, stream: boolean) => {
          const got = await call('POST', client.path, {
            body: client.ask(model, { stream, ...(client.id === 'responses' && { input: [{ role: 'user', content: 'hi' }] }) }),
          });
          t.match(got, { status: 429, json: { error: { message: /Slow down/, type: 'rate_limit_error' } } }, `${title}${stream ? ', streamed' : ''}`);
        };
        for (const [title, written] of Object.entries(WRITTEN)) {
          answer = written;
          await judge(title, false);
          if (wire.name !== 'ollama' || !title.includes('lines')) await judge(title, true);
        }
        if (wire.name !== 'ollama') {
          for (const [title, frames] of Object.entries(FRAMES)) {
            answer = (_request, res) => {
              res.writeHead(200, { 'content-type': 'text/event-stream' });
              res.end(frames);
            };
            await judge(title, true);
          }
        }
        const rows = (await core.accounts?.costs('model'))?.rows ?? [];
        t.same(
          rows.filter(({ input, output }) => input + output > 0),
          [],
        );
      });
    }
  }
}

t.test('after an error in a 200 the next model of an alias answers, also where the client wants a stream in the native lane', async (t) => {
  const wire = WIRES.find(({ name }) => name === 'openai-chat');
  if (wire === undefined) return t.fail('no such wire');
  for (const frames of Object.values(FRAMES)) {
    const good = await startUpstream(t, (_request, res) => void res.end('{"message":{"content":"from the daemon"},"done":true,"done_reason":"stop"}\n'));
    const answer: Answerer = (_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(frames);
    };
    const ollama = WIRES.find(({ name }) => name === 'ollama');
    const first = wire.create();
    const second = ollama?.create() ?? first;
    const upstream = await startUpstream(t, answer);
    const server = await startTranslating(t, wire, answer, true, {
      adapters: [first, second],
      env: { ...wire.env(upstream.url), OLLAMA_BASE_URL: good.url },
    });
    writeFileSync(join(server.workspace, 'models.json'), JSON.stringify({ aliases: { both: [server.model, 'ollama/m'] } }));
    const got = await server.call('POST', '/v1/chat/completions', { body: { model: 'both', messages: [{ role: 'user', content: 'hi' }], stream: true } });
    t.match(got, { status: 200, text: /from the daemon/ }, frames);
  }
});

for (const client of CLIENTS) {
  const wire = WIRES.find(({ name }) => name === client.native);
  for (const [title, end] of Object.entries({ LF: () => '\n', CRLF: () => '\r\n', CR: () => '\r', mixed: (n: number) => ['\n', '\r\n', '\r'][n % 3] ?? '' })) {
    t.test(`the bytes of a stream with ${title} pass unchanged in the native lane, frame by frame, and its usage counts (${client.id})`, async (t) => {
      if (wire === undefined) return t.fail('no such wire');
      const meaning = { text: ['Hel', 'lo'], toolCalls: [], stop: 'end_turn' as const, usage: { input: 12, output: 5 } };
      const lines = Buffer.concat(wire.stream(meaning).frames).toString().split('\n');
      // A lone CR behind a CRLF, or in front of an LF, would be another line.
      const bytes = lines.map((line, n) => (n === lines.length - 1 ? line : line + end(line === '' ? n : 0))).join('');
      const { call, core, model } = await startTranslating(
        t,
        wire,
        (_request, res) => {
          res.writeHead(200, { 'content-type': 'text/event-stream' });
          res.end(bytes);
        },
        true,
      );
      const input = [{ role: 'user', content: 'hi' }];
      const more = client.id === 'responses' ? { input } : client.id === 'chat' ? { stream_options: { include_usage: true } } : {};
      const got = await call('POST', client.path, { body: client.ask(model, { stream: true, ...more }) });
      t.equal(got.text, bytes);
      t.match((await core.accounts?.costs('model'))?.rows, [{ calls: 1, input: 12, output: 5 }]);
    });
  }
}
