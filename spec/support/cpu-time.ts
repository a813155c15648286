// How much processor time the specs of a group took: of the process itself and of the processes that it started and has waited for.
//
// Linux counts that for each process. Elsewhere only the process itself is counted. The pages of a browser run in processes that nobody waits for, and a database
// ends after its group: the specs of the page take about twice what is counted here. A control group counts all of it (`cpuacct.usage`).
import { readFileSync, writeFileSync } from 'node:fs';
import { env } from 'node:process';

/** The file into which a group writes its `CpuReport`; unset where nobody asks. */
export const CPU_FILE = 'BLOCKHOUSE_TEST_CPU_FILE';
/** Linux counts in hundredths of a second, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100;

/** Seconds of processor time, user and system, by spec. What starting Node, tap and the loader took is under the empty name. */
export type CpuReport = Readonly<Record<string, number>>;

/** Seconds of processor time that this process and the children that it has waited for took so far. */
export function spentSeconds(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  // `pid (name) state …`: utime, stime, cutime and cstime are the fields 14 to 17, and the name may have spaces.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

/** Notes what each spec takes, and writes it when the process ends. */
export class CpuNotes {
  readonly #report: Record<string, number> = {};
  #current = '';
  #from = 0;

  constructor(path = env[CPU_FILE]) {
    if (path === undefined) return;
    process.once('exit', () => {
      this.begin('');
      writeFileSync(path, JSON.stringify(this.#report satisfies CpuReport));
    });
  }

  /** The spec before has ended. */
  begin(spec: string): void {
    const now = spentSeconds();
    this.#report[this.#current] = (this.#report[this.#current] ?? 0) + now - this.#from;
    this.#current = spec;
    this.#from = now;
  }
}
