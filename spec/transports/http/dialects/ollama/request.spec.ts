import t from 'tap';
import { assertMayAsk } from '../../../../../core/index.ts';
import { OLLAMA_FIELDS } from '../../../../../transports/http/dialects/ollama/request-fields.ts';
import { readChat, readGenerate } from '../../../../../transports/http/dialects/ollama/request.ts';
import { keyWith } from '../../../../support/key-requests.ts';

const HI = [{ role: 'user', content: 'hi' }];
const chat = (body: object) => readChat({ model: 'm', messages: HI, ...body });

t.test('a plain request has nothing but its messages, and is streamed', async (t) => {
  t.match(chat({}), { model: 'm', stream: true, warnings: [], chat: { messages: HI } });
  t.same(Object.keys(chat({}).chat), ['messages']);
  t.match(readGenerate({ model: 'm', prompt: 'hi', stream: false }), { stream: false, chat: { messages: HI } });
});

t.test('what a model would have used is left out with a warning', async (t) => {
  const fields = ({ warnings }: { readonly warnings: readonly { readonly field: string }[] }) => warnings.map(({ field }) => field);
  t.same(fields(chat({ logprobs: true, keep_alive: 5, options: { num_ctx: 8, num_gpu: 1, repeat_penalty: 1.1 }, next_month: 1 })), [
    'logprobs',
    'options.repeat_penalty',
  ]);
  t.same(fields(readGenerate({ model: 'm', prompt: 'hi', raw: false, template: '', context: [1] })), ['context']);
});

t.test('a request without a message only loads or unloads the model', async (t) => {
  t.equal(chat({ messages: [] }).echo.only, 'load');
  t.equal(chat({ messages: undefined, keep_alive: 0 }).echo.only, 'unload');
  t.equal(readGenerate({ model: 'm', system: 'Be brief.' }).echo.only, 'load');
  t.equal(chat({}).echo.only, undefined);
  t.equal(chat({ messages: [{ role: 'assistant', content: '' }] }).echo.only, undefined, 'nothing to answer is another thing');
});

t.test('a field that the gateway or a provider refuses has the name that the client knows', async (t) => {
  const { field } = chat({ messages: [{ role: 'system', content: 's' }, ...HI], options: { top_p: 0.5 } });
  t.same(
    ['messages[1].content[0]', 'messages', 'config.topP', 'config.output.schema', 'elsewhere'].map((path) => field?.(path)),
    ['messages[1]', 'messages', 'options.top_p', 'format', undefined],
  );
  t.equal(readGenerate({ model: 'm', prompt: 'hi' }).field?.('messages[0].content'), 'prompt');
});

t.test('a wrong field is refused by its name', async (t) => {
  const wrong: [body: object, message: RegExp][] = [
    [{ model: '' }, /model/],
    [{ stream: 'yes' }, /stream/],
    [{ messages: 'hi' }, /messages/],
    [{ messages: [{ role: 'function', content: 'x' }] }, /messages\[0\]\.role/],
    [{ tools: [{ type: 'function', function: {} }] }, /tools\[0\]\.function\.name/],
    [{ options: { top_p: 2 } }, /options\.top_p/],
    [{ format: 'xml' }, /format/],
    [{ think: 7 }, /think/],
  ];
  for (const [body, message] of wrong) t.throws(() => chat(body), { code: 'INVALID_REQUEST', message });
});

const KEY = keyWith({ usdPerDay: 1, tokensPerDay: 1, models: ['*'] });

t.test('an address and a secret are refused; the fields of the protocol decide nothing', async (t) => {
  const fields = Object.entries(OLLAMA_FIELDS).filter(([, rule]) => rule === 'answer');
  t.ok(fields.length > 4);
  assertMayAsk(KEY, OLLAMA_FIELDS, Object.fromEntries(fields.map(([name]) => [name, 'x'])));
  for (const name of ['api_base', 'apiKey', 'region'])
    t.throws(() => assertMayAsk(KEY, OLLAMA_FIELDS, { model: 'm', [name]: 'x' }), { code: 'KEY_FORBIDDEN' }, name);
});
