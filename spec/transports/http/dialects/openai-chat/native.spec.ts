import t from 'tap';
import { toNative } from '../../../../../transports/http/dialects/openai-chat/native.ts';

const made = (text: string) => {
  const { body, hidesUsage } = toNative(Buffer.from(text), JSON.parse(text), 'm');
  return { text: body.toString(), hidesUsage };
};

t.test('a whole answer has its usage anyway, so only the model changes', async (t) => {
  t.same(made('{"model":"a/m", "stream":false,"n":1.0}'), { text: '{"model":"m", "stream":false,"n":1.0}', hidesUsage: false });
});

t.test('a stream is asked for its usage, and hides it from a client that has not asked', async (t) => {
  t.same(made('{"model":"a","stream":true}'), { text: '{"stream_options":{"include_usage":true},"model":"m","stream":true}', hidesUsage: true });
  t.same(made('{"stream_options":{"other":1,"include_usage":false},"model":"a","stream":true}'), {
    text: '{"stream_options":{"other":1,"include_usage":true},"model":"m","stream":true}',
    hidesUsage: true,
  });
  t.same(made('{"model":"a","stream":true,"stream_options":{ "include_usage": true }}'), {
    text: '{"model":"m","stream":true,"stream_options":{ "include_usage": true }}',
    hidesUsage: false,
  });
  t.equal(made('{"model":"a","stream":true,"stream_options":null}').text, '{"model":"m","stream":true,"stream_options":{"include_usage":true}}');
});

t.test('what is read and changed must have its type and its own letters, because a provider may read it more leniently', async (t) => {
  for (const [options, path] of [
    ['"x"', 'stream_options'],
    ['[]', 'stream_options'],
    ['1', 'stream_options'],
    ['{"include_usage":1}', 'stream_options.include_usage'],
    ['{"include_usage":"true"}', 'stream_options.include_usage'],
    ['{"include_usage":true,"INCLUDE_USAGE":false}', 'stream_options.INCLUDE_USAGE'],
    ['{"Include_Usage":null}', 'stream_options.Include_Usage'],
    ['{"include_u\u017fage":false}', 'stream_options.include_u\u017fage'],
  ] as const)
    for (const stream of [true, false])
      t.throws(() => made(`{"model":"a","stream":${stream},"stream_options":${options}}`), { code: 'INVALID_REQUEST', details: [{ path }] }, options);
  for (const options of ['null', '{}', '{"include_usage":null}', '{"include_obfuscation":false}'])
    t.equal(made(`{"model":"a","stream":true,"stream_options":${options}}`).hidesUsage, true, options);
});
