// Numbered cases about what passes untouched and what is named: bytes in the native lane, names of models, keys.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Wire } from '../conformance/wire.ts';
import { anthropic } from '../conformance/wires/anthropic.ts';
import { CLIENTS, dataOf, type Fields, startTranslating } from '../support/dialect-clients.ts';
import type { Answerer } from '../support/upstream.ts';
import { answerWith, PLAIN, WIRES } from '../support/wire-server.ts';

/** What a parser would write differently: blanks, numbers, escapes, the same name twice. */
const ODD = '"next_month" : {"n":1.0,"e":1e3,"s":"a\\/b"},"twice":1, "twice":2';

for (const client of CLIENTS) {
  const native = WIRES.find(({ name }) => name === client.native) as Wire;

  t.test(`case 37: the bytes of a request pass but for the model, and those of its answer as they are (${client.id} before ${native.name})`, async (t) => {
    const { type } = native.stream(PLAIN);
    const bytesOf = (stream: boolean): Buffer => (stream ? Buffer.concat(native.stream(PLAIN).frames) : native.whole(PLAIN).body);
    const answerAsAsked: Answerer = ({ body }, res) => {
      const { stream } = JSON.parse(body) as { stream: boolean };
      res.writeHead(200, { 'content-type': stream ? type : 'application/json' }).end(bytesOf(stream));
    };
    const { call, model, upstream } = await startTranslating(t, native, answerAsAsked, true);
    for (const stream of [false, true]) {
      const { model: name, ...rest } = client.ask(model, { stream, ...(client.id === 'chat' && { stream_options: { include_usage: true } }) });
      const body = `{ ${ODD} , "model" : ${JSON.stringify(name)},${JSON.stringify(rest).slice(1)}`;
      const answer = await call('POST', client.path, { body });
      t.equal(answer.text, bytesOf(stream).toString());
      t.equal(upstream.requests.at(-1)?.body, body.replace(model, native.model));
    }
  });

  t.test(`case 38: a name is an alias, a pattern, provider/model or a prefix, and the answer has it again; others are unknown (${client.id})`, async (t) => {
    const { call, workspace, upstream } = await startTranslating(t, anthropic, answerWith(anthropic));
    const aliases = { small: 'anthropic/claude-haiku-4-5', 'fam-*': 'anthropic/claude-opus-4-5' };
    writeFileSync(join(workspace, 'models.json'), JSON.stringify({ native: { anthropic: false }, aliases }));
    for (const [asked, meant] of [
      ['small', 'claude-haiku-4-5'],
      ['fam-9-large', 'claude-opus-4-5'],
      ['anthropic/hf.co/x/y', 'hf.co/x/y'],
      ['claude-of-next-year', 'claude-of-next-year'],
    ] as const) {
      const whole = await call('POST', client.path, { body: client.ask(asked) });
      t.match(whole, { status: 200, json: { model: asked }, headers: { 'x-blockhouse-model': `anthropic/${meant}` } });
      t.match(JSON.parse(upstream.requests.at(-1)?.body ?? ''), { model: meant });
      const { text } = await call('POST', client.path, { body: client.ask(asked, { stream: true }) });
      const names = dataOf(text).flatMap((event) =>
        [event, event['response'], event['message']].map((holder) => (holder as Fields | undefined)?.['model'] ?? []),
      );
      t.same([...new Set(names.flat())], [asked]);
    }
    t.match(await call('POST', client.path, { body: client.ask('never-heard') }), { status: 404, json: { error: { message: /never-heard/ } } });
  });

  t.test(`case 39: a wrong key is refused in the client's own words, wherever it stands (${client.id})`, async (t) => {
    const { call, model, upstream } = await startTranslating(t, anthropic, answerWith(anthropic));
    for (const headers of [{ 'x-api-key': 'wrong' }, { authorization: 'Bearer wrong' }] as Record<string, string>[]) {
      const answer = await call('POST', client.path, { token: false, headers, body: client.ask(model) });
      t.match(answer, { status: 401, json: { error: { type: 'authentication_error', message: String } } });
      if (client.id === 'messages') t.match(answer.json, { type: 'error', request_id: String });
      else t.match(answer.json, { error: { code: 'invalid_api_key' } });
    }
    t.equal(upstream.requests.length, 0);
  });
}
