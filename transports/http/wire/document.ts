// Documents that stay the same while the server runs, such as its contracts: compressed once, and not sent to who has them.
//
// shared-bytes: all answers have the same bytes. A text would be copied for each of them, and anybody may ask for very many at once.
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { etagOfBytes, isKnown } from './etag.ts';
import { type JsonReply, JSON_TYPE, Written } from './reply.ts';

interface Form {
  readonly body: Written;
  readonly headers: Readonly<Record<string, string>>;
}

interface Forms {
  readonly plain: Form;
  readonly zipped: Form;
}

/** By their texts, of which there are a few in a process. */
const known = new Map<string, Promise<Forms>>();

/** 200 with the document, compressed for who takes gzip, or 304 without it. */
export async function documentReply(req: Pick<IncomingMessage, 'headers'>, text: string): Promise<JsonReply<Written>> {
  const forms = known.get(text) ?? formsOf(text);
  known.set(text, forms);
  const { plain, zipped } = await forms;
  const { body, headers } = takesGzip(req) ? zipped : plain;
  if (isKnown(req, headers['etag'] ?? ''))
    return { status: 304, body: undefined as unknown as Written, headers: { etag: headers['etag'] ?? '', vary: 'accept-encoding' } };
  return { status: 200, body, headers };
}

async function formsOf(text: string): Promise<Forms> {
  const bytes = await promisify(gzip)(text);
  const shared = { vary: 'accept-encoding', 'cache-control': 'no-cache' };
  return {
    plain: {
      body: new Written(Buffer.from(text)), // shared-bytes
      headers: { ...shared, etag: etagOfBytes(text) },
    },
    zipped: { body: new Written(bytes, JSON_TYPE), headers: { ...shared, etag: etagOfBytes(bytes), 'content-encoding': 'gzip' } },
  };
}

/** True unless gzip is not named, or refused. */
function takesGzip({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const given = String(headers['accept-encoding'] ?? '')
    .split(',')
    // No pattern for the blanks: it would look at each run of them once for each of them, and anybody may ask.
    .map((range) =>
      range
        .toLowerCase()
        .split(';')
        .map((part) => part.trim()),
    );
  return given.some(([name, weight]) => (name === 'gzip' || name === '*') && !/^q=0(?:\.0*)?$/.test(weight ?? ''));
}
