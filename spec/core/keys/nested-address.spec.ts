import t from 'tap';
import type { RequestFields } from '../../../core/keys/field-rules.ts';
import { isTooDeep, nestedAddress } from '../../../core/keys/nested-address.ts';

const FIELDS: RequestFields = {
  api_base: { decides: 'address' },
  region: { decides: 'address', isCommonWord: true },
  fallbacks: { decides: 'spends', holdsRequests: true },
};

t.test('an address is found at any depth, by the path to it', async (t) => {
  const table: [name: string, value: unknown, path: string][] = [
    ['messages', [{ role: 'user' }, { content: [{ api_base: 'x' }] }], 'messages[1].content[0].api_base'],
    ['tools', [{ type: 'function', apiBase: 'x', function: {} }], 'tools[0].apiBase'],
    ['thinking', { 'API-BASE': {} }, 'thinking.API-BASE'],
    ['input', [{ api_base: '' }], 'input[0].api_base'],
    ['parameters', { api_base: 'x' }, 'parameters.api_base'],
    ['metadata', { fallbacks: [{ region: 'x' }] }, 'metadata.fallbacks[0].region'],
    ['fallbacks', [{ model: 'm', region: 'x' }], 'fallbacks[0].region'],
    ['fallbacks', [{ model: 'huggingface/https://evil' }], 'fallbacks[0].model'],
    ['fallbacks', ['m', 'http://evil'], 'fallbacks[1]'],
    ['fallbacks', [{ parameters: { region: 'x' } }], 'fallbacks[0].parameters.region'],
  ];
  for (const [name, value, path] of table) t.equal(nestedAddress(FIELDS, name, value), path);
});

t.test('data of the application has any names', async (t) => {
  const data = { api_base: 'x', deep: [{ api_base: 'x' }] };
  const table: [name: string, value: unknown][] = [
    ['tools', [{ function: { parameters: { properties: data } } }, { input_schema: data, input_examples: [data] }]],
    ['messages', [{ content: [{ type: 'tool_use', input: data }], tool_calls: [{ function: { arguments: data } }] }]],
    ['response_format', { type: 'json_schema', json_schema: { name: 'a', schema: data } }],
    ['guided_json', data],
    ['json_schema', data],
    ['prompt', { id: 'p', variables: data }],
    ['user', 'api_base'],
    ['tools', [{ user_location: { region: 'x' } }]],
    ['thinking', { api_base: null, text: 'https://x' }],
    ['fallbacks', ['m', { model: 'n', max_tokens: 3, region: null }]],
    ['fallbacks', null],
  ];
  for (const [name, value] of table) t.equal(nestedAddress(FIELDS, name, value), undefined, JSON.stringify(value));
});

t.test('what nests too deep is refused, and data is not looked into', async (t) => {
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  t.equal(isTooDeep(nestedAddress(FIELDS, 'messages', deep) ?? ''), true);
  t.equal(isTooDeep('messages[0].api_base'), false);
  t.equal(nestedAddress(FIELDS, 'messages', [{ input: deep }]), undefined);
});
