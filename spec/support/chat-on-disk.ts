// A block with a conversation, as its files have it before the server starts.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One message or answer. */
export interface Said {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

const BEGIN_MS = Date.UTC(2026, 0, 1);

/** The id of an entry, which sorts by its place. */
export function entryId(index: number): string {
  return `e${String(index).padStart(6, '0')}`;
}

/** Writes the block. Every message has been answered, a minute after the one before. */
export function writeChat(workspace: string, name: string, said: readonly Said[]): void {
  const folder = join(workspace, 'blocks', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ name, adapter: { provider: 'ollama', model: 'stand-in' } }));
  const entries = said.map(({ role, content }, index) => ({
    id: entryId(index),
    role,
    content,
    timestamp: new Date(BEGIN_MS + index * 60_000).toISOString(),
    processed: true,
    status: 'done',
    channel: 'web',
    ...(role === 'assistant' && { replyTo: entryId(index - 1) }),
  }));
  writeFileSync(join(folder, 'chat.json'), JSON.stringify(entries));
}
