import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import t from 'tap';
import { type AwsKeys, signRequest } from '../../../adapters/bedrock/sign.ts';
import type { UpstreamRequest } from '../../../adapters/outbound/client.ts';

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

/** Characters that each need care in a path, a query or a header. */
const ALPHABET = [...'aZ0-._~', ..."%3A %2F %20 %C3%A9 ! * ( ) ' + , ; : @ = $".split(' '), '/', '//'];

/** Always the same sequence, so that a failure can be repeated. */
function sequence(): (below: number) => number {
  let state = 7;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

t.test('500 different requests are signed as AWS’s own package signs them', async (t) => {
  const pick = sequence();
  const text = (length: number): string => Array.from({ length }, () => ALPHABET[pick(ALPHABET.length)]).join('');
  for (let round = 0; round < 500; round += 1) {
    const body = pick(3) === 0 ? undefined : Buffer.from(text(pick(40)));
    const query = pick(2) === 0 ? '' : `?b-c=${text(3)}&b=${encodeURIComponent(text(5))}&a=`;
    const url = new URL(`https://bedrock-runtime.eu-west-1.amazonaws.com:${pick(2) === 0 ? 443 : 8443}/${text(pick(12))}${query}`);
    const headers = { ...(pick(2) === 0 && { 'content-type': ' application/json;  charset=utf-8' }), accept: '*/*' };
    const request: UpstreamRequest = { method: body === undefined ? 'GET' : 'POST', url, headers, ...(body !== undefined && { body }) };
    const keys = { ...KEYS, ...(pick(2) === 0 && { sessionToken: `${text(20)}==` }) };
    const date = new Date(DATE.getTime() + pick(1e9) * 1000);
    t.strictSame(await signRequest(request, keys, 'eu-west-1', date), await signByAws(request, keys, 'eu-west-1', date), url.href);
  }
});

async function signByAws({ method, url, headers, body }: UpstreamRequest, credentials: AwsKeys, region: string, signingDate: Date) {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signer = new SignatureV4({
    service: 'bedrock',
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    sha256: Sha256,
  });
  const type = headers['content-type'];
  const signed = await signer.sign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { host: url.host, ...(type !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body }),
    },
    { signingDate },
  );
  const { host: _host, 'content-type': _type, ...added } = signed.headers;
  return added;
}

type SourceData = string | ArrayBuffer | ArrayBufferView;

/** Node's hash in the form that AWS's package takes. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: SourceData) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toHashable(secret));
  }

  update(data: SourceData): void {
    this.#hash.update(toHashable(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new Error('A hash can be used only once.');
  }
}

function toHashable(data: SourceData): string | NodeJS.ArrayBufferView {
  if (typeof data === 'string') return data;
  return data instanceof ArrayBuffer ? new Uint8Array(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

t.test('a large body is hashed in slices, between which the event loop turns', async (t) => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    ticking = setImmediate(count);
  };
  let ticking = setImmediate(count);
  const body = Buffer.alloc(5_000_000, 'x');
  const proof = await signRequest({ ...chat(), body }, KEYS, 'us-east-1', DATE);
  clearImmediate(ticking);
  t.equal(proof['x-amz-content-sha256'], createHash('sha256').update(body).digest('hex'));
  t.ok(turns >= 3, `${turns} turns`);
});
