// `blockhouse search`: what was said to all blocks.
import { Command, Option } from 'clipanion';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { plural } from '../terminal/format.ts';
import { oneLine } from '../terminal/output.ts';

/** Prints what was found, the newest last, or the answer of the server. Exit code 0 also where nothing was found. */
export class SearchCommand extends ServerCommand {
  static override readonly paths = [['search']];
  static override readonly usage = Command.Usage({
    category: 'Messages',
    description: 'Find what was said to all blocks',
    details: `
      Finds the messages, answers, summaries and facts that have all the words, also within longer words, in any case; words between quotation marks stand
      together. Archived blocks are searched, too. The newest text is printed last, next to the prompt.
    `,
    examples: [
      ['Who said that?', '$0 search invoice march'],
      ['These words together, of one block', `$0 search --block my-block '"last warning"'`],
    ],
  });

  limit = Option.String('-n,--limit', '20', { description: 'How many texts, up to 100; default: 20' });
  block = Option.String('--block', { description: 'Only what was said to this block' });
  words = Option.Rest({ name: 'words', required: 1 });

  protected override async run(): Promise<ExitKind> {
    if (!/^\d{1,3}$/.test(this.limit) || Number(this.limit) < 1 || Number(this.limit) > 100)
      throw new CliError('usage', '--limit must be a number from 1 to 100.');
    return this.withServer(async (api) => {
      const result = await api.search({ q: this.words.join(' '), limit: this.limit, block: this.block });
      const { searchLines } = await import('../views/search-text.ts');
      await this.print(result, searchLines(result, { now: Date.now(), width: this.width, style: this.style }));
      if (this.json) return 'ok';
      const { hits, total, complete, unreadable } = result;
      if (hits.length === 0) await this.say('Nothing was found.');
      else if (total > hits.length) await this.say(`${plural(total, 'text')} in all; these are the newest.`);
      if (unreadable.length > 0) await this.say(`note: these can't be read: ${oneLine(unreadable.join(', '))}. \`${this.hint('doctor')}\` says why.`);
      else if (!complete) await this.say('note: there are more blocks than a search looks at; these are the ones with the newest messages.');
      return 'ok';
    });
  }
}
