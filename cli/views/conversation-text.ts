// The messages and answers of a conversation as text, and the pages that they come in.
import type { ChatEntry } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { CliError } from '../terminal/exit-codes.ts';
import { plural, relative } from '../terminal/format.ts';
import { fit } from '../terminal/layout.ts';
import { folded, manyLines, oneLine } from '../terminal/output.ts';
import { modelOf, type View } from './block-text.ts';

/** The most entries that the server gives at once. */
const PAGE = 500;
/** What a quoted line has at most, also in a pipe. */
const QUOTE_WIDTH = 120;
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The time that a person means by `2h` (two hours ago) or `2026-11-22`, in epoch milliseconds. Undefined for any other text. */
export function timeOf(text: string, now: number): number | undefined {
  const [, amount, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) return now - Number(amount) * (UNITS[unit] ?? 0);
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** The newest `most` entries that are not older than `since` (epoch milliseconds), oldest first. */
export async function newestEntries(api: Api, block: string, most: number, since = 0): Promise<ChatEntry[]> {
  let found: readonly ChatEntry[] = [];
  for (;;) {
    const limit = Math.min(PAGE, most - found.length);
    const page = limit < 1 ? [] : await api.history(block, { limit: String(limit), before: found[0]?.id });
    found = [...page, ...found];
    const [oldest] = page;
    if (oldest === undefined || Date.parse(oldest.timestamp) < since) return found.filter(({ timestamp }) => Date.parse(timestamp) >= since);
  }
}

/** The newest `most` of the entries after the one with the id `since`, oldest first. Rejects when there is no such entry. */
export async function entriesAfter(api: Api, block: string, most: number, since: string): Promise<ChatEntry[]> {
  const found: ChatEntry[] = [];
  for (let last = since; ; ) {
    const page = await api.history(block, { limit: String(PAGE), since: last });
    found.push(...page);
    const next = page.at(-1);
    if (next === undefined) return found.slice(Math.max(found.length - most, 0));
    last = next.id;
  }
}

/** The text of `history`: for each entry a heading and its content, with a blank line in between. */
export function conversationText(block: string, entries: readonly ChatEntry[], view: View): string[] {
  return entries.flatMap((entry, index) => [...(index === 0 ? [] : ['']), ...headLines(block, entries, index, view), ...contentLines(entry, view)]);
}

/** The last entries in few lines: each content is cut after `most` lines. */
export function shortConversation(block: string, entries: readonly ChatEntry[], most: number, view: View): string[] {
  return entries.flatMap((entry, index) => {
    const lines = contentLines(entry, view);
    const shown = lines.slice(0, most).map((line) => fit(line, view.width));
    const rest = lines.length - shown.length;
    return [...headLines(block, entries, index, view), ...shown, ...(rest > 0 ? [view.style.dim(`… ${plural(rest, 'more line')}`)] : []), ''];
  });
}

function contentLines({ content, error, status }: ChatEntry, { style, width }: View): string[] {
  const lines = content === '' ? [] : foldedText(manyLines(content).trimEnd().split('\n'), width);
  return error == null || status === 'done' ? lines : [...lines, ...folded(oneLine(error.message), width).map((line) => style.bad(line))];
}

/** Code and tables keep their lines. */
function foldedText(lines: readonly string[], width: number): string[] {
  let isCode = false;
  return lines.flatMap((line) => {
    if (/^(```|~~~)/.test(line)) isCode = !isCode;
    return isCode || line.startsWith('|') ? [line] : folded(line, width);
  });
}

/** The heading, and of an answer that does not stand right below its message, which message that is: others were queued, or are not shown. */
function headLines(block: string, entries: readonly ChatEntry[], index: number, view: View): string[] {
  const entry = entries[index] as ChatEntry;
  const first = heading(block, entry, view);
  const { replyTo } = entry;
  if (replyTo === undefined || entries[index - 1]?.id === replyTo) return [first];
  const message = entries.find(({ id }) => id === replyTo)?.content.trim() ?? '';
  return [first, view.style.dim(fit(`answers ${oneLine(message === '' ? replyTo : `${replyTo}: ${message}`)}`, Math.min(view.width, QUOTE_WIDTH)))];
}

/** Who wrote it, when, and its id; what is unusual about its outcome; the model of an answer. */
function heading(block: string, entry: ChatEntry, { now, style, width }: View): string {
  const { role, status, id, timestamp, provider, model } = entry;
  const who = oneLine(role === 'user' ? senderOf(entry) : block);
  const facts = [
    relative(timestamp, now),
    ...(status === 'done' ? [] : [status]),
    ...(provider === undefined || model === undefined ? [] : [modelOf({ provider, model })]),
    id,
  ];
  return `${style.bold(who)}  ${style.dim(fit(oneLine(facts.join('  ')), Math.max(width - who.length - 2, 8)))}`;
}

/** Who or what has sent a message. */
function senderOf({ channel, chain, clientId }: ChatEntry): string {
  if (channel === 'schedule') return `schedule ${clientId?.split(':')[1] ?? ''}`.trimEnd();
  if (channel === 'block') return `block ${chain?.at(-1)?.block ?? ''}`.trimEnd();
  const [link] = chain ?? [];
  if (link?.via === 'hook') return `hook ${link.hook ?? ''}`.trimEnd();
  if (link?.via === 'mcp') return link.key === undefined ? 'MCP' : `MCP, key ${link.key}`;
  return link?.via === 'key' && link.key !== undefined ? `key ${link.key}` : 'you';
}

/** The number of entries that a person asked for. Throws a CliError. */
export function entryCount(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text) || Number(text) < 1) throw new CliError('usage', '--limit (-n) must be a whole number above 0.');
  return Number(text);
}
