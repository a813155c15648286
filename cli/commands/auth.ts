// `blockhouse auth`: the credentials in auth.json. A value never comes from the command line, because the shell's history and
// every process list would show it.
import { Command, Option } from 'clipanion';
import type { Adapter, Core } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { BaseCommand } from '../command/command.ts';
import { DestructiveCommand } from '../command/destructive-command.ts';
import { ServerCommand } from '../command/server-command.ts';
import { CliError, type ExitKind } from '../terminal/exit-codes.ts';
import { type Column, table } from '../terminal/layout.ts';
import { columns, isTerminal, oneLine } from '../terminal/output.ts';

const category = 'Credentials';

/** A name of a connection, or an id. Anything else may be a key in the wrong place, and is not repeated. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** Prints `{adapter, fields}`: the fields that were stored, without their values. */
export class AuthSetCommand extends BaseCommand {
  static override readonly paths = [['auth', 'set']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Store the key of a provider, or add a connection',
    details: `
      Asks for the values without showing them, or reads them from standard input: the value of one field, or a JSON object
      with several. There is no way to give a value on the command line, where the shell's history would keep it. A new address
      (another origin, or another path of a host that is not the provider's own) needs the stored key again, in the same change.

      Any other name is that of a connection: a preset (\`$0 auth presets\`), or a server of your own with --provider and --base-url.
      For a preset whose variable is set, Enter takes the variable, and nothing but the name is stored.

      With --add, a connection gets one more key under a --label; the one that it has already is kept beside it.
    `,
    examples: [
      ['Type the key', '$0 auth set <id>'],
      ['From a password manager', 'pass show my-key | $0 auth set <id>'],
      ['A preset', '$0 auth set groq'],
      ['A server of your own', '$0 auth set gpu --provider <id> --base-url http://10.0.0.7:8000/v1 --no-key'],
      ['A second key', 'echo $KEY | $0 auth set groq --add --label b'],
      ['One field alone', 'echo http://10.0.0.5:11434 | $0 auth set <id> --field baseURL'],
    ],
  });

  field = Option.String('--field', { description: 'The one field to set, such as apiKey or baseURL' });
  adapter = Option.String('--adapter,--provider', { description: 'The provider whose protocol the connection speaks' });
  baseURL = Option.String('--base-url', { description: 'The address of a connection' });
  preset = Option.String('--preset', { description: 'The preset of a connection whose name is another one' });
  noKey = Option.Boolean('--no-key', false, { description: 'The connection needs no key' });
  add = Option.Boolean('--add', false, { description: 'Add a key to those of a connection' });
  label = Option.String('--label', { description: 'What lists and ledgers call the added key: 1 to 16 of a-z, 0-9 and -' });
  id = Option.String({ name: 'id' });

  protected override async run(): Promise<ExitKind> {
    const { writeInWorkspace } = await import('../serve/place.ts');
    const config = await this.config();
    return this.interruptible((signal) =>
      this.withCore(async (core) => {
        if (this.label !== undefined && !this.add) throw new CliError('usage', '--label names a key that --add adds.');
        if (this.add) return this.#addKey(core, signal, (work) => writeInWorkspace(config, work));
        if (this.#isConnection(core)) return this.#setConnection(core, signal, (work) => writeInWorkspace(config, work));
        const adapter = this.#provider(core);
        const values = await this.#values(adapter, core.credentials?.read(adapter.id) ?? {}, signal);
        const fields = Object.keys(values);
        if (fields.length > 0) await writeInWorkspace(config, async () => core.credentials?.update(adapter.id, values));
        await this.print({ adapter: adapter.id, fields }, []);
        await this.say(
          fields.length === 0
            ? 'Nothing was changed.'
            : `Stored ${adapter.id} ${fields.join(', ')} in auth.json. Check it with \`${this.command} verify ${adapter.id}\`.`,
        );
        return 'ok';
      }),
    );
  }

  /** A name that is no provider's, or an option that only a connection has. */
  #isConnection(core: Core): boolean {
    const { id, adapter, preset, baseURL, noKey } = this;
    const isOfConnection = adapter !== undefined || preset !== undefined || baseURL !== undefined || noKey;
    if (!NAME.test(id)) {
      if (isOfConnection)
        throw new CliError('usage', 'The name of a connection has 1 to 32 characters of a-z, 0-9 and -, and begins with a letter, such as gpu.');
      return false;
    }
    if (core.adapterIds().includes(core.adapterIdOf(id) ?? '')) {
      if (isOfConnection)
        throw new CliError('usage', '--provider, --base-url, --preset and --no-key are for connections; choose a name that is no provider, such as gpu.');
      return false;
    }
    if (this.field !== undefined) return false;
    if (adapter !== undefined || preset !== undefined || core.connections.presets().some(({ name }) => name === id)) return true;
    if (core.credentials?.ids().includes(id) === true) return true;
    if (isOfConnection)
      throw new CliError('usage', `A new connection needs --provider, which says whose protocol the server speaks: ${core.adapterIds().join(', ')}.`);
    return false;
  }

  /** The provider of this name. A name that is nobody's may be meant as that of a connection. */
  #provider(core: Core): Adapter {
    try {
      return adapterOf(core, this.id);
    } catch (error) {
      if (!(error instanceof Error) || core.adapterIdOf(this.id) !== undefined) throw error;
      const hint = `\`${this.command} auth presets\` lists services that need only a key; a server of your own needs --provider and --base-url.`;
      throw new CliError('usage', `${error.message} ${hint}`, error);
    }
  }

  /** What is wrong with the options is said before anybody types a key, and in their words. */
  #assertOptions(core: Core): void {
    const { adapter, preset, baseURL } = this;
    if (adapter !== undefined && !core.adapterIds().includes(adapter))
      throw new CliError('usage', `--provider must be one of ${core.adapterIds().join(', ')}.`);
    if (preset !== undefined && !core.connections.presets().some(({ name }) => name === preset))
      throw new CliError('usage', `There is no such preset; \`${this.command} auth presets\` lists them.`);
    if (baseURL !== undefined && !/^https?:\/\//i.test(baseURL))
      throw new CliError('usage', '--base-url must be an absolute http or https URL, such as http://10.0.0.7:8000/v1.');
  }

  async #setConnection(core: Core, signal: AbortSignal, writeInWorkspace: (work: () => Promise<void>) => Promise<void>): Promise<ExitKind> {
    this.#assertOptions(core);
    const { id: name, adapter, preset, baseURL, noKey } = this;
    const known = core.connections.presets().find((one) => one.name === (preset ?? name));
    const apiKey = noKey ? undefined : await this.#connectionKey(name, known, signal);
    const change = {
      ...(adapter !== undefined && { adapter }),
      ...(preset !== undefined && { preset }),
      ...(baseURL !== undefined && { baseURL }),
      ...(noKey && { auth: 'none' }),
      ...(apiKey !== undefined && { apiKey }),
    };
    await writeInWorkspace(() => core.connections.set(name, change));
    await this.print({ adapter: name, fields: Object.keys(change) }, []);
    await this.say(`Stored ${name} in auth.json. Check it with \`${this.command} verify ${name}\`.`);
    return 'ok';
  }

  async #addKey(core: Core, signal: AbortSignal, writeInWorkspace: (work: () => Promise<void>) => Promise<void>): Promise<ExitKind> {
    const { id: name, label } = this;
    if (this.adapter ?? this.preset ?? this.baseURL ?? this.field) throw new CliError('usage', '--add adds a key alone; set the rest without it.');
    if (!NAME.test(name) || core.credentials?.ids().includes(name) !== true)
      throw new CliError('usage', `There is no such connection yet; \`${this.command} auth set <name>\` stores its first key.`);
    const apiKey = await this.#connectionKey(name, undefined, signal);
    if (apiKey === undefined) return 'ok';
    let labels: string[] = [];
    await writeInWorkspace(async () => {
      labels = await core.connections.addKey(name, { apiKey, ...(label !== undefined && { label }) });
    });
    await this.print({ adapter: name, keys: labels }, []);
    const unset = core.connections.list().flatMap((one) => (one.name === name ? one.keys.filter(({ state }) => state === 'unset') : []));
    const notes = unset.map(({ source }) => ` The variable ${source} is not set in this shell.`);
    await this.say(`${name} has ${labels.length === 1 ? 'one key' : `${labels.length} keys`} now: ${labels.join(', ')}.${notes.join('')}`);
    return 'ok';
  }

  /** Undefined where the variable of the preset has it, and for a local server without one. */
  async #connectionKey(
    name: string,
    preset: { readonly variable: string | null; readonly isSet: boolean; readonly isLocal: boolean } | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { askKey, checkedKey } = await import('../input/credentials-input.ts');
    const known = { variable: preset?.isSet === true ? preset.variable : null, mayLack: preset?.isLocal === true };
    const { stdin } = this.context;
    if (isTerminal(stdin)) return askKey(name, known, { input: stdin, output: this.stderr });
    const { readAll } = await import('../input/input.ts');
    const text = (await readAll(stdin, signal)).trim();
    if (text !== '') return checkedKey(text);
    if (known.variable !== null || known.mayLack) return undefined;
    throw new CliError('usage', `Standard input is empty; pipe in the key, set ${preset?.variable ?? 'a variable'}, or say --no-key.`);
  }

  /** From the prompt or from standard input. */
  async #values(adapter: Adapter, stored: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Record<string, string>> {
    const { askValues, checkValues, fieldsOf, parseValues } = await import('../input/credentials-input.ts');
    const fields = fieldsOf(adapter, this.field);
    const { stdin } = this.context;
    if (isTerminal(stdin)) return askValues(adapter, fields, stored, { input: stdin, output: this.stderr });
    const { readAll } = await import('../input/input.ts');
    return checkValues(adapter, parseValues(adapter, fields, await readAll(stdin, signal)));
  }
}

/** Prints `{from, settings: [{adapter, field, value, source}], fault?}`, or a table; secrets are masked. */
export class AuthListCommand extends ServerCommand {
  static override readonly paths = [['auth', 'ls'], ['auth', 'list'], ['auth']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Show what is stored or set, with secrets masked',
    details: `
      Names the source of each value: auth.json, or the environment variable. auth.json wins over the environment. Asks the running
      server, which has an environment of its own; without one, it shows the environment of this shell.
    `,
    examples: [['Where does the key come from?', '$0 auth ls']],
  });

  protected override async run(): Promise<ExitKind> {
    const asked = {
      server: (api: Api) => api.settings(),
      shell: async (core: Core): Promise<Awaited<ReturnType<Api['settings']>>> => ({ settings: core.settings() }), // which rejects for a file that can't be used
    };
    return this.withServerOrShell(asked, async ({ settings, fault }, from) => {
      const rows = settings.map(({ adapter, field, value, source }) => [adapter, field, value, source]);
      await this.print(
        { from, settings, ...(fault !== undefined && { fault }) },
        rows.length === 0 ? [] : columns([['PROVIDER', 'FIELD', 'VALUE', 'SOURCE'], ...rows]),
      );
      if (fault !== undefined) await this.say(`auth.json can't be used: ${oneLine(fault)}. What was read of it before stays in use; repair it by hand.`);
      else if (rows.length === 0)
        await this.say(`Nothing is stored, and no environment variable is set; \`${this.hint('auth', 'set', '<id>')}\` stores a key.`);
      return 'ok';
    });
  }
}

/** Prints `{adapter, removed}`. */
export class AuthRemoveCommand extends DestructiveCommand {
  static override readonly paths = [['auth', 'rm']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Remove everything stored for a provider, or one key of a connection',
    details:
      'Environment variables stay as they are. With --key, the other keys of a connection stay; GET /api/connections lists the labels. At a terminal, it asks first; elsewhere it needs `--yes`.',
    examples: [
      ['Forget a key', '$0 auth rm <id>'],
      ['One key of several', '$0 auth rm groq --key b'],
    ],
  });

  key = Option.String('--key', { description: 'The label of the one key to remove' });
  id = Option.String({ name: 'id' });

  protected override async run(): Promise<ExitKind> {
    const { key, id: name } = this;
    const { writeInWorkspace } = await import('../serve/place.ts');
    const config = await this.config();
    return this.withCore(async (core) => {
      const isStored = core.credentials?.ids().includes(name) === true;
      if (key !== undefined && !(isStored && NAME.test(name))) throw new CliError('usage', 'auth.json has no such connection.');
      // An entry that belongs to no provider can be removed, too. A name that is nobody's is not repeated: it may be a key in the wrong place.
      const id = isStored ? name : adapterOf(core, name).id;
      const what = oneLine(`${key === undefined ? 'everything stored for' : 'one key of'} ${id}`);
      return this.onceAgreed(`Remove ${what}?`, `This removes ${what} from auth.json.`, async () => {
        if (key !== undefined) return this.#removedKey(key, await writeInWorkspace(config, () => core.connections.removeKey(id, key)));
        const removed = await writeInWorkspace(config, async () => (await core.credentials?.remove(id)) ?? false);
        await this.print({ adapter: id, removed }, []);
        await this.say(removed ? `Removed ${id} from auth.json.` : `auth.json has no entry for ${id}.`);
        return 'ok';
      });
    });
  }

  async #removedKey(label: string, labels: readonly string[]): Promise<ExitKind> {
    await this.print({ adapter: this.id, removed: true, keys: labels }, []);
    await this.say(`Removed the key ${label} of ${this.id}; ${labels.join(', ')} ${labels.length === 1 ? 'stays' : 'stay'}.`);
    return 'ok';
  }
}

/** The variable is what a person looks for; an address is cut first. */
const PRESETS: readonly Column[] = [
  { title: 'PRESET' },
  { title: 'PROTOCOL', drop: 1 },
  { title: 'ADDRESS', min: 16 },
  { title: 'VARIABLE' },
  { title: 'SET' },
];

/** Prints `{presets}`, or a table. */
export class AuthPresetsCommand extends ServerCommand {
  static override readonly paths = [['auth', 'presets']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List the services that a connection can be built on',
    details: 'SET says whether this shell has the variable. `auth set <preset>` adds one.',
    examples: [['Which variable has the key of Groq?', '$0 auth presets']],
  });

  protected override async run(): Promise<ExitKind> {
    return this.withCore(async (core) => {
      const presets = core.connections.presets();
      const rows = presets.map(({ name, adapter, baseURL, baseURLForm, variable, isSet }) => [
        name,
        adapter,
        baseURL ?? baseURLForm ?? '',
        variable ?? '',
        isSet ? 'yes' : '',
      ]);
      await this.print({ presets }, this.json ? [] : table(PRESETS, rows, { width: this.width, style: this.style }));
      return 'ok';
    });
  }
}

/** Prints `{servers, added}`, or a table. */
export class AuthDetectCommand extends BaseCommand {
  static override readonly paths = [['auth', 'detect']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Look for local model servers',
    details: `
      Asks the ports of known local servers on 127.0.0.1, for 300 ms each and by GET alone, and lists what answers. With --add, those that no connection leads to yet
      become connections under the names of their presets.
    `,
    examples: [['What runs here?', '$0 auth detect']],
  });

  add = Option.Boolean('--add', false, { description: 'Add what is found to auth.json' });

  protected override async run(): Promise<ExitKind> {
    const { writeInWorkspace } = await import('../serve/place.ts');
    const config = await this.config();
    return this.withCore(async (core) => {
      const servers = await core.connections.detect();
      const added = this.add ? servers.filter(({ connection }) => connection === null).map(({ preset }) => preset) : [];
      for (const name of added) await writeInWorkspace(config, () => core.connections.set(name, {}));
      const rows = servers.map(({ preset, baseURL, connection }) => [preset, baseURL, connection ?? (added.includes(preset) ? `${preset} (added)` : '')]);
      await this.print({ servers, added }, rows.length === 0 ? [] : columns([['PRESET', 'ADDRESS', 'CONNECTION'], ...rows]));
      if (rows.length === 0)
        await this.say(`No further local server answers on the usual ports. \`${this.hint('providers')}\` shows those that are providers by themselves.`);
      return 'ok';
    });
  }
}

/** Checks the id first, because the core's message repeats it, and it may be a key in the wrong place. */
function adapterOf(core: Core, id: string): Adapter {
  if (!NAME.test(id)) throw new CliError('usage', `There is no such provider. Use one of ${core.adapterIds().join(', ')}.`);
  return core.adapter(id);
}
