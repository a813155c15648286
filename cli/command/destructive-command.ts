// The base of the commands that take something away.
import { Option } from 'clipanion';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { ServerCommand } from './server-command.ts';

/** A command that asks before it works: at a terminal with a question, elsewhere for `--yes`. */
export abstract class DestructiveCommand extends ServerCommand {
  yes = Option.Boolean('-y,--yes', false, { description: 'Do not ask' });

  /** Does work once the person agrees. `loss` is the sentence for who can't be asked. Rejects with a CliError. */
  protected async onceAgreed(question: string, loss: string, work: () => Promise<ExitKind>): Promise<ExitKind> {
    const refuse = (): never => {
      throw new CliError('usage', `${loss} Add --yes to confirm.`);
    };
    const isAgreed = this.yes || (await this.interruptible(async () => ((await this.agreed(question, refuse)) ? 'ok' : 'unexpected'))) === 'ok';
    if (isAgreed) return work();
    await this.say('Nothing was done.');
    return 'unexpected';
  }
}
