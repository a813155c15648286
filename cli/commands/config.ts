// `blockhouse config`: the configuration of a block.
import { Command, Option } from 'clipanion';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { repeatedOnce } from '../input/repeated-once.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { manyLines, toJson, writeLines } from '../terminal/output.ts';

const category = 'Blocks';
const INDENT = 2;
const SERVERS_OWN = ['createdAt', 'updatedAt', 'rev'] as const;

/** Prints the configuration, or the value at a path. */
export class ConfigGetCommand extends ServerCommand {
  static override readonly paths = [['config', 'get']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Print the configuration of a block, or a part of it',
    details: 'A string is printed as it is, anything else as JSON.',
    examples: [
      ['All of it', '$0 config get my-block'],
      ['One value', '$0 config get my-block adapter.model'],
    ],
  });

  name = Option.String({ name: 'block' });
  field = Option.String({ required: false, name: 'path' });

  protected override async run(): Promise<ExitKind> {
    const { parsePath, readPath } = await import('../input/config-path.ts');
    const path = this.field === undefined ? [] : parsePath(this.field);
    return this.withServer(async (api) => {
      const value = readPath({ ...(await api.config(this.name)) }, path);
      if (value === undefined) throw new CliError('usage', `The configuration of ${this.name} has no field ${this.field}.`);
      const isText = typeof value === 'string' && !this.json;
      await writeLines(this.stdout, [isText ? manyLines(value) : toJson(value, this.json ? undefined : INDENT)]);
      return 'ok';
    });
  }
}

/** Prints `{success, config, warnings}`. Repeats the change once when the revision has changed meanwhile. */
export class ConfigSetCommand extends ServerCommand {
  static override readonly paths = [['config', 'set']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Change values of the configuration of a block',
    details: `
      Each change is \`<path>=<value>\`. A value that is not valid JSON is a string. Several changes are made together or not at all.
      Keys do not belong here; \`blockhouse auth set\` stores them.
    `,
    examples: [
      ['Another model', '$0 config set my-block adapter.model=<model>'],
      ['Limits', '$0 config set my-block budget.dailyUsd=2 adapter.maxTokens=2048'],
      ['A list', `$0 config set my-block 'tags=["mail","night"]'`],
    ],
  });

  name = Option.String({ name: 'block' });
  changes = Option.Rest({ name: 'path=value', required: 1 });

  protected override async run(): Promise<ExitKind> {
    const { parseAssignment, patchOf } = await import('../input/config-path.ts');
    const assignments = this.changes.map(parseAssignment);
    const isNested = assignments.some(({ path }) => path.length > 1);
    const fields = new Set(assignments.flatMap(({ path }) => path.slice(0, 1)));
    const own = SERVERS_OWN.filter((field) => fields.has(field));
    if (own.length > 0) throw new CliError('usage', `${own.join(', ')} can't be set; only the server changes it.`);
    return this.withServer(async (api) => {
      const { config, warnings } = await repeatedOnce(async () => {
        const before = await api.config(this.name);
        const patch = patchOf({ ...before }, assignments);
        await assertKnown(patch, before);
        return api.updateConfig(this.name, patch, isNested ? before.rev : undefined);
      });
      await this.print({ success: true, config, warnings }, []);
      await this.say(`Changed; the configuration of ${this.name} is now at revision ${config.rev}.`);
      await this.sayWarnings(warnings);
      return 'ok';
    });
  }
}

/** A misspelt field would be saved and have no effect. Those that are in the file already may be changed. Rejects with a CliError. */
async function assertKnown(patch: unknown, before: object): Promise<void> {
  const { unknownFields } = await import('../../core/index.ts');
  const kept = new Set(unknownFields(before).map(({ field }) => field));
  const [fault] = unknownFields(patch).filter(({ field }) => !kept.has(field));
  if (fault === undefined) return;
  throw new CliError('usage', `There is no field ${fault.field}.${fault.meant === undefined ? '' : ` Did you mean ${fault.meant}?`}`);
}

/** Prints `{success, changed, config, warnings}`. */
export class ConfigEditCommand extends ServerCommand {
  static override readonly paths = [['config', 'edit']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Edit the configuration of a block in your editor',
    details:
      'The editor is VISUAL, else EDITOR. Without changes, nothing is sent. A change that somebody else made meanwhile is never overwritten. A text that is refused is kept, and the error names its file.',
    examples: [['With another editor', 'EDITOR=nano $0 config edit my-block']],
  });

  name = Option.String({ name: 'block' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const { edit, editable } = await import('../input/config-edit.ts');
      const config = await api.config(this.name);
      const before = editable(config);
      const text = `${JSON.stringify(before, undefined, INDENT)}\n`;
      const draft = await edit(text, this.context.env);
      try {
        const after = await draft.read();
        const changed = after === text ? undefined : await this.#send(api, before, after, config.rev);
        await this.print({ success: true, changed: changed !== undefined, config: changed?.config ?? config, warnings: changed?.warnings }, []);
        await this.say(changed === undefined ? 'Nothing was changed.' : `Changed; the configuration of ${this.name} is now at revision ${changed.config.rev}.`);
        await this.sayWarnings(changed?.warnings);
      } catch (error) {
        throw keptAt(draft.file, error);
      }
      await draft.remove();
      return 'ok';
    });
  }

  /** Undefined when no field has changed. */
  async #send(api: Api, before: Record<string, unknown>, text: string, rev: number): Promise<Awaited<ReturnType<Api['updateConfig']>> | undefined> {
    const { changedFields, parseFields } = await import('../input/config-edit.ts');
    const after = await parseFields(text, 'The text');
    const gone = Object.keys(before).filter((field) => !Object.hasOwn(after, field));
    if (gone.length > 0) await this.say(`note: ${gone.join(', ')} was kept, because a field can be changed but not removed.`);
    const patch = changedFields(before, after);
    return Object.keys(patch).length === 0 ? undefined : api.updateConfig(this.name, patch, rev);
  }
}

function keptAt(file: string, error: unknown): unknown {
  if (!(error instanceof CliError)) return error;
  return new CliError(error.kind, `${error.message.replace(/\.$/, '')}; your text is kept in ${file}.`, error, error.body);
}
