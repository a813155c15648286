import t from 'tap';
import { apiOf, endpointURL, isLoopback, isOwnHost, listURL } from '../../../adapters/openai/endpoint.ts';
import { settingsOf } from './support.ts';

t.test("OpenAI's own hosts get /responses, every other base URL /chat/completions", async (t) => {
  for (const [baseURL, api] of [
    ['https://api.openai.com/v1', 'responses'],
    ['https://eu.api.openai.com/v1', 'responses'],
    ['https://jp.api.openai.com/v1/', 'responses'],
    ['https://openrouter.ai/api/v1', 'chat'],
    ['http://127.0.0.1:1234/v1', 'chat'],
    ['https://api.openai.com.evil.example/v1', 'chat'],
    ['https://notapi.openai.com/v1', 'chat'],
  ] as const) {
    t.equal(apiOf(settingsOf({ baseURL })), api, baseURL);
    t.equal(isOwnHost(settingsOf({ baseURL })), api === 'responses', baseURL);
  }
});

t.test('the setting api overrides the host', async (t) => {
  t.equal(apiOf(settingsOf({ baseURL: 'https://api.openai.com/v1', api: 'chat' })), 'chat');
  t.equal(apiOf(settingsOf({ baseURL: 'https://llm.example/v1', api: 'responses' })), 'responses');
});

t.test('the path is put behind the base, whatever was pasted', async (t) => {
  for (const [baseURL, url] of [
    ['https://api.openai.com/v1', 'https://api.openai.com/v1/models'],
    ['https://api.openai.com/v1///', 'https://api.openai.com/v1/models'],
    ['https://api.openai.com', 'https://api.openai.com/v1/models'],
    ['https://api.openai.com/responses', 'https://api.openai.com/v1/models'],
    ['https://llm.example/v1/chat/completions', 'https://llm.example/v1/models'],
    ['https://llm.example/v1/chat/completions/', 'https://llm.example/v1/models'],
    ['https://llm.example/v1/responses', 'https://llm.example/v1/models'],
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1/models'],
    ['http://localhost:8000', 'http://localhost:8000/models'],
  ] as const)
    t.equal(endpointURL(settingsOf({ baseURL }), '/models').href, url, baseURL);
  t.equal(endpointURL(settingsOf({}), '/responses').href, 'https://api.openai.com/v1/responses', 'without a base');
});

t.test('only literal loopback spellings are this machine', async (t) => {
  for (const baseURL of ['http://localhost:1234/v1', 'http://127.0.0.1:1234/v1', 'http://[::1]:8000/v1', 'http://127.8.8.8/v1'])
    t.ok(isLoopback(settingsOf({ baseURL })), baseURL);
  for (const baseURL of ['http://localhost.example/v1', 'http://127.example/v1', 'http://10.0.0.1/v1', 'no url'])
    t.notOk(isLoopback(settingsOf({ baseURL })), baseURL);
});

t.test('models are listed beside the other paths, elsewhere where a server has its own list, or nowhere', async (t) => {
  const at = (list?: string | false) =>
    listURL({ ...settingsOf({ baseURL: 'https://llm.example/v1' }), ...(list !== undefined && { endpoint: { quirks: { list } } }) } as never)?.href;
  t.equal(at(), 'https://llm.example/v1/models');
  t.equal(at('/api/tags'), 'https://llm.example/v1/api/tags');
  t.equal(at(false), undefined);
});
