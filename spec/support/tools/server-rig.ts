// A workspace with servers of tools, which a test looks at and approves.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Test } from 'tap';
import { Book } from '../../../adapters/tools/book.ts';
import type { BookOptions } from '../../../adapters/tools/host-options.ts';
import { ManagedServers } from '../../../adapters/tools/managed-servers.ts';
import { SkillBook } from '../../../adapters/tools/skills/skill-book.ts';
import type { BlockhouseError } from '../../../core/errors.ts';
import { testFolder } from '../test-folder.ts';
import { FakeSessions, readFileTool } from './fake-sessions.ts';

export const FILES = { command: 'files-server', args: ['/srv/shared'] };

export interface ServerRig {
  readonly workspace: string;
  readonly book: Book;
  readonly servers: ManagedServers;
  readonly sessions: FakeSessions;
  readonly skills: SkillBook;
  /** Writes a SKILL.md, or another file of a skill. */
  writeSkill(path: string, text: string): void;
  /** Writes mcp.json by hand. */
  write(document: unknown): void;
  read(file: string): unknown;
  text(file: string): string;
  /** Looks at a server, and approves all that it shows. */
  approve(name: string): Promise<void>;
}

export function serverRig(t: Test, options: Partial<BookOptions> = {}): ServerRig {
  const workspace = options.workspace ?? testFolder(t, {});
  const sessions = new FakeSessions();
  let tick = 0;
  // A look at each use, so that a change by hand is seen at once.
  const book = new Book({ env: { HOME: '/home/ada' }, clock: () => 1_796_000_000_000, now: () => (tick += 1000), ...options, workspace }, (server) => {
    sessions.ended.push(server);
  });
  const servers = new ManagedServers(book, sessions);
  sessions.onTools((server, tools) => {
    noted = servers.noteListed(server, tools);
  });
  let noted: Promise<void> = Promise.resolve();
  t.teardown(() => noted);
  sessions.lists.set('files', [readFileTool()]);
  const text = (file: string): string => (existsSync(`${workspace}/${file}`) ? readFileSync(`${workspace}/${file}`, 'utf8') : '');
  return {
    workspace,
    book,
    servers,
    sessions,
    skills: new SkillBook(workspace, book.pins, () => 1_796_000_000_000),
    writeSkill: (path, skill) => {
      mkdirSync(dirname(`${workspace}/${path}`), { recursive: true });
      writeFileSync(`${workspace}/${path}`, skill);
    },
    write: (document) => writeFileSync(`${workspace}/mcp.json`, typeof document === 'string' ? document : JSON.stringify(document)),
    read: (file) => JSON.parse(text(file)),
    text,
    approve: async (name) => {
      const { definition } = await servers.get(name);
      const { tools } = await servers.test(name, { definition }, new AbortController().signal);
      const hashes = tools.filter(({ state }) => state !== 'unusable' && state !== 'gone').map((tool) => [tool.name, tool.hash]);
      await servers.approve(name, { definition, tools: Object.fromEntries(hashes) }, 'cli');
    },
  };
}

/** The code and the message of what a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<Pick<BlockhouseError, 'code' | 'message'>> {
  try {
    await promise;
  } catch (error) {
    const { code, message } = error as BlockhouseError;
    return { code, message };
  }
  throw new Error('it was not refused');
}
