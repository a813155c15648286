// Prompts and answers in the JSON of the conventions for generative AI (gen_ai.input.messages and the like), of bounded size. Pure: no I/O.
//
// bounded: each text has MAX_CONTENT_BYTES at most, and stays JSON. A value that is too long ends with CUT, never within a character.
// newest-first: of a long conversation, the last messages are there, and one in front says how many are missing.
// no-media: of images, audio and documents, there are the type and the size alone.
import { isDeeperThan, MAX_JSON_DEPTH } from '../../core/base/json.ts';
import type { ContentPart, Prompt, ToolCall, Turn } from '../../core/index.ts';

/** Of one attribute. */
export const MAX_CONTENT_BYTES = 32_768;
/** At the end of what was cut. */
export const CUT = ' […cut]';

const CUT_BYTES = Buffer.byteLength(CUT);
/** For what says how many messages or parts are missing. */
const NOTE_BYTES = 96;

/** A part of a message: its one field that may be long, and the others. */
export interface Part {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly name: 'content' | 'arguments' | 'response';
  readonly value: unknown;
}

/** `gen_ai.input.messages`. */
export function inputMessages(turns: readonly Turn[]): string {
  const written: string[] = [];
  let left = MAX_CONTENT_BYTES - '[]'.length - NOTE_BYTES;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const turn = turns[index] as Turn;
    const message = left > 0 ? messageText(turn.role, partsOf(turn), left) : undefined;
    if (message !== undefined) written.push(message.text);
    if (message?.isWhole !== true) {
      const missing = message === undefined ? index + 1 : index;
      if (missing > 0) written.push(JSON.stringify({ role: 'blockhouse', parts: [{ type: 'cut', messages: missing }] })); // newest-first
      break;
    }
    left -= Buffer.byteLength(message.text) + 1;
  }
  return `[${written.reverse().join(',')}]`;
}

/** `gen_ai.output.messages`, with one message. */
export function outputMessages(parts: readonly Part[], finishReason: string): string {
  const end = `,"finish_reason":${JSON.stringify(finishReason)}}]`;
  const { text } = messageText('assistant', parts, MAX_CONTENT_BYTES - Buffer.byteLength(end)) ?? { text: '{"role":"assistant","parts":[]}' };
  return `[${text.slice(0, -1)}${end}`;
}

/** `gen_ai.system_instructions`; undefined without any. */
export function systemInstructions({ system, systemParts }: Pick<Prompt, 'system' | 'systemParts'>): string | undefined {
  if (system === undefined) return undefined;
  const parts = systemParts?.map(({ text }) => textPart('text', text)) ?? [textPart('text', system)];
  return `[${partsText(parts, MAX_CONTENT_BYTES - '[]'.length).text}]`;
}

export function textPart(type: 'text' | 'reasoning', value: string): Part {
  return { fields: { type }, name: 'content', value };
}

export function callPart({ id, name, arguments: value }: Pick<ToolCall, 'id' | 'name' | 'arguments'>): Part {
  return { fields: { type: 'tool_call', id, name }, name: 'arguments', value };
}

function partsOf(turn: Turn): Part[] {
  if (turn.role === 'user') return turn.parts?.map(contentPart) ?? [textPart('text', turn.text)];
  if (turn.role === 'assistant') {
    if (turn.order !== undefined) return turn.order.map((piece) => ('call' in piece ? callPart(piece.call) : contentPart(piece.part)));
    const said = turn.parts?.map(contentPart) ?? (turn.text === '' ? [] : [textPart('text', turn.text)]);
    return [...said, ...turn.toolCalls.map(callPart)];
  }
  return turn.results.map(({ toolCallId: id, content, parts }) => ({
    fields: { type: 'tool_call_response', id },
    name: 'response',
    value: parts === undefined ? content : parts.map((part) => plainPart(contentPart(part))),
  }));
}

function contentPart(part: ContentPart): Part {
  const { type, text = '', mediaType, data, url } = part;
  if (type === 'text' || type === 'reasoning') return textPart(type, text);
  const bytes = data === undefined ? (url === undefined ? Buffer.byteLength(text) : undefined) : base64Bytes(data);
  return { fields: { type: 'media', modality: type, mime_type: mediaType, byte_size: bytes }, name: 'content', value: undefined }; // no-media
}

function base64Bytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.floor((data.length * 3) / 4) - padding;
}

function plainPart({ fields, name, value }: Part): Record<string, unknown> {
  return { ...fields, [name]: value };
}

interface Written {
  readonly text: string;
  readonly isWhole: boolean;
}

/** Undefined if nothing of it fits. */
function messageText(role: string, parts: readonly Part[], most: number): Written | undefined {
  const [start, end] = [`{"role":${JSON.stringify(role)},"parts":[`, ']}'];
  const inner = partsText(parts, most - start.length - end.length);
  return inner.text === '' && !inner.isWhole ? undefined : { text: `${start}${inner.text}${end}`, isWhole: inner.isWhole };
}

function partsText(parts: readonly Part[], most: number): Written {
  const written: string[] = [];
  let left = most - NOTE_BYTES;
  for (const [index, part] of parts.entries()) {
    const one = partText(part, left);
    if (one !== undefined) written.push(one.text);
    if (one?.isWhole !== true) {
      const missing = parts.length - index - (one === undefined ? 0 : 1);
      if (missing > 0 && written.length > 0) written.push(JSON.stringify({ type: 'cut', parts: missing }));
      return { text: written.join(','), isWhole: false };
    }
    left -= Buffer.byteLength(one.text) + 1;
  }
  return { text: written.join(','), isWhole: true };
}

/** Undefined if not even its other fields fit. */
function partText(part: Part, most: number): Written | undefined {
  const value = shallow(part.value);
  const isLong = typeof value === 'string' && value.length > most;
  const whole = isLong ? undefined : JSON.stringify({ ...part.fields, [part.name]: value });
  if (whole !== undefined && Buffer.byteLength(whole) <= most) return { text: whole, isWhole: true };
  const frame = JSON.stringify({ ...part.fields, [part.name]: '' });
  const room = most - Buffer.byteLength(frame) - CUT_BYTES;
  if (value === undefined || room < 0) return undefined;
  const cut = cutText(typeof value === 'string' ? value : JSON.stringify(value), room);
  return { text: JSON.stringify({ ...part.fields, [part.name]: `${cut}${CUT}` }), isWhole: false };
}

/** An answer may nest so deep that it can't be written. */
function shallow(value: unknown): unknown {
  return isDeeperThan(value, MAX_JSON_DEPTH) ? CUT.trim() : value;
}

/** The beginning of a text, with whole characters, that takes so many bytes in JSON at most. */
export function cutText(text: string, most: number): string {
  let left = most;
  let end = 0;
  for (const character of text) {
    left -= bytesInJson(character.codePointAt(0) ?? 0);
    if (left < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

const SHORT_ESCAPES: ReadonlySet<number> = new Set([...'\b\t\n\f\r"\\'].map((character) => character.charCodeAt(0)));

/** Of one character in a text of JSON. Worked out, since to write each of tens of thousands would hold up others. */
function bytesInJson(code: number): number {
  if (SHORT_ESCAPES.has(code)) return '\\n'.length;
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) return '\\u0000'.length; // half of a pair is escaped, too
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}
