import t from 'tap';
import { toNative } from '../../../dialects/openai-chat/native.ts';

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
