// `blockhouse ls`, `show`, `why` and `new`.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'clipanion';
import type { BlockEntry } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { oneLine, toJson, writeLines } from '../terminal/output.ts';
import { attentionLines, blockTable, blockText, whyText } from '../views/block-text.ts';

const category = 'Blocks';
const WATCH_MS = 1000;

/** Prints `{blocks}`, the names, or a table; with `--watch`, again at every change. */
export class ListCommand extends ServerCommand {
  static override readonly paths = [['ls'], ['list']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List the blocks',
    details: `
      \`●\` marks a monitor that runs, \`○\` one that does not, \`◐\` one that waits or is in between, \`!\` a block that needs a person.
      QUEUE counts the messages that wait for an answer, FAILED those that failed (\`$0 why\` says why). TODAY is the money spent since
      midnight (UTC). On a narrow terminal some columns are left out.
    `,
    examples: [
      ['All blocks', '$0 ls'],
      ['Keep the list up to date', '$0 ls --watch'],
      ['Only the names, for a script', '$0 ls -q'],
    ],
  });

  quiet = Option.Boolean('-q,--quiet', false, { description: 'Only the names, one per line' });
  watch = Option.Boolean('-w,--watch', false, { description: 'Draw the list again at every change, until Ctrl-C' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api, signal) => {
      if (this.watch) return this.#follow(api, signal);
      const { blocks } = await api.list();
      await writeLines(this.stdout, this.#lines(blocks));
      if (!this.json && !this.quiet) await this.#remark(blocks, blocks.some(({ state }) => state === 'paused') && (await api.halted()).halted);
      return 'ok';
    });
  }

  #lines(blocks: readonly BlockEntry[]): string[] {
    if (this.json) return [toJson({ blocks })];
    if (this.quiet) return blocks.map(({ name }) => oneLine(name));
    return blocks.length === 0 ? [] : blockTable(blocks, { now: Date.now(), width: this.width, style: this.style });
  }

  async #remark(blocks: readonly BlockEntry[], isHalted: boolean): Promise<void> {
    if (blocks.length === 0) await this.say(`There are no blocks yet; \`${this.hint('new', '<block>', '--provider', '<id>')}\` makes one.`);
    const lines = attentionLines(blocks, this.width, (...words) => this.hint(...words));
    if (isHalted) lines.unshift(`All blocks are halted; \`${this.hint('unhalt')}\` lets them continue.`);
    if (lines.length > 0) await this.say(['', ...lines].join('\n'));
  }

  async #follow(api: Api, signal: AbortSignal): Promise<ExitKind> {
    const { LiveView } = await import('../terminal/live-view.ts');
    const view = new LiveView(this.stdout);
    try {
      for (;;) {
        const { blocks } = await api.list();
        const lines = this.#lines(blocks);
        await view.show(lines.length > 0 ? lines : ['There are no blocks yet.']);
        await delay(WATCH_MS, undefined, { signal });
      }
    } finally {
      view.end();
    }
  }
}

/** Prints `{name, config, memory, costs, pulse}`, or a summary. */
export class ShowCommand extends ServerCommand {
  static override readonly paths = [['show']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Show a block: state, model, queue, memory, costs',
    details: '`$0 why` explains the state, `$0 history` shows the conversation, `$0 config get` the configuration.',
    examples: [
      ['For a person', '$0 show my-block'],
      ['Everything, for a program', '$0 show my-block --json'],
    ],
  });

  name = Option.String({ name: 'block' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const details = await api.details(this.name);
      await this.print(details, this.json ? [] : blockText(details, this.drawn()));
      return 'ok';
    });
  }
}

/** Prints `{name, state, why, next, fix, …}`, or a text. */
export class WhyCommand extends ServerCommand {
  static override readonly paths = [['why']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Say why a block is in its state, and what helps',
    details: 'Also says what happens next by itself, which message failed and why, and which command helps.',
    examples: [['Why does it not answer?', '$0 why my-block']],
  });

  name = Option.String({ name: 'block' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const explanation = await api.explain(this.name);
      await this.print(explanation, this.json ? [] : whyText(explanation, this.drawn()));
      if (explanation.reason?.code === 'BLOCK_DAMAGED') await this.#sayWhereToRepair();
      return 'ok';
    });
  }

  async #sayWhereToRepair(): Promise<void> {
    const { workspace } = await this.config();
    await this.say(`The block is in ${join(workspace, 'blocks', this.name)}; \`${this.hint('doctor')}\` checks all files.`);
  }
}

/** Prints the name, or `{success, name, warnings?, pulse?}`. */
export class NewCommand extends ServerCommand {
  static override readonly paths = [['new'], ['create']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Make a block',
    details: `
      A name has at most 32 lower-case letters, digits and hyphens. Without \`--model\`, the block uses the default model of the provider.
      \`--from\` reads a configuration from a file, or from standard input when it is \`-\`; the other options change it.
      Prints the name.
    `,
    examples: [
      ['A block that answers at once', '$0 new my-block --provider <id> --start'],
      ['With instructions and goals', '$0 new my-block -a <id> -s "Be brief." --goal "Answer in French"'],
      ['Like another one', '$0 config get my-block | $0 new second --from -'],
    ],
  });

  description = Option.String('--description', { description: 'What it is for' });
  provider = Option.String('-a,--adapter,--provider', { description: 'Provider id, see `blockhouse providers`' });
  model = Option.String('-m,--model', { description: 'Model id, see `blockhouse models <id>`' });
  system = Option.String('-s,--system', { description: 'Instructions for the model' });
  goals = Option.Array('--goal', [], { description: 'What to work towards; may be given several times' });
  tags = Option.Array('--tag', [], { description: 'A word to find it by; may be given several times' });
  from = Option.String('--from', { description: 'A file with a configuration' });
  start = Option.Boolean('--start', false, { description: 'Start the monitor, too' });
  name = Option.String({ name: 'block' });

  protected override async run(): Promise<ExitKind> {
    return this.withServer(async (api, signal) => {
      const created = await api.create(this.name, await this.#config(api, signal));
      if (!this.json) await writeLines(this.stdout, [oneLine(created.name)]);
      const started = this.start ? await this.#start(api) : undefined;
      if (this.json) await writeLines(this.stdout, [toJson({ ...created, ...(started !== undefined && { pulse: started.pulse }) })]);
      await this.sayWarnings(created.warnings);
      await this.say(started === undefined ? await this.#nextStep(api) : oneLine(started.message));
      return 'ok';
    });
  }

  /** What makes the new block answer: what its provider lacks, or else its start. */
  async #nextStep(api: Api): Promise<string> {
    const { adapter } = await api.config(this.name);
    if (adapter === null) {
      return `Created. It can't answer yet, because no model is set; \`${this.hint('config', 'set', this.name, 'adapter.provider=<id>', 'adapter.model=<model>')}\` sets one.`;
    }
    const start = `\`${this.hint('start', this.name)}\` starts it.`;
    const { state, why } = await api.explain(this.name);
    // A block with an address of its own is not concerned with the state of the provider's usual address.
    const { adapters } = adapter.baseURL === undefined ? await api.adapterStatus(adapter.provider) : { adapters: [] };
    const { problem, detail } = adapters[0] ?? {};
    if (problem === 'unreachable') return oneLine(`Created. ${start} ${detail ?? ''}`);
    return state !== 'unconfigured' && problem === undefined ? `Created. ${start}` : oneLine(`Created. It can't answer yet: ${detail ?? why}`);
  }

  async #start(api: Api) {
    try {
      return await api.monitor(this.name, 'start');
    } catch (error) {
      if (!(error instanceof CliError) || error.kind === 'interrupted') throw error;
      throw new CliError(error.kind, `${this.name} was created, but could not be started: ${error.message}`, error, error.body);
    }
  }

  async #config(api: Api, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { readConfigFile } = await import('../input/config-edit.ts');
    const base = this.from === undefined ? {} : await readConfigFile(this.from, this.context.stdin, signal);
    const { description, system, goals, tags } = this;
    const adapter = await this.#adapter(api, base['adapter']);
    return {
      ...base,
      ...(adapter !== undefined && { adapter }),
      ...(description !== undefined && { description }),
      ...(system !== undefined && { systemPrompt: system }),
      ...(goals.length > 0 && { goals }),
      ...(tags.length > 0 && { tags }),
    };
  }

  async #adapter(api: Api, base: unknown): Promise<object | undefined> {
    const known = typeof base === 'object' && base !== null ? (base as { provider?: unknown }) : {};
    const provider = this.provider ?? known.provider;
    if (this.provider === undefined && this.model === undefined) return undefined;
    if (typeof provider !== 'string') throw new CliError('usage', `--model also needs --provider; \`${this.command} providers\` lists them.`);
    const isOther = this.provider !== undefined && this.provider !== known.provider;
    const model = this.model ?? (isOther ? await defaultModel(api, provider, this.hint('models', provider)) : undefined);
    // The other fields of the base, such as an address, belong to the base's own provider.
    return { ...(isOther ? {} : known), provider, ...(model !== undefined && { model }) };
  }
}

/** The default model of a provider. Throws for a connection, which has none, and for an unknown id, with a list of the known ones. */
async function defaultModel(api: Api, provider: string, list: string): Promise<string> {
  const adapters = await api.adapters();
  const found = adapters.find(({ id }) => id === provider);
  if (found !== undefined) return found.defaultModel;
  const connections = (await api.connections()).filter(({ name }) => !adapters.some(({ id }) => id === name));
  if (connections.some(({ name }) => name === provider))
    throw new CliError('usage', `The connection ${provider} has no default model; name one with --model. \`${list}\` lists them.`);
  const known = [...adapters.map(({ id }) => id), ...connections.map(({ name }) => name)];
  throw new CliError('usage', `There is no provider ${oneLine(provider)}. Use one of ${known.join(', ')}.`);
}
