// What a rig has found: figures beside their promises, printed, and kept as rows for the table of all rigs.
import { writeFileSync } from 'node:fs';
import type { World } from './world.ts';

export interface Figure {
  readonly what: string;
  readonly measured: string;
  /** Left out where nothing was promised. */
  readonly promised?: string;
  readonly kept: boolean;
}

/** Where all.ts wants to read the figures of a rig. */
export const FIGURES_FILE = 'BLOCKHOUSE_FIGURES';

/** A broken promise makes the exit code 1. */
export class Verdict {
  readonly #figures: Figure[] = [];
  #group = '';

  /** What the figures are of, from now on. */
  of(group: string): void {
    this.#group = `${group}: `;
    print(`${group}:`);
  }

  /** `kept` says whether the promise is. */
  say(what: string, measured: string, promised: string, kept: boolean): void {
    this.#figures.push({ what: this.#group + what, measured, promised, kept });
    print(`${kept ? 'kept  ' : 'BROKEN'}  ${what.padEnd(44)} ${measured.padEnd(34)} promised: ${promised}`);
  }

  /** A figure that nothing was promised of. */
  tell(what: string, measured: string): void {
    this.#figures.push({ what: this.#group + what, measured, kept: true });
    print(`        ${what.padEnd(44)} ${measured}`);
  }

  /** None is promised; the first ones are printed. */
  sayFaults(what: string, faults: readonly string[], shown = 20): void {
    this.say(what, String(faults.length), '0', faults.length === 0);
    for (const fault of faults.slice(0, shown)) print(`        ${fault.slice(0, 600)}`);
  }

  /** What holds after every fault: the process lives, no secret was seen, nothing held up the event loop. */
  async sayInvariants(world: World): Promise<void> {
    this.#group = '';
    this.say('server', world.hasEnded ? `ended: ${world.output.slice(-2000)}` : 'alive', 'alive', !world.hasEnded);
    this.say('secrets seen', world.canaries.found.slice(0, 5).join(', ') || 'none', 'none', world.canaries.found.length === 0);
    const stallMs = await world.worstStallMs();
    this.say('longest stall of the event loop', `${stallMs.toFixed(0)} ms`, 'below 100 ms', stallMs < 100);
  }

  end(): void {
    const file = process.env[FIGURES_FILE];
    if (file !== undefined) writeFileSync(file, JSON.stringify(this.#figures));
    process.exitCode = this.#figures.every(({ kept }) => kept) ? 0 : 1;
  }
}

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** The value of an option. Throws where it is none from 1 to `most`. */
export function wholeNumber(name: string, text: string, most: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > most) throw new Error(`--${name} must be a whole number from 1 to ${most}`);
  return number;
}

/** "3 message, 1 config". */
export const countsOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
