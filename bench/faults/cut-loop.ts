// Cuts the power of a server's disk again and again while people work on it, and looks at what is left after each time: the next life begins with
// what the last cut has left.
import { type Ending, Lives, type LivesReport } from '../../spec/support/crash/lives.ts';
import { CutDisk, type DriveCache } from './cut-disk.ts';

export interface CutOptions {
  readonly cuts: number;
  /** No further cut after this time. */
  readonly seconds: number;
  readonly seed: number;
  /** For Node itself, where the server runs. */
  readonly nodeFlags: readonly string[];
  readonly onCut: () => void;
  /** A copy of the workspace is left there with the first fault. */
  readonly keep: string;
}

export interface CutReport extends LivesReport {
  readonly cuts: Readonly<Record<DriveCache, number>>;
}

const BLOCKS = ['cut-0', 'cut-1', 'cut-2', 'cut-3', 'cut-4'];

/** Counts them in `cuts`. */
function powerCut(disk: CutDisk, cuts: Record<DriveCache, number>): Ending {
  return {
    plural: 'cuts',
    chanceOfStarting: 0.1,
    chanceOfEnding: 0.1,
    longestStartMs: 800,
    longestWorkMs: 160,
    mostEvents: 12,
    longestLifeMs: 1500,
    async end(server, daemon, random) {
      const cache = random.pick(['kept', 'lost'] as const);
      cuts[cache] += 1;
      await daemon.judgeBreaks(() => server.isDying); // the disk kills it at a moment of its own
      await disk.cut(server.pid, cache);
    },
    isPowerCut: true,
    restore: (random) => disk.restore(random.chance(0.5)),
  };
}

export async function cutAgainAndAgain({ cuts: most, seconds, seed, nodeFlags, onCut, keep }: CutOptions): Promise<CutReport> {
  const disk = new CutDisk();
  const cuts = { kept: 0, lost: 0 };
  const { workspace } = disk;
  const lives = new Lives({ workspace, seed, most, seconds, nodeFlags, blocks: BLOCKS, ending: powerCut(disk, cuts), onEnd: onCut });
  let isFaulty = false;
  try {
    await disk.make();
    const report = await lives.run();
    isFaulty = report.faults.length > 0;
    return { ...report, cuts };
  } finally {
    disk.remove(isFaulty ? keep : undefined);
  }
}
