// Files and URLs that go to a model with a message, as parts of it. What a file is, its first bytes say: its name may be wrong.
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import type { ContentPart } from '../../core/index.ts';
import { fileFault } from '../input/file-fault.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';

/** What the options name. */
export interface AttachmentOptions {
  /** Paths, and http or https URLs. */
  readonly images: readonly string[];
  readonly files: readonly string[];
}

/** The largest file, in bytes. Base64 makes 27 MiB of it, which is less than a part may have. */
const MAX_BYTES = 20 * 1024 * 1024;
const WEB_ADDRESS = /^https?:\/\//i;
/** The first bytes of each kind of file, as Latin-1. */
const SIGNATURES: readonly (readonly [mediaType: string, start: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['application/pdf', /^%PDF-/],
];
const SIGNATURE_BYTES = 16;

/** The parts for the message, images first. Rejects with a CliError (`usage`) that names the option and the file. */
export async function readAttachments({ images, files }: AttachmentOptions): Promise<ContentPart[]> {
  const parts: ContentPart[] = [];
  for (const image of images) parts.push(await imagePart(image));
  for (const file of files) parts.push(await documentPart(file));
  return parts;
}

/** The content of a message: the text alone, or the attachments and then the text. */
export function withAttachments(text: string, attachments: readonly ContentPart[]): string | ContentPart[] {
  return attachments.length === 0 ? text : [...attachments, { type: 'text', text }];
}

async function imagePart(source: string): Promise<ContentPart> {
  if (WEB_ADDRESS.test(source)) return { type: 'image', url: source };
  const bytes = await contentOf('--image', source);
  const mediaType = mediaTypeOf(bytes);
  if (mediaType?.startsWith('image/') !== true) throw refused('--image', source, 'is not a PNG, JPEG, GIF or WebP image');
  return { type: 'image', mediaType, data: bytes.toString('base64') };
}

async function documentPart(path: string): Promise<ContentPart> {
  if (WEB_ADDRESS.test(path)) throw refused('--file', path, 'is a URL; download the file first');
  const bytes = await contentOf('--file', path);
  const mediaType = mediaTypeOf(bytes);
  const name = basename(path);
  if (mediaType === 'application/pdf') return { type: 'document', mediaType, data: bytes.toString('base64'), name };
  if (mediaType !== undefined) throw refused('--file', path, 'is an image; send it with --image');
  const text = textOf(bytes);
  if (text === undefined) throw refused('--file', path, 'is neither a PDF nor text in UTF-8');
  return { type: 'document', mediaType: 'text/plain', text, name };
}

function mediaTypeOf(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, SIGNATURE_BYTES);
  return SIGNATURES.find(([, signature]) => signature.test(start))?.[0];
}

/** Undefined if the bytes are not text. A byte order mark is left out. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined; // its only failure: the bytes are not UTF-8
  }
}

/** Reads no further than the limit, so that also a pipe has an end. */
async function contentOf(option: string, path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path)) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_BYTES) break;
    }
  } catch (error) {
    throw refused(option, path, fileFault(error), error);
  }
  if (bytes > MAX_BYTES) throw refused(option, path, `is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
  if (bytes === 0) throw refused(option, path, 'is empty');
  return Buffer.concat(chunks);
}

function refused(option: string, path: string, what: string, cause?: unknown): CliError {
  return new CliError('usage', `${option}: ${oneLine(path)} ${oneLine(what)}.`, cause);
}
