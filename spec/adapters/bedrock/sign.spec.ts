import t from 'tap';
import { signRequest } from '../../../adapters/bedrock/sign.ts';
import type { UpstreamRequest } from '../../../adapters/http.ts';

// Two vectors, each computed with AWS's SDK and with independent code.
const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const DATE = new Date('2026-11-20T00:00:00Z');
const MODEL = 'us.anthropic.claude-haiku-4-5-20251001-v1%3A0';

function chat(headers: Record<string, string> = {}): UpstreamRequest {
  return {
    method: 'POST',
    url: new URL(`https://bedrock-runtime.us-east-1.amazonaws.com/model/${MODEL}/converse`),
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from('{"messages":[{"role":"user","content":[{"text":"hi"}]}]}'),
  };
}

t.test('gotcha 1: a POST is signed as AWS’s SDK signs it, its encoded path encoded once more', async (t) => {
  const proof = await signRequest(chat(), KEYS, 'us-east-1', DATE);
  t.same(proof, {
    'x-amz-date': '20261120T000000Z',
    'x-amz-content-sha256': 'c3335e07d6e89650bf94cb98664be69f8774dbc3198df221f113db0a59ea14f0',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261120/us-east-1/bedrock/aws4_request, ' +
      'SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, Signature=ea447543dc45b836f09f4ca877a26cb7d97b1129593567415cf2dd04b16e661a',
  });
});

t.test('a GET with a query and a session token is signed as AWS’s SDK signs it', async (t) => {
  const request: UpstreamRequest = {
    method: 'GET',
    url: new URL('https://bedrock.us-east-1.amazonaws.com/foundation-models?byOutputModality=TEXT'),
    headers: { accept: 'application/json' },
  };
  const proof = await signRequest(request, { ...KEYS, sessionToken: 'TOKEN' }, 'us-east-1', DATE);
  t.equal(proof['x-amz-security-token'], 'TOKEN');
  t.match(
    proof['authorization'],
    'SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=12f6d4371a2f65dc57d100c27bb425110ea3153210d1ac803204424cace2dc35',
  );
});

t.test('headers that a proxy may rewrite are not signed', async (t) => {
  const plain = await signRequest(chat(), KEYS, 'us-east-1', DATE);
  t.same(await signRequest(chat({ accept: 'application/json' }), KEYS, 'us-east-1', DATE), plain);
});

t.test('a port that is not the scheme’s own is part of the signed host', async (t) => {
  const at = async (origin: string) => {
    const { headers, body } = chat();
    return (await signRequest({ method: 'POST', url: new URL(`${origin}/x`), headers, body }, KEYS, 'us-east-1', DATE))['authorization'];
  };
  t.not(await at('http://localhost:4566'), await at('http://localhost'));
  t.equal(await at('https://localhost:443'), await at('https://localhost'));
});
