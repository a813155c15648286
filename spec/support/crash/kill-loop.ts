// Kills a server again and again while people work on it, and looks at what is left after each time.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ending, Lives, type LivesReport } from './lives.ts';

export interface KillOptions {
  /** Absolute path of an empty folder. */
  readonly workspace: string;
  readonly kills: number;
  /** No further kill after this time; a busy machine may come to fewer. */
  readonly seconds?: number;
  readonly seed: number;
  readonly blocks?: number;
  /** Told after each kill. */
  readonly onKill?: (count: number) => void;
}

export interface KillReport extends LivesReport {
  readonly kills: number;
}

/** Messages of the first block that are there before all: its oldest entries move to chat-archive/ from the beginning. */
const OLD_MESSAGES = 274;

const KILL: Ending = {
  plural: 'kills',
  chanceOfStarting: 0.15,
  chanceOfEnding: 0.15,
  longestWorkMs: 120,
  mostEvents: 8,
  longestPauseMs: 8,
  longestLifeMs: 1000,
  async end(server, daemon) {
    server.child.kill('SIGSTOP'); // nothing is left, or written, between the last look at it and its end
    await daemon.judgeBreaks('killed');
    await server.kill();
  },
};

export async function killAgainAndAgain({ workspace, kills, seconds, seed, blocks = 5, onKill }: KillOptions): Promise<KillReport> {
  const names = Array.from({ length: blocks }, (_, index) => `kill-${index}`);
  const onMade = (): void => writeOldMessages(workspace, names[0]);
  const lives = new Lives({ workspace, seed, most: kills, seconds, blocks: names, ending: KILL, onMade, onEnd: onKill });
  const report = await lives.run();
  return { ...report, kills: report.ends };
}

function writeOldMessages(workspace: string, block: string | undefined): void {
  if (block === undefined) return;
  const folder = join(workspace, 'blocks', block);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'chat.json'), JSON.stringify(Array.from({ length: OLD_MESSAGES }, (_, index) => oldExchange(index)).flat()));
}

/** As by hand, long ago. */
function oldExchange(index: number): object[] {
  const id = `m00000${String(index).padStart(4, '0')}`;
  const timestamp = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
  const common = { timestamp, processed: true, status: 'done', channel: 'web' };
  return [
    { id: `${id}a`, role: 'user', content: `old ${index}`, ...common },
    { id: `${id}b`, role: 'assistant', content: `${index} is old`, replyTo: `${id}a`, ...common },
  ];
}
