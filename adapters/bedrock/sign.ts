// AWS Signature Version 4 of one request. AWS's package for it brings 8 MB, so this is code of our own; the tests compare it with that
// package. Pure but for the turns of the event loop while a large body is hashed.
//
// Source: "Create a signed AWS API request" in AWS's documentation of IAM.
import { createHash, createHmac } from 'node:crypto';
import { nextTurn } from '../../core/base/next-turn.ts';
import type { UpstreamRequest } from '../outbound/client.ts';

/** Long-term keys, or temporary ones with their token. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
/** The same for the runtime and for the control host. */
const SERVICE = 'bedrock';

/** A turn hashes so many bytes, which takes some milliseconds at most. */
const SLICE_BYTES = 1024 * 1024;

/** Others are served while a large body is hashed. */
async function hashOfBody(body: Buffer = Buffer.alloc(0)): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    if (at > 0) await nextTurn();
    hash.update(body.subarray(at, at + SLICE_BYTES));
  }
  return hash.digest('hex');
}

/** The headers to add to `request`. Headers that a proxy may rewrite (`accept`, …) are not signed. */
export async function signRequest(request: UpstreamRequest, keys: AwsKeys, region: string, date: Date): Promise<Record<string, string>> {
  const { url, body } = request;
  const time = date.toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/${region}/${SERVICE}/aws4_request`;
  const bodyHash = await hashOfBody(body);
  const added: Record<string, string> = { 'x-amz-date': time, 'x-amz-content-sha256': bodyHash };
  if (keys.sessionToken) added['x-amz-security-token'] = keys.sessionToken;

  const type = request.headers['content-type'];
  const headers = Object.entries({ host: url.host, ...(type !== undefined && { 'content-type': type }), ...added }).sort(byText);
  const names = headers.map(([name]) => name).join(';');
  const lines = headers.map(([name, value]) => `${name}:${value.trim().replace(/\s+/g, ' ')}`);
  const canonical = [request.method, pathOf(url), queryOf(url), ...lines, '', names, bodyHash].join('\n');
  const signature = hmac(keyFor(keys.secretAccessKey, scope), [ALGORITHM, time, scope, sha256(canonical)].join('\n')).toString('hex');
  return { ...added, authorization: `${ALGORITHM} Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}` };
}

/** The path as it is sent, without empty segments, and encoded a second time: every service except S3 wants that. */
function pathOf({ pathname }: URL): string {
  return pathname.replace(/\/+/g, '/').split('/').map(encode).join('/');
}

function queryOf({ searchParams }: URL): string {
  const pairs = [...searchParams].map(([name, value]): [string, string] => [encode(name), encode(value)]);
  return pairs
    .sort(byText)
    .map((pair) => pair.join('='))
    .join('&');
}

/** Only letters, digits and `-._~` stay as they are. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** By name, then by value. */
function byText([name, value]: [string, string], [otherName, otherValue]: [string, string]): number {
  if (name !== otherName) return name < otherName ? -1 : 1;
  return value < otherValue ? -1 : 1;
}

/** The key is bound to the day, the region and the service, which are the parts of the scope. */
function keyFor(secret: string, scope: string): Buffer {
  return scope.split('/').reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${secret}`));
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(data: string): string {
  return createHash('sha256').update(data).digest('hex');
}
