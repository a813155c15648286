// `blockhouse logs`: the log of the server, of a block, or of all blocks.
import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'clipanion';
import * as t from 'typanion';
import type { LogFile } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine, type Paint, toJson, writeLines } from '../terminal/output.ts';
import { atLeast, isLevel, type Level, LogTail, levelOf } from '../views/log-tail.ts';

const POLL_MS = 500;

/** A line, and the block that wrote it; undefined for the server. */
interface Line {
  readonly block: string | undefined;
  readonly line: string;
}

/** Reads the log files of one source again. */
type Source = () => Promise<readonly LogFile[]>;

/** Prints the lines, or JSON lines `{block, line}`; `block` is null for the log of the server. */
export class LogsCommand extends ServerCommand {
  static override readonly paths = [['logs']];
  static override readonly usage = Command.Usage({
    category: 'Blocks',
    description: 'Print the log of the server or of blocks',
    details: `
      Without a block, it prints the log of the server, also after the server has ended. With one, it prints the log of that block, and
      with \`--all\` the logs of all blocks, with the name of the block in front of each line.

      Prints the last lines of all log files, oldest first. With \`--json\`, each line is a JSON line.
    `,
    examples: [
      ['Why did the server end?', '$0 logs --level warn'],
      ['Follow a block', '$0 logs my-block -f -n 20'],
      ['Follow all blocks', '$0 logs --all -f'],
    ],
  });

  follow = Option.Boolean('-f,--follow', false, { description: 'Stay and print new lines, until Ctrl-C' });
  lines = Option.String('-n,--limit', '100', {
    validator: t.cascade(t.isNumber(), [t.isInteger(), t.isAtLeast(0)]),
    description: 'How many lines; default: 100',
  });
  level = Option.String('--level', { description: 'The lowest level: debug, info, warn or error' });
  all = Option.Boolean('--all', false, { description: 'The logs of all blocks' });
  name = Option.String({ required: false, name: 'block' });

  protected override async run(): Promise<ExitKind> {
    const level = this.level?.toLowerCase() ?? 'debug';
    if (!isLevel(level)) throw new CliError('usage', '--level must be one of debug, info, warn, error.');
    const { all, name } = this;
    if (all && name !== undefined) throw new CliError('usage', 'Give either a block or --all, not both.');
    if (all) return this.withServer((api, signal) => this.#printAll(api, level, signal));
    if (name !== undefined) return this.withServer((api, signal) => this.#printOne(name, () => api.logs(name), level, signal));
    const { workspace } = await this.config();
    const { inWorkspace } = await import('../serve/place.ts');
    const { newestLogs } = await import('../../core/index.ts');
    const { serverLogs } = await import('../serve/server-log.ts');
    const read = async (): Promise<readonly LogFile[]> => inWorkspace(await this.config(), () => newestLogs(serverLogs(workspace)));
    return this.interruptible((signal) => this.#printOne(undefined, read, level, signal));
  }

  async #printOne(block: string | undefined, read: Source, level: Level, signal: AbortSignal): Promise<ExitKind> {
    const tail = new LogTail();
    const fresh = async (): Promise<Line[]> => this.#atLevel(tail.take(await read()), level).map((line) => ({ block, line }));
    return this.#show(fresh, `${block ?? 'The server'} has no log`, signal);
  }

  async #printAll(api: Api, level: Level, signal: AbortSignal): Promise<ExitKind> {
    const tails = new Map<string, LogTail>();
    const freshOf = async (block: string): Promise<Line[]> => {
      const tail = tails.get(block) ?? new LogTail();
      tails.set(block, tail);
      return this.#atLevel(tail.take(await api.logs(block)), level).map((line) => ({ block, line }));
    };
    const fresh = async (): Promise<Line[]> => {
      const { blocks } = await api.list();
      const lines: Line[] = [];
      for (const { name } of blocks) lines.push(...(await freshOf(name)));
      return lines.sort(byTime);
    };
    return this.#show(fresh, 'No block has a log', signal);
  }

  #atLevel(lines: readonly string[], level: Level): readonly string[] {
    return this.level === undefined ? lines : atLeast(lines, level);
  }

  async #show(fresh: () => Promise<Line[]>, none: string, signal: AbortSignal): Promise<ExitKind> {
    const first = await fresh();
    await this.#print(first.slice(Math.max(first.length - this.lines, 0)));
    while (this.follow) {
      await delay(POLL_MS, undefined, { signal });
      await this.#print(await fresh());
    }
    if (first.length === 0) await this.say(`${none}${this.level === undefined ? ' yet' : ' of this level'}.`);
    return 'ok';
  }

  async #print(lines: readonly Line[]): Promise<void> {
    const { dim, warn, bad } = this.style;
    const paints: Partial<Record<Level, Paint>> = { debug: dim, warn, error: bad };
    const width = this.all ? Math.max(0, ...lines.map(({ block }) => block?.length ?? 0)) : 0;
    const painted = ({ block, line }: Line): string => {
      const text = (paints[levelOf(line) ?? 'info'] ?? ((plain: string) => plain))(oneLine(line));
      return this.all ? `${(block ?? '').padEnd(width)}  ${text}` : text;
    };
    await writeLines(this.stdout, lines.map(this.json ? ({ block = null, line }) => toJson({ block, line }) : painted));
  }
}

/** Lines begin with their time in ISO 8601. The sort is stable, so the lines of one block keep their order. */
function byTime(a: Line, b: Line): number {
  const [first, second] = [a.line.slice(0, TIME_CHARACTERS), b.line.slice(0, TIME_CHARACTERS)];
  return first < second ? -1 : first > second ? 1 : 0;
}

const TIME_CHARACTERS = '2026-11-20T14:03:22.123Z'.length;
