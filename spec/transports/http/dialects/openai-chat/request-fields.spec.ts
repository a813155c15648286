import t from 'tap';
import { CHAT_FIELDS } from '../../../../../transports/http/dialects/openai-chat/request-fields.ts';
import { forbiddenField } from '../../../../support/key-requests.ts';

const hi = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

t.test('a usual request passes with a key that has every limit', async (t) => {
  const more = {
    stream: true,
    stream_options: { include_usage: true },
    tools: [
      { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { type: { type: 'string' } } } } },
      { type: 'custom', custom: { name: 'run' } },
    ],
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } },
    service_tier: 'auto',
    modalities: ['text'],
    metadata: { a: 'b' },
    prediction: { type: 'content', content: 'x' },
    store: false,
  };
  t.equal(forbiddenField(CHAT_FIELDS, { ...hi, ...more }), undefined);
});

t.test('what costs apart from the tokens, at another price or from another model is refused', async (t) => {
  for (const [more, field] of [
    [{ web_search_options: {} }, 'web_search_options'],
    [{ tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }, 'tools[0]'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [{ service_tier: 'priority' }, 'service_tier'],
    [{ moderation: { model: 'm' } }, 'moderation'],
    [{ background: true }, 'background'],
  ] as const)
    t.equal(forbiddenField(CHAT_FIELDS, { ...hi, ...more }), field);
});
