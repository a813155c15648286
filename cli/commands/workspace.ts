// `blockhouse doctor`, `halt` and `unhalt`, which concern the whole workspace.
import { Command, Option } from 'clipanion';
import type { DoctorReport, HaltState } from '../../core/index.ts';
import type { ExitKind } from '../exit-codes.ts';
import { plural, relative } from '../format.ts';
import { oneLine } from '../output.ts';
import { ServerCommand } from '../server-command.ts';

const category = 'Workspace';

/** Prints `{ok, checked, findings}`, or a line for each finding and its fix. */
export class DoctorCommand extends ServerCommand {
  static override readonly paths = [['doctor']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Check every file and message of the workspace',
    details: 'Changes nothing. Ends with exit code 1 when it finds an error.',
    examples: [['In a script', '$0 doctor --json']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const report = await api.check();
      await this.print(report, this.#lines(report));
      const { blocks, files, messages } = report.checked;
      const found = report.findings.length === 0 ? 'nothing wrong' : plural(report.findings.length, 'finding');
      await this.say(`Checked ${plural(blocks, 'block')}, ${plural(files, 'file')}, ${plural(messages, 'message')}: ${found}.`);
      return report.ok ? 'ok' : 'unexpected';
    });
  }

  #lines({ findings }: DoctorReport): string[] {
    const { bad, warn, dim } = this.style;
    return findings.flatMap(({ severity, place, problem, fix }) => [
      `${(severity === 'error' ? bad : warn)(severity.padEnd(7))} ${oneLine(`${place}: ${problem}`)}`,
      `        ${dim('fix:')} ${oneLine(fix)}`,
    ]);
  }
}

/** Prints `{halted, since, reason}`. */
export class HaltCommand extends ServerCommand {
  static override readonly paths = [['halt']];
  static override readonly usage = Command.Usage({
    category,
    description: 'The kill switch: no monitor calls a model until `unhalt`',
    details: 'Ends replies that are being written. Messages are still accepted and wait. The switch stays set after a restart of the server.',
    examples: [['With a reason', '$0 halt "wrong prompt in production"']],
  });

  reason = Option.String({ required: false, name: 'reason' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const state = await api.halt(this.reason);
      await this.print(state, []);
      await this.say(`${describe(state)} \`${this.hint('unhalt')}\` releases it.`);
      return 'ok';
    });
  }
}

/** Prints `{halted, since, reason}`. */
export class UnhaltCommand extends ServerCommand {
  static override readonly paths = [['unhalt']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Release the kill switch',
    examples: [['Release it', '$0 unhalt']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const state = await api.unhalt();
      await this.print(state, []);
      await this.say(describe(state));
      return 'ok';
    });
  }
}

function describe({ halted, since, reason }: HaltState): string {
  if (!halted) return 'Released: started monitors continue.';
  return `Halted${since == null ? '' : ` (${relative(since, Date.now())})`}${reason == null || reason === '' ? '' : `: ${oneLine(reason)}`}; no monitor calls a model, and replies that are being written end.`;
}
