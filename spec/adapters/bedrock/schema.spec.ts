// What we send, against what AWS's own client sends for the same meaning.
import { BedrockRuntimeClient, ConverseCommand, type ConverseCommandInput } from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import t from 'tap';
import { buildRequest } from '../../../adapters/bedrock/request.ts';
import type { BedrockRequest } from '../../../adapters/bedrock/schema.ts';
import { parseJson } from '../../../core/base/json.ts';
import { sendJson, startUpstream } from '../../support/upstream.ts';
import { contextOf, settingsFrom } from './help.ts';

const MODEL = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

t.test('path and body are those of the official client', async (t) => {
  const upstream = await startUpstream(t, (_request, res) =>
    sendJson(res, { stopReason: 'end_turn', output: { message: { role: 'assistant', content: [] } } }),
  );
  const client = new BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint: upstream.url,
    requestHandler: new NodeHttpHandler(),
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
  });
  t.teardown(() => client.destroy());
  const wire = buildRequest(
    contextOf(
      {
        system: 'Be brief.',
        turns: [
          { role: 'user', text: 'Oslo?' },
          { role: 'assistant', text: 'Hm.', toolCalls: [{ id: 't1', name: 'f', arguments: { city: 'Oslo' } }] },
          { role: 'tool', results: [{ toolCallId: 't1', toolName: 'f', content: '3 C', isError: true }] },
        ],
        tools: [{ name: 'f', description: 'd', parameters: SCHEMA }],
        temperature: 0.5,
        cacheControl: true,
      },
      { model: MODEL, settings: settingsFrom({ env: { AWS_ENDPOINT_URL: upstream.url } }) },
    ),
  );
  const body = wire.body as BedrockRequest;
  // The client's own types take our body as it is.
  await client.send(new ConverseCommand({ modelId: MODEL, ...body } as ConverseCommandInput));
  const sent = await upstream.arrived(0);
  t.equal(wire.url.pathname, sent.path);
  t.equal(sent.method, 'POST');
  t.same(body, parseJson(sent.body));
});
