// The list of commands of `blockhouse`, and the function that runs one.
import { type BaseContext, Builtins } from 'clipanion';
import { AdaptersCommand, ModelsCommand, VerifyCommand } from './commands/adapters.ts';
import { ArchiveListCommand, PurgeCommand, RemoveCommand, RestoreCommand } from './commands/archive.ts';
import { AttachCommand } from './commands/attach.ts';
import { AuthCommand, AuthListCommand, AuthRemoveCommand, AuthSetCommand } from './commands/auth.ts';
import { ListCommand, NewCommand, ShowCommand, WhyCommand } from './commands/blocks.ts';
import { ChatCommand } from './commands/chat.ts';
import { ConfigCommand, ConfigEditCommand, ConfigGetCommand, ConfigSetCommand } from './commands/config.ts';
import { HistoryCommand } from './commands/history.ts';
import { LogsCommand } from './commands/logs.ts';
import { CostsCommand, MemoryCommand } from './commands/memory.ts';
import { ResetCommand, RestartCommand, StartCommand, StopCommand } from './commands/monitor.ts';
import { QueueCommand, SendCommand } from './commands/send.ts';
import { ServeCommand } from './commands/serve.ts';
import { TokenCommand } from './commands/token.ts';
import { ExportCommand, ImportCommand } from './commands/transfer.ts';
import { VersionCommand } from './commands/version.ts';
import { DoctorCommand, HaltCommand, UnhaltCommand } from './commands/workspace.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { isColored, toJson, writeLines } from './output.ts';
import { ReadableCli, usageLines } from './usage.ts';

const COMMANDS = [
  ServeCommand,
  TokenCommand,
  ListCommand,
  NewCommand,
  ShowCommand,
  WhyCommand,
  StartCommand,
  StopCommand,
  RestartCommand,
  ResetCommand,
  ConfigGetCommand,
  ConfigSetCommand,
  ConfigEditCommand,
  ConfigCommand,
  MemoryCommand,
  LogsCommand,
  SendCommand,
  AttachCommand,
  HistoryCommand,
  QueueCommand,
  RemoveCommand,
  ArchiveListCommand,
  RestoreCommand,
  PurgeCommand,
  ExportCommand,
  ImportCommand,
  CostsCommand,
  DoctorCommand,
  HaltCommand,
  UnhaltCommand,
  ChatCommand,
  AdaptersCommand,
  ModelsCommand,
  VerifyCommand,
  AuthCommand,
  AuthSetCommand,
  AuthListCommand,
  AuthRemoveCommand,
  VersionCommand,
  Builtins.HelpCommand,
];

/** Turns `send ada --help` and `help send` into `send --help`: clipanion knows the option only directly after the words of a command. */
function withHelpFirst(argv: readonly string[]): string[] {
  if (argv[0] === 'help') return withHelpFirst([...argv.slice(1), '--help']);
  const end = argv.indexOf('--');
  if (!argv.slice(0, end === -1 ? argv.length : end).some((word) => word === '--help' || word === '-h')) return [...argv];
  const paths = COMMANDS.flatMap(({ paths = [] }) => paths).filter(
    (path) => path.length > 0 && path.every((word, index) => !word.startsWith('-') && argv[index] === word),
  );
  const longest = paths.reduce<readonly string[]>((best, path) => (path.length > best.length ? path : best), []);
  return longest.length === 0 ? [...argv] : [...longest, '--help'];
}

/** Runs a command line with the streams and environment of `context` and resolves with the exit code. Never rejects. */
export async function runProgram(argv: readonly string[], context: BaseContext): Promise<number> {
  const cli = new ReadableCli({
    binaryName: 'blockhouse',
    binaryLabel: 'Blockhouse: named LLM agents in plain files, and one gateway to five providers',
    enableColors: isColored(context.stdout, context.env),
  });
  for (const command of COMMANDS) cli.register(command);
  if (argv.length === 0) {
    await writeLines(context.stderr, [cli.usage().trimEnd()]);
    return EXIT_CODES.usage.code;
  }
  try {
    return await cli.run(cli.process(withHelpFirst(argv), context), context);
  } catch (error) {
    const lines = usageLines(error, argv);
    if (argv.includes('--json')) await writeLines(context.stdout, [toJson({ error: lines[0]?.replace(/^blockhouse: /, '') })]);
    await writeLines(context.stderr, lines);
    return EXIT_CODES.usage.code;
  }
}
