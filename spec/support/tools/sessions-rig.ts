// Sessions with the hostile server, and what a test asks of them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { ServerSessions, type SessionsOptions } from '../../../adapters/tools/sessions.ts';
import type { CallableServer, FullServerSettings } from '../../../adapters/tools/server.ts';
import type { JsonRecord, ToolCallRequest, ToolOutcome, ToolQuestion } from '../../../core/index.ts';
import { testFolder } from '../test-folder.ts';
import { nodeServer } from './stand-in-book.ts';

export const HOSTILE = join(import.meta.dirname, 'hostile-server.mjs');

/** How the hostile server is started. */
export interface HostileOptions {
  readonly era?: 'legacy' | 'modern';
  readonly deaf?: boolean;
  readonly atStart?: 'exit' | 'silent' | 'grandchild' | 'detached' | 'refuse';
  readonly tools?: number;
  readonly endless?: boolean;
  /** The description of each tool. */
  readonly describes?: string;
  /** It refuses to list its tools, in these words. */
  readonly listFault?: string;
}

export interface Rig {
  readonly workspace: string;
  readonly sessions: ServerSessions;
  hostile(options?: HostileOptions, settings?: Partial<FullServerSettings>, more?: Partial<CallableServer>): CallableServer;
  call(server: CallableServer, tool: string, args?: JsonRecord, more?: Partial<ToolCallRequest> & { readonly signal?: AbortSignal }): Promise<ToolOutcome>;
  /** What the processes of the server have told, a line each. */
  told(): readonly string[];
  /** The numbers of all processes that were started. */
  pids(): readonly number[];
}

let calls = 0;

export function sessionsRig(t: Test, options: Partial<SessionsOptions> = {}): Rig {
  const workspace = testFolder(t, {});
  const note = join(workspace, 'note');
  const sessions = new ServerSessions({ workspace, env: process.env, backOffMs: 1, ...options });
  t.teardown(() => sessions.close());
  const told = (): readonly string[] => (existsSync(note) ? readFileSync(note, 'utf8').trimEnd().split('\n') : []);
  return {
    workspace,
    sessions,
    hostile: ({ era = 'legacy', ...how } = {}, settingsOf = {}, more = {}) =>
      nodeServer('hostile', [HOSTILE, JSON.stringify({ era, note, ...how })], { era, settingsOf, isReadOnly: false, ...more }),
    call: (server, tool, args = {}, { signal = new AbortController().signal, ...more } = {}) => {
      calls += 1;
      const request = {
        block: 'ada',
        server: server.name,
        tool,
        arguments: args,
        pin: 'p',
        timeoutMs: 60_000,
        maxBytes: 8_388_608,
        callId: `ada/m/${calls}.1`,
        ...more,
      };
      return sessions.call(server, request, signal) as Promise<ToolOutcome>; // a question is for the test to know
    },
    told,
    pids: () => told().flatMap((line) => (line.startsWith('started ') ? [Number(line.slice('started '.length))] : [])),
  };
}

/** True while a process runs. One that has ended and that nobody has asked about does not. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

export const textOf = (outcome: ToolOutcome | ToolQuestion): string =>
  outcome.kind === 'result' ? outcome.parts.map(({ text }) => text).join('\n') : JSON.stringify(outcome.requests);
