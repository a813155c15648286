// Reads a Dockerfile: its instructions in their order, each with its stage.

/** One instruction. */
export interface Instruction {
  /** 0 for the first stage. */
  readonly stage: number;
  /** In capitals. */
  readonly name: string;
  /** Its text, on one line. */
  readonly text: string;
  /** The words of its JSON form; undefined for the form of a shell. */
  readonly words: readonly string[] | undefined;
}

/** The instructions of a Dockerfile. */
export function instructionsOf(text: string): Instruction[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  let stage = -1;
  return lines.map((line) => {
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stage += 1;
    const json = /\[.*\]$/.exec(rest)?.[0];
    return { stage, name, text: rest, words: json === undefined ? undefined : (JSON.parse(json) as string[]) };
  });
}

/** The variables that ENV sets. */
export function variablesOf(instructions: readonly Instruction[]): Record<string, string> {
  const pairs = instructions.filter(({ name }) => name === 'ENV').flatMap(({ text }) => text.split(/\s+/));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}
