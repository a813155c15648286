// Amazon Bedrock: the Converse API, binary event streams, requests signed with AWS keys or carrying a bearer token.
import { type Adapter, type AdapterCall, BlockhouseError, type Embedding, type ResolvedSettings } from '../../core/index.ts';
import { defineAdapter } from '../shared/define.ts';
import type { FetchJson } from '../shared/provider.ts';
import { asArray, asObject } from '../shared/read.ts';
import { Authorizer, CREDENTIAL_SETTINGS, keyProblem } from './credentials.ts';
import { EMBEDDING } from './embed.ts';
import { controlURL, endpointProblem, isOwnEndpoint, regionOf, trustedOrigins } from './endpoints.ts';
import { readError } from './errors.ts';
import { DEFAULT_MODEL, MODELS } from './models.ts';
import { SUPPORTED_OPTIONS } from './options.ts';
import { pricedModel } from './prices.ts';
import { replayed } from './reasoning.ts';
import { buildRequest, tokenQuestion } from './request.ts';
import { readAnswer, readUsage } from './response.ts';
import { BedrockDecoder } from './stream.ts';

/** The `bedrock` adapter, with connections of its own. Tests pass an `authorizer` with other credentials. */
export function createBedrock(authorizer = new Authorizer()): Adapter {
  const adapter = defineAdapter({
    id: 'bedrock',
    displayName: 'Amazon Bedrock',
    authRequired: true,
    defaultModel: DEFAULT_MODEL,
    pricesAs: 'aws',
    genAiProvider: 'aws.bedrock',
    pricedModel,
    isOwnAddress: isOwnEndpoint,
    envVars: [],
    settings: {
      region: { env: ['AWS_REGION', 'AWS_DEFAULT_REGION'] },
      ...CREDENTIAL_SETTINGS,
      endpoint: { env: ['AWS_ENDPOINT_URL_BEDROCK_RUNTIME', 'AWS_ENDPOINT_URL'], storedOnly: true, address: true },
      controlEndpoint: { env: ['AWS_ENDPOINT_URL_BEDROCK', 'AWS_ENDPOINT_URL'], storedOnly: true, address: true },
    },
    trustedOrigins,
    missingCredential: (settings) => keyProblem(settings) ?? endpointProblem(settings),
    authorize: (request, settings) => authorizer.authorize(request, settings),
    buildChat: buildRequest,
    replayed,
    countTokens: tokenQuestion,
    readAnswer,
    readUsage,
    createDecoder: (context) => new BedrockDecoder(context),
    embedding: EMBEDDING,
    readError,
    openModels:
      /^(?:(?:us|eu|apac|jp|au|global)\.)?(?:anthropic\.claude-3-(?:5-|opus|sonnet|haiku)|amazon\.(?:nova-(?:micro|lite|pro|premier)-v1|titan)|meta\.llama)/,
    modelNames: /^(?:arn:aws[a-z-]*:bedrock:|(?:(?:us|eu|apac|jp|au|global)\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|qwen|openai)\.)/,
    supports: { parts: ['image', 'document'], options: SUPPORTED_OPTIONS },
    curatedModels: MODELS,
    verify,
  });
  return {
    ...adapter,
    chat: (call) => withCredential(authorizer, call, adapter.chat),
    ...(adapter.embedding !== undefined && { embedding: withCredentials(authorizer, adapter.embedding) }),
    countTokens: (call) => withCredential(authorizer, call, (completed) => adapter.countTokens?.(completed) ?? Promise.resolve(0)),
    verify: (call) => withCredential(authorizer, call, adapter.verify),
    probe: (call) => withCredential(authorizer, call, async () => undefined),
    close: () => {
      authorizer.close();
      return adapter.close();
    },
  };
}

/** Finds missing keys before the call is made, because the search needs the call's time limits and `authorize` doesn't have them. */
function withCredential<C extends AdapterCall, T>(authorizer: Authorizer, call: C, make: (call: C) => Promise<T>): Promise<T> {
  const completed = authorizer.completeSettings(call);
  return completed === undefined ? make(call) : completed.then((settings) => make({ ...call, settings }));
}

function withCredentials(authorizer: Authorizer, embedding: Embedding): Embedding {
  return { ...embedding, embed: (call) => withCredential(authorizer, call, embedding.embed) };
}

async function verify(fetchJson: FetchJson, settings: ResolvedSettings): Promise<string> {
  const region = regionOf(settings);
  try {
    const list = await fetchJson(controlURL(settings, '/foundation-models?byOutputModality=TEXT'));
    const count = asArray(asObject(list)['modelSummaries']).length;
    return `The credentials are valid in ${region}; ${count} foundation ${count === 1 ? 'model is' : 'models are'} available there.`;
  } catch (error) {
    if (!isListingDenied(error)) throw error;
    return `The credentials are valid in ${region}, but they do not allow listing models (bedrock:ListFoundationModels).`;
  }
}

/** AWS checks who is calling before it checks permissions, so a missing permission proves that the credentials are valid. */
function isListingDenied(error: unknown): boolean {
  return error instanceof BlockhouseError && error.upstreamStatus === 403 && /ListFoundationModels|not authorized to perform/i.test(error.message);
}
