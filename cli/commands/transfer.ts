// `blockhouse export` and `import`: a block as one file.
import { open, readFile, unlink } from 'node:fs/promises';
import { Command, Option } from 'clipanion';
import { CliError, type ExitKind, suggestAnotherName } from '../exit-codes.ts';
import { bytes } from '../format.ts';
import { readBytes } from '../input.ts';
import { isTerminal, oneLine, toJson, writeLines } from '../output.ts';
import { ServerCommand } from '../server-command.ts';

const category = 'Archive';
/** What is held in memory at once; a server may take less. */
const MAX_BYTES = 512 * 1024 * 1024;

export class ExportCommand extends ServerCommand {
  static override readonly paths = [['export']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Write a block as one file (tar.gz)',
    details: `
      Its configuration, memory, costs, messages and logs; no keys. Goes to standard output, or to a new file with \`-o\`, which only you
      can read. A file that exists is never overwritten.
    `,
    examples: [
      ['To a file', '$0 export my-block -o my-block.tar.gz'],
      ['To another machine', '$0 export my-block | ssh host blockhouse import -'],
    ],
  });

  output = Option.String('-o,--output', { description: 'The file to make; - is standard output' });
  name = Option.String({ name: 'name' });

  protected override async run(): Promise<ExitKind> {
    const { output = '-' } = this;
    if (output === '-' && isTerminal(this.stdout)) throw new CliError('usage', 'a terminal can not show a tar.gz; name a file with -o, or pipe it on.');
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

/** Waits until a pipe has taken everything: the process may end right after. */
function writeAll(stream: NodeJS.WritableStream, content: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(content, (error) => (error == null ? resolve() : reject(error)));
  });
}

async function createFile(file: string, content: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EEXIST' ? 'exists already; choose another name' : `can't be made: ${error.message}`;
    throw new CliError(error.code === 'EEXIST' ? 'usage' : 'place', `${file} ${reason}.`, error);
  });
  try {
    await handle.writeFile(content);
    await handle.sync();
  } catch (error) {
    await unlink(file); // half a file would look like a whole one
    throw new CliError('place', `${file} can't be written: ${(error as Error).message}`, error);
  } finally {
    await handle.close();
  }
}

export class ImportCommand extends ServerCommand {
  static override readonly paths = [['import']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Make a block from such a file',
    details: 'The block is stopped. Prints its name.',
    examples: [
      ['From a file', '$0 import my-block.tar.gz'],
      ['Under another name', '$0 import my-block.tar.gz --as second'],
    ],
  });

  as = Option.String('--as', { description: 'Another name for the block' });
  file = Option.String({ name: 'file' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api, signal) => {
      const imported = await api.import(await this.#content(signal), this.as).catch(suggestAnotherName);
      await this.print(imported, [oneLine(imported.name)]);
      await this.say(`Made. \`${this.hint('start', imported.name)}\` starts it.`);
      return 'ok';
    });
  }

  #content(signal: AbortSignal): Promise<Buffer> {
    if (this.file === '-') return readBytes(this.context.stdin, MAX_BYTES, signal);
    return readFile(this.file, { signal }).catch((error: Error) => {
      throw new CliError('usage', `${this.file} can't be read: ${error.message}`, error);
    });
  }
}
