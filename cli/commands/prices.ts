// `blockhouse prices`: what models cost. `set` and `rm` change the entry of a connection in auth.json, and `update` writes prices.json.
import { readFile } from 'node:fs/promises';
import { Command, Option } from 'clipanion';
import type { Core } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { fileFault } from '../input/file-fault.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { plural } from '../terminal/format.ts';
import { oneLine } from '../terminal/output.ts';
import { priceTable } from '../views/price-tables.ts';

const category = 'Prices';
/** The published price data have a few MiB. */
const MAX_BYTES = 16 * 1024 * 1024;
/** So many names are shown of a long list. */
const FEW = 10;

function pricesOf({ prices }: Core): NonNullable<Core['prices']> {
  if (prices === undefined) throw new Error('This core has no workspace.');
  return prices;
}

/** Prints `{prices, source}`, or a table. */
export class PricesShowCommand extends ServerCommand {
  static override readonly paths = [['prices', 'show'], ['prices', 'ls'], ['prices', 'list'], ['prices']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Show what models cost, and where the price comes from',
    details: `
      Without a model, all that auth.json or prices.json names. A price is USD for a million tokens, and comes from the provider's own bill, from auth.json (own),
      from prices.json (file) or from the price data (data). The calls of a model without one are not counted by a cap in USD.
    `,
    examples: [
      ['All that are set', '$0 prices'],
      ['One model', '$0 prices show groq/llama-3.3-70b-versatile'],
    ],
  });

  model = Option.String({ required: false, name: 'connection/model' });

  protected override async run(): Promise<ExitKind> {
    const { model } = this;
    const asked = { server: (api: Api) => api.prices(model), shell: (core: Core) => pricesOf(core).list(model) };
    return this.withServerOrShell(asked, async (list) => {
      await this.print(list, this.json || list.prices.length === 0 ? [] : priceTable(list.prices, { width: this.width, style: this.style }));
      if (this.json) return 'ok';
      if (list.prices.length === 0)
        await this.say(
          `No model has a price of its own. \`${this.hint('prices', 'set', '<connection>/<model>', '--input', '1', '--output', '2')}\` gives it one.`,
        );
      if (list.source !== null) await this.say(oneLine(`prices.json was made of ${list.source.file} on ${list.source.date.slice(0, 10)}.`));
      return 'ok';
    });
  }
}

/** Prints `{model, from, price, like}`, or nothing. */
export class PricesSetCommand extends ServerCommand {
  static override readonly paths = [['prices', 'set']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Give a model of a connection a price',
    details: `
      Writes the entry of the connection in auth.json, which wins over prices.json and the price data. Prices are USD for a million tokens. Tokens that the provider
      reads from its cache, or writes into it, cost as much as others if they have no price of their own. A * at the end of the model stands for all that begin so.
    `,
    examples: [
      ['As the provider says', '$0 prices set gpu/prod --input 0.59 --output 0.79 --cache-read 0.06'],
      ['A server of your own', '$0 prices set "gpu/*" --free'],
      ['As much as another model', '$0 prices set azure/prod --like azure/gpt-4o'],
    ],
  });

  input = Option.String('--input', { description: 'USD for a million tokens of input' });
  output = Option.String('-o,--output', { description: 'USD for a million tokens of output' });
  cacheRead = Option.String('--cache-read', { description: 'USD for a million tokens of input that come from the cache' });
  cacheWrite = Option.String('--cache-write', { description: 'USD for a million tokens of input that go into the cache' });
  free = Option.Boolean('--free', false, { description: 'It costs nothing' });
  like = Option.String('--like', { description: 'provider/model of the price data that costs as much' });
  model = Option.String({ name: 'connection/model' });

  protected override async run(): Promise<ExitKind> {
    const price = this.#price();
    const { writeInWorkspace } = await import('../serve/place.ts');
    const config = await this.config();
    return this.withCore(async (core) => {
      const shown = await writeInWorkspace(config, () => pricesOf(core).set(this.model, { price }));
      await this.print(shown, []);
      await this.say(oneLine(`Stored the price of ${shown.model} in auth.json.`));
      return 'ok';
    });
  }

  #price(): unknown {
    const { input, output, cacheRead, cacheWrite, free, like } = this;
    const rates = { input, output, cacheRead, cacheWrite };
    const given = Object.entries(rates).filter((rate): rate is [string, string] => rate[1] !== undefined);
    if ([given.length > 0, free, like !== undefined].filter(Boolean).length !== 1)
      throw new CliError('usage', 'Give the price in one way: --input and --output, --free, or --like.');
    if (free) return 0;
    if (like !== undefined) return like;
    if (input === undefined || output === undefined) throw new CliError('usage', 'A price needs both --input and --output.');
    return Object.fromEntries(given.map(([name, text]) => [name, usd(name, text)]));
  }
}

function usd(name: string, text: string): number {
  const option = `--${name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`;
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new CliError('usage', `${option} must be an amount of USD for a million tokens, such as 0.59.`);
  return Number(text);
}

/** Prints `{model, removed}`. */
export class PricesRemoveCommand extends ServerCommand {
  static override readonly paths = [['prices', 'rm']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Remove the price that you gave a model',
    details: 'prices.json and the price data stay as they are.',
    examples: [['Forget one', '$0 prices rm gpu/prod']],
  });

  model = Option.String({ name: 'connection/model' });

  protected override async run(): Promise<ExitKind> {
    const { writeInWorkspace } = await import('../serve/place.ts');
    const config = await this.config();
    return this.withCore(async (core) => {
      const removed = await writeInWorkspace(config, () => pricesOf(core).remove(this.model));
      await this.print({ model: this.model, removed }, []);
      await this.say(oneLine(removed ? `Removed the price of ${this.model} from auth.json.` : `auth.json has no price of ${this.model}.`));
      return 'ok';
    });
  }
}

/** Prints `{written, added, changed, gone, skipped}`, or what changes. */
export class PricesUpdateCommand extends ServerCommand {
  static override readonly paths = [['prices', 'update']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Take the prices of a file into prices.json',
    details: `
      The file is {"models": {"<connection>/<model>": {"input": …, "output": …, "cacheRead": …, "cacheWrite": …}}} with USD for a million tokens, or the published JSON of the price
      data, of which the models of your providers and connections are taken. prices.json is replaced as a whole, and says from which file it is. Shows what changes and asks;
      without a terminal it needs --yes. Nothing is ever fetched.
    `,
    examples: [['A new list', '$0 prices update prices-2026-11.json']],
  });

  yes = Option.Boolean('-y,--yes', false, { description: 'Do not ask' });
  file = Option.String({ name: 'file' });

  protected override async run(): Promise<ExitKind> {
    const { inWorkspace, writeInWorkspace } = await import('../serve/place.ts');
    const config = await this.config();
    const bytes = await this.#content();
    return this.withCore(async (core) => {
      const prices = pricesOf(core);
      const update = await inWorkspace(config, async () => prices.update(this.file, bytes));
      const { added, changed, gone, skipped } = update;
      if (!this.json) await this.print(undefined, [...listed('new', added), ...listed('changed', changed), ...listed('gone', gone)]);
      if (skipped > 0)
        await this.say(`note: ${plural(skipped, 'model')} of the price data ${skipped === 1 ? 'has' : 'have'} no single price, and keep the installed one.`);
      const isNothing = added.length + changed.length + gone.length === 0;
      const written = !isNothing && (await this.#agreed());
      if (written) await writeInWorkspace(config, () => prices.replace(update));
      if (this.json) await this.print({ written, added, changed, gone, skipped }, []);
      await this.say(isNothing ? 'Nothing changes.' : written ? 'prices.json is written.' : 'Nothing was done.');
      return written || isNothing ? 'ok' : 'unexpected';
    });
  }

  async #agreed(): Promise<boolean> {
    return (
      this.yes ||
      (await this.agreed('Write these prices into prices.json?', () => {
        throw new CliError('usage', 'This replaces prices.json; add --yes to confirm.');
      }))
    );
  }

  async #content(): Promise<Buffer> {
    const content = await readFile(this.file).catch((error: Error) => {
      throw new CliError('usage', `${this.file} ${fileFault(error)}.`, error);
    });
    if (content.length > MAX_BYTES) throw new CliError('usage', `${this.file} is larger than ${MAX_BYTES} bytes.`);
    return content;
  }
}

function listed(word: string, names: readonly string[]): string[] {
  const more = names.length - FEW;
  return [...names.slice(0, FEW).map((name) => `${word.padEnd(7)} ${oneLine(name)}`), ...(more > 0 ? [`${word.padEnd(7)} … and ${more} more`] : [])];
}
