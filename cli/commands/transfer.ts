// `blockhouse export` and `import`: a block as one file.
import { open, readFile, unlink } from 'node:fs/promises';
import { Command, Option } from 'clipanion';
import { ServerCommand } from '../command/server-command.ts';
import { fileFault } from '../input/file-fault.ts';
import { readBytes } from '../input/input.ts';
import { CliError, type ExitKind, suggestAnotherName } from '../terminal/exit-codes.ts';
import { bytes } from '../terminal/format.ts';
import { isTerminal, oneLine, toJson, writeLines } from '../terminal/output.ts';

const category = 'Archive';
/** The largest file that is read into memory. The server has its own, lower limit. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Writes the bytes; with `--json`, prints `{success, file, sizeBytes}`. */
export class ExportCommand extends ServerCommand {
  static override readonly paths = [['export']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Write a block as one file (tar.gz)',
    details: `
      The file has configuration, memory, costs, messages and logs, and no keys. It goes to standard output, or with \`-o\` to a new file
      that only you can read. An existing file is never overwritten.
    `,
    examples: [
      ['To a file', '$0 export my-block -o my-block.tar.gz'],
      ['To another machine', '$0 export my-block | ssh host blockhouse import -'],
    ],
  });

  output = Option.String('-o,--output', { description: 'The new file; - is standard output' });
  name = Option.String({ name: 'block' });

  protected override async run(): Promise<ExitKind> {
    const { output = '-' } = this;
    if (output === '-' && isTerminal(this.stdout)) throw new CliError('usage', "A terminal can't show a tar.gz; name a file with -o, or pipe the output.");
    if (output === '-' && this.json) throw new CliError('usage', '--json needs a file for the bytes; name it with -o.');
    return this.withServer(async (api) => {
      const content = await api.export(this.name);
      if (output === '-') await writeAll(this.stdout, content);
      else await createFile(output, content);
      if (this.json) await writeLines(this.stdout, [toJson({ success: true, file: output, sizeBytes: content.length })]);
      if (output !== '-') await this.say(`Wrote ${oneLine(output)} (${bytes(content.length)}).`);
      return 'ok';
    });
  }
}

/** Resolves once a pipe has taken everything, because the process may end right after. */
function writeAll(stream: NodeJS.WritableStream, content: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(content, (error) => (error == null ? resolve() : reject(error)));
  });
}

async function createFile(file: string, content: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EEXIST' ? 'exists already; choose another name' : `can't be created: ${error.message}`;
    throw new CliError(error.code === 'EEXIST' ? 'usage' : 'place', `${file} ${reason}.`, error);
  });
  try {
    await handle.writeFile(content);
    await handle.sync();
  } catch (error) {
    await unlink(file); // an incomplete file would look like a complete one
    throw new CliError('place', `${file} can't be written: ${(error as Error).message}.`, error);
  } finally {
    await handle.close();
  }
}

/** Prints the name, or `{success, name, warnings?}`; with `--from` what became of each setting, or `{taken, changed, left}`. */
export class ImportCommand extends ServerCommand {
  static override readonly paths = [['import']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Make a block from an exported file, or take the configuration of another gateway',
    details: `
      The new block is stopped. Prints its name. It asks its connections by their names: a note says which of this machine it will use, and which are missing.

      With --from litellm, the file is the configuration of a LiteLLM proxy (YAML). Its models become connections in auth.json and aliases in models.json, or in the database of the workspace (BLOCKHOUSE_STORE). Prints what is taken, changed and left out, with the reason, and never
      a key. What exists stays, unless --replace; --dry-run writes nothing.
    `,
    examples: [
      ['From a file', '$0 import my-block.tar.gz'],
      ['Under another name', '$0 import my-block.tar.gz --as second'],
      ['From LiteLLM', '$0 import --from litellm config.yaml --dry-run'],
    ],
  });

  as = Option.String('--as', { description: 'Another name for the block' });
  from = Option.String('--from', { description: 'Whose configuration it is: litellm' });
  dryRun = Option.Boolean('--dry-run', false, { description: 'Write nothing' });
  replace = Option.Boolean('--replace', false, { description: 'Replace connections and aliases of the same names' });
  file = Option.String({ name: 'file' });

  protected override async run(): Promise<ExitKind> {
    if (this.from !== undefined) return this.#importConfig();
    if (this.dryRun || this.replace) throw new CliError('usage', '--dry-run and --replace belong to --from litellm.');
    if (/\.ya?ml$/i.test(this.file))
      throw new CliError('usage', `${oneLine(this.file)} is no exported block; add --from litellm for a configuration of LiteLLM.`);
    return this.withServer(async (api, signal) => {
      const imported = await api.import(await this.#content(signal), this.as).catch(suggestAnotherName);
      await this.print(imported, [oneLine(imported.name)]);
      await this.sayWarnings(imported.warnings);
      await this.say(`Imported. \`${this.hint('start', imported.name)}\` starts it.`);
      return 'ok';
    });
  }

  async #importConfig(): Promise<ExitKind> {
    if (this.from !== 'litellm') throw new CliError('usage', '--from takes litellm.');
    if (this.as !== undefined) throw new CliError('usage', '--as is the name of a block, and has no meaning with --from.');
    const [{ inWorkspace, writeInWorkspace }, { readConfig, writeConfig }, config] = await Promise.all([
      import('../serve/place.ts'),
      import('../input/litellm/apply.ts'),
      this.config(),
    ]);
    const bytes = await this.interruptibleContent();
    return this.withCore(
      async (core) => {
        const ways = { replaces: this.replace, isTrial: this.dryRun, hasDatabase: config.store !== undefined };
        const imported = await readConfig(core, this.file, bytes);
        const { report, written } = await (this.dryRun ? inWorkspace : writeInWorkspace)(config, () => writeConfig(core, imported, ways));
        const lines = (['taken', 'changed', 'left'] as const).flatMap((kind) =>
          report[kind].map(({ path, note }) => `${(kind === 'left' ? 'left out' : kind).padEnd(9)} ${oneLine(`${path}: ${note}`)}`),
        );
        await this.print(report, lines);
        await this.say(this.dryRun ? 'Nothing was written (--dry-run).' : written.length === 0 ? 'Nothing changes.' : `Wrote ${written.join(' and ')}.`);
        return 'ok';
      },
      this.dryRun ? 'trial' : 'used',
    );
  }

  async interruptibleContent(): Promise<Buffer> {
    let content: Buffer = Buffer.alloc(0);
    await this.interruptible(async (signal) => {
      content = await this.#content(signal);
      return 'ok';
    });
    return content;
  }

  #content(signal: AbortSignal): Promise<Buffer> {
    if (this.file === '-') return readBytes(this.context.stdin, MAX_BYTES, signal);
    return readFile(this.file, { signal }).catch((error: Error) => {
      throw new CliError('usage', `${this.file} ${fileFault(error)}.`, error);
    });
  }
}
