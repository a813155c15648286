// Our Bedrock requests beside those of the official `@aws-sdk/client-bedrock-runtime`. The signature itself is held to known
// vectors in spec/adapters/bedrock.
import { BedrockRuntimeClient, ConverseCommand, type ConverseCommandInput, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import t from 'tap';
import { createBedrock } from '../../adapters/bedrock/index.ts';
import { compare, ours, recorded, rounds, SCHEMA, startRecorder } from './compare.ts';

const MODEL = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const KEYS = { accessKeyId: 'AKIAEXAMPLE012345678', secretAccessKey: 'secretExample0123456789', sessionToken: 'sessionExample' };
const HEADERS = ['content-type', 'x-amz-security-token', 'x-amz-content-sha256'];

const input: ConverseCommandInput = {
  modelId: MODEL,
  system: [{ text: 'Be brief.' }],
  messages: [
    { role: 'user', content: [{ text: 'weather in Oslo and Rome?' }] },
    {
      role: 'assistant',
      content: [
        { text: 'Let me look.' },
        { toolUse: { toolUseId: 'call_1', name: 'get_weather', input: { city: 'Oslo' } } },
        { toolUse: { toolUseId: 'call_2', name: 'get_weather', input: { city: 'Rome' } } },
      ],
    },
    {
      role: 'user',
      content: [
        { toolResult: { toolUseId: 'call_1', content: [{ text: '3 C' }], status: 'success' } },
        { toolResult: { toolUseId: 'call_2', content: [{ text: 'no data' }], status: 'error' } },
        { text: 'and tomorrow?' },
      ],
    },
  ],
  toolConfig: { tools: [{ toolSpec: { name: 'get_weather', description: 'Weather of a city', inputSchema: { json: SCHEMA } } }] },
  inferenceConfig: { maxTokens: 100, temperature: 0.5 },
};

for (const stream of [false, true]) {
  t.test(`a whole conversation, ${stream ? 'streamed' : 'not streamed'}`, async (t) => {
    const recorder = await startRecorder(t);
    const env = {
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: recorder.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
      AWS_SESSION_TOKEN: KEYS.sessionToken,
    };
    const mine = await ours(t, recorder, { create: createBedrock, env }, { ...rounds('bedrock', MODEL), stream });
    const client = new BedrockRuntimeClient({
      region: 'us-east-1',
      endpoint: recorder.url,
      credentials: KEYS,
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler(),
    });
    const theirs = await recorded(recorder, async () => (stream ? client.send(new ConverseStreamCommand(input)) : client.send(new ConverseCommand(input))));
    compare(t, mine, theirs, HEADERS, {
      'headers.x-amz-content-sha256':
        "the digest of the body as a signed header of its own, as AWS's documents recommend; the SDK has it in the signature only",
    });
    t.equal(credentialScope(mine.headers.authorization), credentialScope(theirs.headers.authorization), 'the same algorithm, key, region and service sign');
  });
}

/** `AWS4-HMAC-SHA256 Credential=AKIA…/20261120/us-east-1/bedrock/aws4_request` */
function credentialScope(authorization: string | undefined): string | undefined {
  return authorization?.split(',')[0];
}
