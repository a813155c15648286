// Runs a command line of `blockhouse`. Only the module of the called command is loaded.
import type { BaseContext, CommandClass } from 'clipanion';
import { COMPLETE_COMMAND } from '../complete/completion-scripts.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { isColored, toJson, widthOf, writeLines } from '../terminal/output.ts';
import { COMMAND_INDEX } from './command-index.ts';
import { allCommands, COMMAND_MODULES } from './command-modules.ts';
import { groupOverview, overview, ReadableCli } from './usage.ts';
import { usageLines } from './usage-errors.ts';

const LABEL = 'Blockhouse: named LLM agents in plain files, and one gateway to five providers';

/** Turns `send ada --help`, `help send` and `--help send` into `send --help`: clipanion knows the option only directly after the words of a command. */
function withHelpFirst(argv: readonly string[]): string[] {
  const asksFirst = argv[0] === 'help' || (argv.length > 1 && (argv[0] === '--help' || argv[0] === '-h'));
  if (asksFirst) return withHelpFirst([...argv.slice(1), '--help']);
  const end = endOfOwn(argv);
  if (!argv.slice(0, end).some((word) => word === '--help' || word === '-h')) return [...argv];
  const paths = COMMAND_INDEX.flatMap((entry) => entry.paths).filter(
    (path) => path.length > 0 && path.every((word, index) => !word.startsWith('-') && argv[index] === word),
  );
  const longest = paths.reduce<readonly string[]>((best, path) => (path.length > best.length ? path : best), []);
  return longest.length === 0 ? [...argv] : [...longest, '--help'];
}

/** Where the words end that are for this program: those behind the name of a program that `launch` starts are for that one. */
function endOfOwn(argv: readonly string[]): number {
  const dashes = argv.indexOf('--');
  const end = dashes === -1 ? argv.length : dashes;
  return argv[0] === 'launch' && argv[1]?.startsWith('-') === false ? Math.min(end, 2) : end;
}

/** The commands that begin with this word; all where none does, so that the error can name what was probably meant. */
async function commandsOf(word: string | undefined): Promise<readonly CommandClass<BaseContext>[]> {
  const found = COMMAND_INDEX.filter(({ paths }) => paths.some(([first]) => first === word)).map(({ module }) => module);
  if (found.length === 0) return allCommands();
  return (await Promise.all([...new Set(found)].map((module) => COMMAND_MODULES[module]()))).flat();
}

/** Runs a command line with the streams and environment of `context` and resolves with the exit code. Never rejects. */
export async function runProgram(argv: readonly string[], context: BaseContext): Promise<number> {
  if (argv[0] === COMPLETE_COMMAND) return (await import('../complete/completion.ts')).runCompletion(argv.slice(1), context);
  const words = argv.length === 0 ? ['serve'] : withHelpFirst(argv);
  if (words.length === 1 && (words[0] === '--help' || words[0] === '-h')) {
    await writeLines(context.stdout, [overview(COMMAND_INDEX, LABEL, widthOf(context.stdout)).trimEnd()]);
    return EXIT_CODES.ok.code;
  }
  const group = words.at(-1) === '--help' ? groupOverview(words.slice(0, -1), COMMAND_INDEX, widthOf(context.stdout)) : undefined;
  if (group !== undefined) {
    await writeLines(context.stdout, [group.trimEnd()]);
    return EXIT_CODES.ok.code;
  }
  const cli = new ReadableCli({ binaryName: 'blockhouse', binaryLabel: LABEL, enableColors: isColored(context.stdout, context.env) });
  cli.columns = widthOf(context.stdout);
  for (const command of await commandsOf(words[0])) cli.register(command);
  try {
    return await cli.run(cli.process(words, context), context);
  } catch (error) {
    const lines = usageLines(
      error,
      argv,
      COMMAND_INDEX.flatMap(({ paths }) => paths),
    );
    if (argv.includes('--json')) await writeLines(context.stdout, [toJson({ error: lines[0]?.replace(/^blockhouse: /, '') })]);
    await writeLines(context.stderr, lines);
    return EXIT_CODES.usage.code;
  }
}
