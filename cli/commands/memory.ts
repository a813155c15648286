// `blockhouse memory`.
import { Command, Option } from 'clipanion';
import type { Api, Told } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { memoryText } from '../views/block-text.ts';

/** Prints the memory, or `{success, fact}`, or the server's answer to the change. */
export class MemoryCommand extends ServerCommand {
  static override readonly paths = [['memory']];
  static override readonly usage = Command.Usage({
    category: 'Blocks',
    description: 'Show or change what a block remembers',
    details: `
      Facts are in every prompt. \`--compact\` asks the model for a summary of the older messages, which costs a call, and from then on sends
      the summary instead of them. \`--undo\` takes back the last compaction.
    `,
    examples: [
      ['What it remembers', '$0 memory my-block'],
      ['Add a fact', '$0 memory my-block --fact "The office is closed on Fridays."'],
      ['Remove a fact', '$0 memory my-block --forget <fact-id>'],
    ],
  });

  fact = Option.String('--fact', { description: 'A fact to remember' });
  forget = Option.String('--forget', { description: 'A fact to forget; the beginning of its id is enough' });
  compact = Option.Boolean('--compact', false, { description: 'Summarise the older messages' });
  undo = Option.Boolean('--undo', false, { description: 'Undo the last compaction' });
  name = Option.String({ name: 'block' });

  protected override async run(): Promise<ExitKind> {
    const asked = [this.fact !== undefined, this.forget !== undefined, this.compact, this.undo].filter(Boolean).length;
    if (asked > 1) throw new CliError('usage', 'Give only one of --fact, --forget, --compact and --undo.');
    return this.withServer((api) => (asked === 0 ? this.#show(api) : this.#change(api)));
  }

  async #show(api: Api): Promise<ExitKind> {
    const details = await api.details(this.name);
    await this.print(details.memory, this.json ? [] : memoryText(details, this.drawn()));
    return 'ok';
  }

  async #change(api: Api): Promise<ExitKind> {
    if (this.fact !== undefined) {
      const { success, fact } = await api.addFact(this.name, this.fact);
      await this.print({ success, fact }, [oneLine(fact.id)]);
      await this.say('Noted.');
      return 'ok';
    }
    const told = this.forget === undefined ? await this.#move(api, this.compact ? 'compact' : 'undo') : await this.#forgetFact(api, this.forget);
    await this.print(told, []);
    await this.say(oneLine(told.message));
    return 'ok';
  }

  async #forgetFact(api: Api, given: string): Promise<Told> {
    const { byId } = await import('../input/id-prefix.ts');
    const ids = async (): Promise<string[]> => (await api.details(this.name)).memory.facts.map(({ id }) => id);
    return byId(given, ids, (id) => api.removeFact(this.name, id));
  }

  /** Fails when the summary could not be made; the server answers 200 then, because the window is unchanged. */
  async #move(api: Api, action: 'compact' | 'undo'): Promise<Told> {
    const before = (await api.details(this.name)).memory.compactions.at(-1);
    const told = await api.changeMemory(this.name, action);
    const last = told.memory.compactions.at(-1);
    if (last === undefined || last.id === before?.id || last.outcome === 'summarized') return told;
    if (last.outcome === 'failed')
      throw new CliError('provider', `The summary could not be made; \`${this.hint('logs', this.name, '--level', 'warn')}\` says why.`);
    await this.say('note: the older messages were removed from the window without a summary.');
    return told;
  }
}
