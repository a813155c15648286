// `blockhouse logs`: the log of a block's monitor.
import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'clipanion';
import * as t from 'typanion';
import type { Api } from '../api.ts';
import { CliError, type ExitKind } from '../exit-codes.ts';
import { atLeast, isLevel, type Level, LogTail, levelOf } from '../log-tail.ts';
import { oneLine, type Paint, toJson, writeLines } from '../output.ts';
import { ServerCommand } from '../server-command.ts';

const POLL_MS = 500;

/** Prints the lines, or JSON lines `{block, line}`. */
export class LogsCommand extends ServerCommand {
  static override readonly paths = [['logs']];
  static override readonly usage = Command.Usage({
    category: 'Blocks',
    description: 'Print the log of a block',
    details: 'Prints the last lines of all log files of the block, oldest first. With `--json`, each line is a JSON line.',
    examples: [
      ['The last lines', '$0 logs my-block'],
      ['Follow it', '$0 logs my-block -f -n 20'],
      ['Only what went wrong', '$0 logs my-block --level warn'],
    ],
  });

  follow = Option.Boolean('-f,--follow', false, { description: 'Stay and print new lines, until Ctrl-C' });
  lines = Option.String('-n,--lines', '100', { validator: t.cascade(t.isNumber(), [t.isInteger(), t.isAtLeast(0)]), description: 'How many lines; else 100' });
  level = Option.String('--level', { description: 'The lowest level: debug, info, warn or error' });
  name = Option.String({ name: 'name' });

  protected override async run(): Promise<ExitKind> {
    const level = this.level?.toLowerCase() ?? 'debug';
    if (!isLevel(level)) throw new CliError('usage', '--level must be one of debug, info, warn, error.');
    return this.withServer(async (api, signal) => {
      const tail = new LogTail();
      const first = await this.#fresh(api, tail, level);
      await this.#print(first.slice(Math.max(first.length - this.lines, 0)));
      while (this.follow) {
        await delay(POLL_MS, undefined, { signal });
        await this.#print(await this.#fresh(api, tail, level));
      }
      if (first.length === 0) await this.say(`${this.name} has no log${this.level === undefined ? ' yet' : ' of this level'}.`);
      return 'ok';
    });
  }

  async #fresh(api: Api, tail: LogTail, level: Level): Promise<string[]> {
    const lines = tail.take(await api.logs(this.name));
    return this.level === undefined ? lines : atLeast(lines, level);
  }

  async #print(lines: readonly string[]): Promise<void> {
    const { dim, warn, bad } = this.style;
    const paints: Partial<Record<Level, Paint>> = { debug: dim, warn, error: bad };
    const paint = (line: string): string => (paints[levelOf(line) ?? 'info'] ?? ((text: string) => text))(oneLine(line));
    await writeLines(this.stdout, lines.map(this.json ? (line) => toJson({ block: this.name, line }) : paint));
  }
}
