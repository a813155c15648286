// Silence of a provider, as each protocol fills it: the provider goes on only when the client has heard that the stream is alive.
import t from 'tap';
import { CLIENTS, startTranslating } from '../support/dialect-clients.ts';
import type { Answerer } from '../support/upstream.ts';
import { PLAIN, WIRES } from '../support/wire-server.ts';

const SIGN = /: keep-alive|event: ping/;
const FRAME = /^(?:: keep-alive|(?:event: .+\n)?data: .+)$/;

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

for (const wire of WIRES) {
  for (const client of CLIENTS) {
    for (const isNative of client.native === wire.name ? [false, true] : [false]) {
      const at = `${client.id} before ${wire.name}${isNative ? ', native' : ''}`;

      t.test(`case 18: silence before an answer and in the middle of a provider's frame is filled between whole frames (${at})`, async (t) => {
        const [before, within] = [gate(), gate()];
        const { frames, type } = wire.stream(PLAIN);
        const bytes = Buffer.concat(frames);
        const cut = Buffer.concat(frames.slice(0, frames.findIndex((frame) => frame.includes('Hel')) + 1)).length + 3;
        const answer: Answerer = async (request, res) => {
          if (request.method === 'GET') return void res.end('{}');
          res.writeHead(200, { 'content-type': type }).flushHeaders();
          await before.opened;
          res.write(bytes.subarray(0, cut));
          await within.opened;
          res.end(bytes.subarray(cut));
        };
        const { url, token, model } = await startTranslating(t, wire, answer, isNative, { http: { sse: { openAfterMs: 5, keepAliveMs: 5 } } });
        const { body } = await fetch(`${url}${client.path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(client.ask(model, { stream: true })),
        });
        let text = '';
        for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
          text += chunk;
          if (SIGN.test(text)) before.open();
          if (text.includes('Hel') && SIGN.test(text.slice(text.indexOf('Hel')))) within.open();
        }
        t.match(text, /^(?:: keep-alive\n\n)+/);
        const sign = client.id === 'messages' && !isNative ? '\n\nevent: ping\ndata: {"type":"ping"}\n\n' : '\n\n: keep-alive\n\n';
        t.ok(text.slice(text.indexOf('Hel')).includes(sign), text);
        t.same(
          text
            .trimEnd()
            .split('\n\n')
            .filter((frame) => !FRAME.test(frame)),
          [],
        );
        t.ok(client.hasEndMark(text), text);
      });
    }
  }
}
