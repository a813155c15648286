// AWS Signature Version 4. Pure: no I/O, except that the signer is loaded on first use: a server without Bedrock doesn't need its memory.
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { UpstreamRequest } from '../http.ts';

/** Long-term keys, or temporary ones with their token. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** The same for the runtime and for the control host. */
const SERVICE = 'bedrock';

/** The headers to add to `request`. Headers that a proxy may rewrite (`accept`, …) are not signed. */
export async function signRequest(request: UpstreamRequest, keys: AwsKeys, region: string, date: Date): Promise<Record<string, string>> {
  const { SignatureV4 } = await import('@smithy/signature-v4');
  const { sessionToken, ...pair } = keys;
  const signer = new SignatureV4({
    service: SERVICE,
    region,
    credentials: { ...pair, ...(sessionToken !== undefined && { sessionToken }) },
    sha256: Sha256,
  });
  const { method, url, body } = request;
  const type = request.headers['content-type'];
  const signed = await signer.sign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname, // as sent, encoded once; the signer encodes it again
      query: Object.fromEntries(url.searchParams),
      headers: { host: url.host, ...(type !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body }),
    },
    { signingDate: date },
  );
  const { host: _host, 'content-type': _type, ...proof } = signed.headers;
  return proof;
}

type SourceData = string | ArrayBuffer | ArrayBufferView;

/** Node's own hash for the signer: one in JavaScript would block every stream for 0.1 s on a large request. */
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

  /** Required by the interface; the signer makes a new hash each time. */
  reset(): void {
    throw new Error('A hash can be used only once.');
  }
}

function toHashable(data: SourceData): string | NodeJS.ArrayBufferView {
  if (typeof data === 'string') return data;
  return data instanceof ArrayBuffer ? new Uint8Array(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
