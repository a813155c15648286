import { findProvider } from '@pydantic/genai-prices';
import t from 'tap';
import { PRESETS } from '../../../adapters/openai/presets.ts';

t.test('the price data has every preset that names it, at the host of the preset', async (t) => {
  for (const [name, { baseURL, baseURLForm, prices }] of Object.entries(PRESETS)) {
    if (prices === undefined) continue;
    const address = baseURL ?? baseURLForm?.replace('<resource>', 'acme') ?? '';
    t.match(address, new RegExp(`^${findProvider({ providerId: prices })?.api_pattern ?? 'no such provider'}`), name);
  }
});

t.test('every address is https or on this machine, and ends without a slash', async (t) => {
  for (const [name, { baseURL, baseURLForm = '', isLocal }] of Object.entries(PRESETS))
    t.match(baseURL ?? baseURLForm, isLocal ? /^http:\/\/127\.0\.0\.1:\d+\/v1$/ : /^https:\/\/[^/]+(\/[\w.-]+)*$/, name);
});
