// Blocks as people set them up: created, and configured.
import { BlockhouseError } from '../errors.ts';
import type { BlockConfig } from '../schemas/block.ts';
import { CreateBlock } from '../schemas/block-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Blocks } from './api.ts';
import { applyPatch } from './config-rules.ts';
import { configWarnings } from './config-warnings.ts';
import { completeConfig } from './contents.ts';
import { assertNewName } from './names.ts';
import type { OpenBlocks } from './open-blocks.ts';
import type { Vault } from './vault.ts';
import type { World } from './workshop.ts';

const checkCreate: Validator<CreateBlock> = compile(CreateBlock);

export interface ConfigOperationsOptions {
  readonly world: World;
  readonly vault: Vault;
  readonly blocks: OpenBlocks;
  /** Names have come. */
  onMoved(): void;
}

export class ConfigOperations {
  readonly #options: ConfigOperationsOptions;

  constructor(options: ConfigOperationsOptions) {
    this.#options = options;
  }

  /** A new block is stopped, whatever its configuration wants. */
  async create(body: unknown): ReturnType<Blocks['create']> {
    checkCreate(body);
    const { name } = body;
    assertNewName(name);
    const { blocks, vault, world } = this.#options;
    const fresh = completeConfig({}, name, this.#at());
    const config = body.config === undefined ? fresh : { ...this.#patched(fresh, body.config, 'config.'), rev: 1 };
    const { unconfirmed } = await blocks.whileMoving(name, async () => {
      await blocks.dismiss(name);
      return vault.create({ ...config, enabled: false });
    });
    this.#options.onMoved();
    world.bus.emit('block.created', { block: name });
    if (unconfirmed !== undefined) throw unconfirmed; // it is there all the same
    return { name, warnings: configWarnings(body.config, 'config.') };
  }

  async read(name: string): Promise<BlockConfig> {
    return (await this.#options.blocks.find(name)).files.config.read();
  }

  async update(name: string, patch: unknown, ifMatch: number | undefined): ReturnType<Blocks['updateConfig']> {
    const block = await this.#options.blocks.find(name);
    const changed = await block.files.config.update((config) => {
      if (ifMatch !== undefined && ifMatch !== config.rev) {
        throw new BlockhouseError('REVISION_MISMATCH', `The configuration has revision ${config.rev}, not ${ifMatch}; read it again and repeat the change.`);
      }
      const value = this.#patched(config, patch, '');
      return { value, result: value };
    });
    return { config: changed, warnings: configWarnings(patch) };
  }

  /** `place` is where the patch stands in the body. */
  #patched(config: BlockConfig, patch: unknown, place: '' | 'config.'): BlockConfig {
    const canonical = (name: string, field: string): string => this.#options.world.gateway.readiness(name, undefined, `${place}${field}`).id;
    return applyPatch(config, patch, { canonical, at: this.#at(), place });
  }

  #at(): string {
    return new Date(this.#options.world.now()).toISOString();
  }
}
