// `blockhouse adapters`, `models` and `verify`. They need no server.
import { Command, Option } from 'clipanion';
import { stand } from '../banner.ts';
import { BaseCommand } from '../command.ts';
import type { ExitKind } from '../exit-codes.ts';
import { columns, oneLine } from '../output.ts';

const category = 'Providers';

/** Prints `{adapters: [metadata + ready]}`, or a table. */
export class AdaptersCommand extends BaseCommand {
  static override readonly paths = [['adapters']];
  static override readonly usage = Command.Usage({ category, description: 'List the adapters and whether each is configured' });

  protected override async run(): Promise<ExitKind> {
    const { readinessOf } = await import('../readiness.ts');
    return this.withCore(async (core) => {
      const readiness = readinessOf(core, this.context.env);
      const infos = core.adapters().map((info, index) => ({ ...info, ready: readiness[index]?.ready ?? false }));
      const rows = readiness.map((adapter) => [adapter.id, adapter.displayName, adapter.defaultModel, stand(adapter)]);
      await this.print({ adapters: infos }, columns([['ID', 'NAME', 'DEFAULT MODEL', 'CREDENTIAL'], ...rows]));
      return 'ok';
    });
  }
}

/** Prints `{provider, models, count}`, or the model ids. */
export class ModelsCommand extends BaseCommand {
  static override readonly paths = [['models']];
  static override readonly usage = Command.Usage({ category, description: 'List the models of an adapter, one on a line' });

  id = Option.String({ name: 'id' });

  protected override async run(): Promise<ExitKind> {
    return this.interruptible((signal) =>
      this.withCore(async (core) => {
        const list = await core.models(this.id, { signal });
        await this.print(list, list.models.map(oneLine));
        return 'ok';
      }),
    );
  }
}

/** Prints `{provider, ok, detail}`, or the detail; exit code 3 when `ok` is false. */
export class VerifyCommand extends BaseCommand {
  static override readonly paths = [['verify']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Check the credential of an adapter, or its address',
    details: 'Never sends anything to a model, so it costs nothing. Ends with exit code 3 when the check fails.',
  });

  id = Option.String({ name: 'id' });

  protected override async run(): Promise<ExitKind> {
    return this.interruptible((signal) =>
      this.withCore(async (core) => {
        const result = await core.verify(this.id, {}, { signal });
        await this.print(result, result.ok ? [oneLine(result.detail)] : []);
        if (!result.ok) await this.say(`blockhouse: ${oneLine(`${result.provider} does not work: ${result.detail}`)}`);
        return result.ok ? 'ok' : 'credentials';
      }),
    );
  }
}
