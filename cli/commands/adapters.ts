// `blockhouse providers`, `models` and `verify`. They ask the running server, and work without one.
import { Command, Option } from 'clipanion';
import type { Core } from '../../core/index.ts';
import type { Api } from '../client/api.ts';
import { ServerCommand } from '../command/server-command.ts';
import type { ExitKind } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import { adapterTable, isWrong } from '../views/adapter-text.ts';
import { resolvedLines } from '../views/client-tables.ts';

const category = 'Providers';

/** Prints `{from, adapters: [metadata + ready, hasSecret, problem?, detail?], connections}`, or a table. */
export class AdaptersCommand extends ServerCommand {
  static override readonly paths = [['providers'], ['adapters']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List providers and connections, and whether each can be used',
    details: `
      Looks for keys, for a local daemon that answers, and for credentials that the provider's own tools keep. Tries no key: \`$0 verify <id>\`
      does. Asks the running server, which has an environment of its own; without one, it looks from this shell.
    `,
    examples: [['Which can I use?', '$0 providers']],
  });

  protected override async run(): Promise<ExitKind> {
    const asked = {
      server: async (api: Api) => ({ ...(await api.adapterStatus()), all: await api.connections() }),
      shell: async (core: Core, signal: AbortSignal) => ({ adapters: await core.status({ signal }), all: core.connections.list() }),
    };
    return this.withServerOrShell(asked, async ({ adapters, all }, from) => {
      const connections = all.filter(({ name }) => adapters.every(({ id }) => id !== name));
      await this.print({ from, adapters, connections }, this.json ? [] : adapterTable(adapters, { width: this.width, style: this.style }, connections));
      if (!this.json && connections.some(isWrong)) await this.say(`\`${this.hint('doctor')}\` says what is wrong with an entry.`);
      return 'ok';
    });
  }
}

/** Prints `{provider, models, count}` or the model ids; `{name, by, targets}` for another name; `{defaultProvider, aliases, models}` without one. */
export class ModelsCommand extends ServerCommand {
  static override readonly paths = [['models']];
  static override readonly usage = Command.Usage({
    category,
    description: 'List models, or show what a model name means',
    details: `
      Without a name, it lists every name that a client may send: the aliases first. With the id of a provider, it lists the models of that
      provider; with any other name, it shows which models of which providers are asked for it. Asks the running server, which has an environment of
      its own; the list of one provider works without a server too.
    `,
    examples: [
      ['The models of one provider', '$0 models <id>'],
      ['Every name that clients may send', '$0 models'],
      ['What a name means', '$0 models small-model'],
    ],
  });

  id = Option.String({ name: 'id|name', required: false });

  protected override async run(): Promise<ExitKind> {
    const { id } = this;
    if (id === undefined) return this.#offered();
    const asked = {
      server: async (api: Api) => ((await api.connections()).some(({ name }) => name === id) ? api.models(id) : api.resolveModel(id).catch(asUnknown(api, id))),
      shell: (core: Core, signal: AbortSignal) => core.models(id, { signal }),
    };
    return this.withServerOrShell(asked, async (found) => {
      await this.print(found, 'models' in found ? found.models.map(oneLine) : resolvedLines(found));
      return 'ok';
    });
  }

  async #offered(): Promise<ExitKind> {
    return this.withServer(async (api) => {
      const names = await api.modelNames();
      await this.print(
        names,
        names.models.map(({ id }) => oneLine(id)),
      );
      if (names.models.length === 0 && !this.json) await this.say(`No provider can be used yet. \`${this.hint('providers')}\` says what is missing.`);
      return 'ok';
    });
  }
}

/** Another name of a provider is no model name: the server knows it in URLs. */
function asUnknown(api: Api, id: string) {
  return async (error: unknown) => {
    try {
      return await api.models(id);
    } catch {
      throw error; // what is wrong with the name as a model is more telling
    }
  };
}

/** Prints `{provider, ok, detail}`, or the detail; exit code 3 when `ok` is false. */
export class VerifyCommand extends ServerCommand {
  static override readonly paths = [['verify']];
  static override readonly usage = Command.Usage({
    category,
    description: 'Check the credential of a provider, or its address',
    details: `
      Never sends anything to a model, so it costs nothing. Asks the running server, which has an environment of its own; without one,
      it checks from this shell. Ends with exit code 3 when the check fails.
    `,
    examples: [['Try a new key', '$0 verify <id>']],
  });

  id = Option.String({ name: 'id' });

  protected override async run(): Promise<ExitKind> {
    const asked = { server: (api: Api) => api.verify(this.id), shell: (core: Core, signal: AbortSignal) => core.verify(this.id, {}, { signal }) };
    return this.withServerOrShell(asked, async (result) => {
      await this.print(result, result.ok ? [oneLine(result.detail)] : []);
      if (!result.ok) await this.say(`blockhouse: ${oneLine(`${result.provider} does not work: ${result.detail}`)}`);
      return result.ok ? 'ok' : 'credentials';
    });
  }
}
