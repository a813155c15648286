// `blockhouse rename`, `rm`, `archive ls`, `restore` and `purge`: the places and names of blocks.
import { Command, Option } from 'clipanion';
import { DestructiveCommand } from '../command/destructive-command.ts';
import { ServerCommand } from '../command/server-command.ts';
import { type ExitKind, suggestAnotherName } from '../terminal/exit-codes.ts';
import { oneLine, writeLines } from '../terminal/output.ts';
import { archiveTable } from '../views/report-tables.ts';

const category = 'Archive';

/** Prints the archive names, or `{results: [{name, success, archiveName | error}]}`. */
export class RemoveCommand extends DestructiveCommand {
  static override readonly paths = [['rm'], ['remove'], ['delete']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Move blocks to the archive',
    details:
      'Stops the monitor first. Nothing is lost: `restore` brings the block back. At a terminal, it asks first; elsewhere it needs `--yes`. Prints the archive names.',
    examples: [['Archive one block', '$0 rm my-block']],
  });

  names = Option.Rest({ name: 'block', required: 1 });

  protected override async run(): Promise<ExitKind> {
    const names = this.names.map(oneLine).join(', ');
    return this.onceAgreed(`Move ${names} to the archive?`, `This moves ${names} to the archive.`, () =>
      this.withServer((api) =>
        this.forEach(this.names, async (name) => {
          const { archiveName, success } = await api.archive(name);
          if (!this.json) await writeLines(this.stdout, [oneLine(archiveName)]);
          return { success, archiveName, message: `Archived ${name}; \`${this.hint('restore', archiveName)}\` brings it back.` };
        }),
      ),
    );
  }
}

/** Prints `{archives}`, or a table. */
export class ArchiveListCommand extends ServerCommand {
  static override readonly paths = [['archive', 'ls'], ['archive', 'list'], ['archive']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List the archived blocks',
    examples: [['All of them, newest first', '$0 archive ls']],
  });

  quiet = Option.Boolean('-q,--quiet', false, { description: 'Only the archive names, one per line' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const archives = await api.archives();
      const names = archives.map(({ archiveName }) => oneLine(archiveName));
      const lines = (): string[] => (this.quiet ? names : archiveTable(archives, { now: Date.now(), width: this.width, style: this.style }));
      await this.print({ archives }, this.json || archives.length === 0 ? [] : lines());
      if (archives.length === 0 && !this.json && !this.quiet) await this.say('The archive is empty.');
      return 'ok';
    });
  }
}

/** Prints the server's answer `{success, message, name}`, or the new name. */
export class RenameCommand extends ServerCommand {
  static override readonly paths = [['rename']];
  static override readonly usage = Command.Usage({
    category: 'Blocks',
    description: 'Give a block another name',
    details: `
      A monitor that runs is stopped and started again. What the block has spent counts under its new name too, and \`$0 costs\` shows it
      under the old one.
    `,
    examples: [['Another name', '$0 rename my-block support']],
  });

  old = Option.String({ name: 'old' });
  name = Option.String({ name: 'new' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const renamed = await api.rename(this.old, this.name);
      await this.print(renamed, [oneLine(renamed.name)]);
      await this.say(oneLine(renamed.message));
      return 'ok';
    });
  }
}

/** Prints the server's answer `{success, message, name}`, or the name. */
export class RestoreCommand extends ServerCommand {
  static override readonly paths = [['restore']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Bring a block back from the archive',
    details: 'Takes an archive name, or the name of the block if only one archive has it. The restored block is stopped. Prints its name.',
    examples: [
      ['As it was', '$0 restore my-block'],
      ['Under another name', '$0 restore my-block --as second'],
    ],
  });

  as = Option.String('--as', { description: 'Another name for the block' });
  archive = Option.String({ name: 'archive' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const restored = await api.restore(this.archive, this.as).catch(suggestAnotherName);
      await this.print(restored, [oneLine(restored.name)]);
      await this.say(`Restored. \`${this.hint('start', restored.name)}\` starts it.`);
      return 'ok';
    });
  }
}

/** Deletes permanently. */
export class PurgeCommand extends DestructiveCommand {
  static override readonly paths = [['purge']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Delete an archived block for good',
    details: 'At a terminal, it asks first; elsewhere it needs `--yes`. What it has spent stays in `blockhouse costs`.',
    examples: [['Without a question', '$0 purge my-block --yes']],
  });

  archive = Option.String({ name: 'archive' });

  protected override async run(): Promise<ExitKind> {
    const question = `Permanently delete ${oneLine(this.archive)}, with its configuration, memory and messages?`;
    return this.onceAgreed(question, 'This deletes the block permanently.', () =>
      this.withServer(async (api) => {
        const purged = await api.purge(this.archive);
        await this.print(purged, []);
        await this.say(oneLine(purged.message));
        return 'ok';
      }),
    );
  }
}
