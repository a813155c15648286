// The services that speak OpenAI's protocol: where they are, which variable has their key, under which name the price data has them, and how they differ. Pure data.
// Facts age: each row says where they were read, all of them on 2026-11-23.
//
// Marks of a source: D documentation of the service, I issues in public, R source code in public, K general knowledge that was not checked again.
import type { Presets } from '../../core/index.ts';

const NO_STRICT = { strictTools: false } as const;
const LOCAL = { isLocal: true, auth: 'none' } as const;
/** A local server that loads its model with the first call is silent for long. */
const PATIENT = { firstByteMs: 600_000 } as const;

export const PRESETS: Presets = {
  groq: {
    baseURL: 'https://api.groq.com/openai/v1',
    variable: 'GROQ_API_KEY',
    prices: 'groq',
    quirks: { drop: ['logprobs', 'topLogprobs'], messageNames: false },
    source: 'D: the page of Groq on OpenAI compatibility (logprobs, messages[].name and n above 1 get 400); I: vercel/ai#1651, Portkey#1338 (x_groq.usage)',
  },
  mistral: {
    baseURL: 'https://api.mistral.ai/v1',
    variable: 'MISTRAL_API_KEY',
    prices: 'mistral',
    quirks: {
      maxTokensField: 'max_tokens',
      streamUsage: false,
      toolChoiceRequired: 'any',
      callIds: 'alnum9',
      drop: ['cacheKey', 'user', 'seed', 'logprobs', 'topLogprobs', 'serviceTier', 'store'],
    },
    source:
      'I: eca#231, hindsight#852 (max_tokens), avante#2347 (stream_options), github/app#3299 (unknown fields), opencode#1680 (ids of calls); K: the word any means required',
  },
  deepseek: {
    baseURL: 'https://api.deepseek.com',
    variable: 'DEEPSEEK_API_KEY',
    prices: 'deepseek',
    quirks: { reasoning: 'thinking_effort', reasoningBack: 'reasoning_content' },
    source:
      'R: prompt_cache_hit_tokens; D: api-docs.deepseek.com (thinking.type and reasoning_effort, read on 2026-11-28); I: kimi-cli#2141, openclaw#73417 (reasoning_content on every assistant message)',
  },
  xai: {
    baseURL: 'https://api.x.ai/v1',
    variable: 'XAI_API_KEY',
    prices: 'x-ai',
    api: 'responses',
    timeouts: { firstByteMs: 900_000 },
    source: 'D: docs.x.ai (Chat is deprecated; 900 s of patience; prompt_cache_key); I: litellm#17136 (usage before the last chunk)',
  },
  openrouter: {
    baseURL: 'https://openrouter.ai/api/v1',
    variable: 'OPENROUTER_API_KEY',
    prices: 'openrouter',
    quirks: { costField: 'usage.cost', reasoning: 'openrouter' },
    source: 'D: openrouter.ai/docs (usage.cost, cache_write_tokens); R: reasoning {effort}',
  },
  together: {
    baseURL: 'https://api.together.xyz/v1',
    variable: 'TOGETHER_API_KEY',
    prices: 'together',
    quirks: { maxTokensField: 'max_tokens', reasoning: 'enabled', ...NO_STRICT },
    source: 'R: the list is a bare array, max_tokens, no strict, reasoning.enabled',
  },
  fireworks: {
    baseURL: 'https://api.fireworks.ai/inference/v1',
    variable: 'FIREWORKS_API_KEY',
    prices: 'fireworks',
    source: 'R: reasoning_effort',
  },
  cerebras: {
    baseURL: 'https://api.cerebras.ai/v1',
    variable: 'CEREBRAS_API_KEY',
    prices: 'cerebras',
    quirks: { drop: ['presencePenalty', 'frequencyPenalty', 'parallelToolCalls', 'serviceTier', 'cacheKey'], developerRole: false },
    source: 'R: options that are refused; D: inference-docs.cerebras.ai (no developer role)',
  },
  moonshot: {
    baseURL: 'https://api.moonshot.ai/v1',
    variable: 'MOONSHOT_API_KEY',
    prices: 'moonshotai',
    quirks: { maxTokensField: 'max_tokens', reasoning: 'thinking', ...NO_STRICT },
    source: 'R: usage.cached_tokens, thinking.type, no strict; keys of .ai and .cn differ',
  },
  zai: {
    baseURL: 'https://api.z.ai/api/paas/v4',
    variable: 'ZHIPU_API_KEY',
    prices: 'zai',
    quirks: { maxTokensField: 'max_tokens', reasoning: 'thinking', list: false },
    source: 'R: thinking.type, max_tokens; no list is documented',
  },
  perplexity: {
    baseURL: 'https://api.perplexity.ai',
    variable: 'PERPLEXITY_API_KEY',
    prices: 'perplexity',
    quirks: { list: false, alternatingRoles: true },
    source: 'I: pipecat#4862 (no tools), api-discussion#265, opencode#9416 (roles must alternate); K: no list',
  },
  nvidia: {
    baseURL: 'https://integrate.api.nvidia.com/v1',
    variable: 'NVIDIA_API_KEY',
    quirks: NO_STRICT,
    source: 'R: no strict',
  },
  huggingface: { baseURL: 'https://router.huggingface.co/v1', variable: 'HF_TOKEN', source: 'R: the effort depends on the route' },
  github: {
    baseURL: 'https://models.github.ai/inference',
    variable: 'GITHUB_TOKEN',
    quirks: { reasoning: 'none', list: false },
    source: 'R: no reasoning; the list is at another address',
  },
  novita: {
    baseURL: 'https://api.novita.ai/openai/v1',
    variable: 'NOVITA_API_KEY',
    prices: 'novita',
    quirks: { reasoning: 'enable_thinking' },
    source: 'R: enable_thinking',
  },
  deepinfra: {
    baseURL: 'https://api.deepinfra.com/v1/openai',
    variable: 'DEEPINFRA_API_KEY',
    quirks: { reasoning: 'enabled' },
    source: 'R: reasoning.enabled',
  },
  cohere: {
    baseURL: 'https://api.cohere.ai/compatibility/v1',
    variable: 'COHERE_API_KEY',
    prices: 'cohere',
    quirks: { efforts: ['none', 'high'] },
    source: 'R: effort none or high (the documentation of Cohere says the same on 2026-11-28: cohere-developer-experience#650)',
  },
  nebius: { baseURL: 'https://api.tokenfactory.nebius.com/v1', variable: 'NEBIUS_API_KEY', source: 'R: reasoning_effort' },
  siliconflow: {
    baseURL: 'https://api.siliconflow.com/v1',
    variable: 'SILICONFLOW_API_KEY',
    quirks: { reasoning: 'enable_thinking' },
    source: 'R: enable_thinking, errors of a form of its own',
  },
  baseten: {
    baseURL: 'https://inference.baseten.co/v1',
    variable: 'BASETEN_API_KEY',
    prices: 'baseten',
    quirks: { reasoning: 'template' },
    source: 'R: chat_template_args',
  },
  vercel: {
    baseURL: 'https://ai-gateway.vercel.sh/v1',
    variable: 'AI_GATEWAY_API_KEY',
    quirks: { reasoning: 'openrouter' },
    source: 'R: a reasoning object',
  },
  alibaba: {
    baseURL: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    variable: 'DASHSCOPE_API_KEY',
    quirks: { reasoning: 'enable_thinking' },
    source: 'D: the address; R: enable_thinking, thinking_budget',
  },
  ovhcloud: {
    baseURL: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
    variable: 'OVHCLOUD_API_KEY',
    prices: 'ovhcloud',
    source: 'D: the address',
  },
  scaleway: { baseURL: 'https://api.scaleway.ai/v1', variable: 'SCALEWAY_API_KEY', source: 'D: the address' },
  azure: {
    baseURLForm: 'https://<resource>.openai.azure.com/openai/v1',
    variable: 'AZURE_OPENAI_API_KEY',
    prices: 'azure',
    api: 'responses',
    quirks: { list: false },
    source:
      "D: learn.microsoft.com/azure/ai-foundry (OpenAI's own wire, the key as a bearer token, no api-version; a model is a deployment, and the list has base models)",
  },
  lmstudio: {
    ...LOCAL,
    baseURL: 'http://127.0.0.1:1234/v1',
    variable: 'LMSTUDIO_API_KEY',
    timeouts: PATIENT,
    marks: [{ path: '/api/v0/models', text: '"data"' }],
    source: 'D: lmstudio.ai/docs (port, /api/v0/models)',
  },
  vllm: {
    ...LOCAL,
    baseURL: 'http://127.0.0.1:8000/v1',
    timeouts: PATIENT,
    marks: [{ path: '/v1/models', text: '"owned_by":"vllm"' }],
    source: 'D: docs.vllm.ai (port, owned_by, max_model_len)',
  },
  llamacpp: {
    ...LOCAL,
    baseURL: 'http://127.0.0.1:8080/v1',
    timeouts: PATIENT,
    marks: [{ path: '/props', text: '"build_info"' }],
    window: { path: '/props', field: 'default_generation_settings.n_ctx' },
    source: 'D: llama.cpp tools/server (port, /props with build_info and n_ctx)',
  },
  localai: {
    ...LOCAL,
    baseURL: 'http://127.0.0.1:8080/v1',
    timeouts: PATIENT,
    marks: [{ path: '/readyz', text: 'OK' }],
    source: 'D: localai.io (port); K: /readyz',
  },
  mlx: { ...LOCAL, baseURL: 'http://127.0.0.1:8080/v1', timeouts: PATIENT, marks: [{ path: '/v1/models', text: '"data"' }], source: 'D: mlx-lm server (port)' },
  sglang: {
    ...LOCAL,
    baseURL: 'http://127.0.0.1:30000/v1',
    timeouts: PATIENT,
    marks: [{ path: '/v1/models', text: '"owned_by":"sglang"' }],
    source: 'D: docs.sglang.ai (port); K: owned_by',
  },
  tgi: { ...LOCAL, baseURL: 'http://127.0.0.1:3000/v1', timeouts: PATIENT, marks: [{ path: '/info', text: '"model_id"' }], source: 'K: port, /info' },
  jan: {
    ...LOCAL,
    baseURL: 'http://127.0.0.1:1337/v1',
    timeouts: PATIENT,
    marks: [{ path: '/v1/models', text: '"data"' }],
    source: 'D: jan.ai/docs (port; wants any key)',
  },
};
