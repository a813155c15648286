// The blocks of a workspace: what `core.blocks` does, put together. Each operation finds its block, steers its actor or changes a
// file, and answers.

import { join } from 'node:path';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import { noCosts } from '../monitor/costs.ts';
import { reportCosts } from '../monitor/costs-report.ts';
import { explain } from '../monitor/explain.ts';
import type { BlockConfig, BlockPulse, Channel, ChatEntry, Fact } from '../schemas/block.ts';
import {
  type BlockEntry,
  type ChatReceipt,
  type CostsReport,
  CreateBlock,
  type DoctorReport,
  type Explanation,
  type HaltState,
  type LogFile,
} from '../schemas/block-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { newestLogs } from '../workspace/block-log.ts';
import type { BlockDetails, Blocks, FollowOptions, StopFollowing } from './api.ts';
import { Block } from './block.ts';
import { Catalog, sweep } from './catalog.ts';
import { applyPatch } from './config-rules.ts';
import { completeConfig, freshMemory, freshPulse } from './contents.ts';
import { examine } from './doctor.ts';
import type { HaltSwitch } from './halt.ts';
import { assertNewName } from './names.ts';
import { OpenBlocks } from './open-blocks.ts';
import { ArchiveOperations } from './operations-archive.ts';
import { ChatOperations } from './operations-chat.ts';
import { MemoryOperations } from './operations-memory.ts';
import { Vault } from './vault.ts';
import type { World } from './workshop.ts';

const checkCreate: Validator<CreateBlock> = compile(CreateBlock);
/** Between the starts of two monitors at the start of a server: a thousand of them are no herd. */
const STAGGER_MS = 10;
/** How long the replies of all blocks may go on when the server ends. */
const CLOSING_GRACE_MS = 3000;

export class WorkspaceBlocks implements Blocks {
  readonly #world: World;
  readonly #halt: HaltSwitch;
  readonly #vault: Vault;
  readonly #catalog: Catalog;
  readonly #blocks: OpenBlocks;
  readonly #chat: ChatOperations;
  readonly #memory: MemoryOperations;
  readonly #archive: ArchiveOperations;
  readonly #closing = new AbortController();
  #resuming: Promise<void> = Promise.resolve();
  #watchdog: NodeJS.Timeout | undefined;

  constructor(world: World, halt: HaltSwitch) {
    this.#world = world;
    this.#halt = halt;
    this.#vault = new Vault(world.workspace);
    this.#catalog = new Catalog({
      folder: this.#vault.blocks,
      read: (name) => this.#read(name),
      isOpen: (name) => this.#blocks.has(name),
      now: () => world.now(),
      onFault: (what, error) => this.#fault(what, error),
    });
    this.#blocks = new OpenBlocks({
      catalog: this.#catalog,
      make: (name) => this.#make(name),
      sweep: (name) => sweep(this.#vault.folderOf(name), (what, error) => this.#fault(what, error)),
    });
    this.#chat = new ChatOperations(this.#blocks, (block) => this.#autoStart(block));
    this.#memory = new MemoryOperations(this.#blocks);
    this.#archive = new ArchiveOperations({ world, vault: this.#vault, blocks: this.#blocks, onMoved: () => this.#catalog.rescan() });
  }

  /** Makes the folders and begins to start what is wanted running, in the background. */
  async open(): Promise<void> {
    await this.#vault.open();
    this.#world.bus.on('credentials.changed', this.#onCredentials);
    this.#world.bus.on('workspace.halted', this.#onHalt);
    // auth.json and the kill switch are looked at when somebody asks: monitors that wait for a change ask here.
    this.#watchdog = setInterval(() => this.#look(), 1000);
    this.#watchdog.unref();
    this.#resuming = this.#resume().catch((error: unknown) => this.#fault('resume', error));
  }

  /** Stops every monitor; what is wanted running stays wanted. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#watchdog);
    this.#world.bus.off('credentials.changed', this.#onCredentials);
    this.#world.bus.off('workspace.halted', this.#onHalt);
    await this.#resuming;
    let cut: NodeJS.Timeout | undefined;
    const hurry = new Promise<void>((resolve) => {
      cut = setTimeout(resolve, CLOSING_GRACE_MS);
    });
    await Promise.all(this.#blocks.all().map((block) => block.stop('server stops', 'server', hurry)));
    clearTimeout(cut);
    await Promise.all(this.#blocks.all().map((block) => block.close()));
  }

  counts(): { readonly blocks: number; readonly monitorsRunning: number } {
    return { blocks: this.#catalog.size, monitorsRunning: this.#blocks.running };
  }

  list(): Promise<readonly BlockEntry[]> {
    return this.#catalog.list();
  }

  async create(body: unknown): Promise<{ readonly name: string }> {
    checkCreate(body);
    const { name } = body;
    assertNewName(name);
    const at = new Date(this.#world.now()).toISOString();
    const fresh = completeConfig({}, name, at);
    const config = body.config === undefined ? fresh : { ...this.#patched(fresh, body.config), rev: 1 };
    await this.#blocks.whileMoving(name, () => this.#vault.create({ ...config, enabled: false }));
    this.#catalog.rescan();
    this.#world.bus.emit('block.created', { block: name });
    return { name };
  }

  async details(name: string): Promise<BlockDetails> {
    const { config, memory, costs, pulse } = await (await this.#blocks.find(name)).contents();
    return { name, config, memory, costs, pulse };
  }

  async explain(name: string): Promise<Explanation> {
    const { config, pulse } = await this.details(name);
    return explain({ name, config, pulse, now: this.#world.now() });
  }

  async config(name: string): Promise<BlockConfig> {
    return (await this.#blocks.find(name)).files.config.read();
  }

  async updateConfig(name: string, patch: unknown, { ifMatch }: { readonly ifMatch?: number | undefined } = {}): Promise<BlockConfig> {
    const block = await this.#blocks.find(name);
    const updated = await block.files.config.update((config) => {
      if (ifMatch !== undefined && ifMatch !== config.rev) {
        throw new BlockhouseError('REVISION_MISMATCH', `The configuration has revision ${config.rev}, not ${ifMatch}; read it again and repeat the change.`);
      }
      const value = this.#patched(config, patch);
      return { value, result: value };
    });
    return updated;
  }

  async start(name: string): Promise<{ readonly message: string; readonly pulse: BlockPulse }> {
    const block = await this.#blocks.find(name);
    const wasRunning = block.isRunning;
    await this.#assertConfigured(block);
    await this.#want(block, true);
    await block.start('start', 'user');
    return { message: wasRunning ? `${name} runs already.` : `${name} is running.`, pulse: await block.pulse() };
  }

  async stop(name: string): Promise<{ readonly message: string; readonly pulse: BlockPulse }> {
    const block = await this.#blocks.find(name);
    const wasRunning = block.isRunning;
    await this.#want(block, false);
    await block.stop('stop', 'user');
    return { message: wasRunning ? `${name} is stopped.` : `${name} was not running.`, pulse: await block.pulse() };
  }

  async restart(name: string): Promise<{ readonly message: string; readonly pulse: BlockPulse }> {
    const block = await this.#blocks.find(name);
    await this.#assertConfigured(block);
    await block.stop('restart', 'user');
    const { pulse } = await this.start(name);
    return { message: `${name} was started again.`, pulse };
  }

  async reset(name: string, { hard = false }: { readonly hard?: boolean } = {}): Promise<{ readonly message: string; readonly cleared: readonly string[] }> {
    const block = await this.#blocks.find(name);
    const at = block.at();
    const { memory } = await block.files.config.read();
    // Ids sort by time: what is there now lies before this one, so that the model no longer sees it.
    const border = block.ids.next();
    const fresh = freshMemory(memory.maxContextTokens);
    await block.files.memory.replace({ ...fresh, window: { ...fresh.window, firstKeptId: border } });
    await block.files.costs.replace({ ...noCosts(), lastReset: at });
    const pulse = block.isRunning ? await block.files.pulse.read() : freshPulse();
    await block.files.pulse.replace({ ...pulse, transitions: [], restarts: 0, consecutiveFailures: 0 });
    if (hard) await block.log.clear();
    return { message: `${name} was reset; configuration and chat history stay.`, cleared: ['memory', 'costs', 'pulse', ...(hard ? ['logs'] : [])] };
  }

  post(name: string, body: unknown, channel: Channel): Promise<ChatReceipt> {
    return this.#chat.post(name, body, channel);
  }

  history(name: string): Promise<readonly ChatEntry[]> {
    return this.#chat.history(name);
  }

  cancel(name: string, messageId: string): Promise<ChatEntry> {
    return this.#chat.cancel(name, messageId);
  }

  retry(name: string, messageId: string): Promise<ChatEntry> {
    return this.#chat.retry(name, messageId);
  }

  async logs(name: string): Promise<readonly LogFile[]> {
    const block = await this.#blocks.find(name);
    await block.log.flush();
    return newestLogs(join(block.folder, 'logs'));
  }

  addFact(name: string, body: unknown): Promise<Fact> {
    return this.#memory.addFact(name, body);
  }

  removeFact(name: string, factId: string): Promise<void> {
    return this.#memory.removeFact(name, factId);
  }

  compact(name: string): ReturnType<Blocks['compact']> {
    return this.#memory.compact(name, this.#closing.signal);
  }

  undoCompaction(name: string): ReturnType<Blocks['undoCompaction']> {
    return this.#memory.undoCompaction(name);
  }

  archive(name: string): ReturnType<Blocks['archive']> {
    return this.#archive.archive(name);
  }

  archives(): ReturnType<Blocks['archives']> {
    return this.#archive.archives();
  }

  restore(archive: string, body?: unknown): ReturnType<Blocks['restore']> {
    return this.#archive.restore(archive, body);
  }

  purge(archive: string): ReturnType<Blocks['purge']> {
    return this.#archive.purge(archive);
  }

  export(name: string): Promise<Uint8Array> {
    return this.#archive.export(name);
  }

  import(archive: Uint8Array, name?: string): ReturnType<Blocks['import']> {
    return this.#archive.import(archive, name);
  }

  costs({ by, block }: { readonly by: CostsReport['by']; readonly block?: string | undefined }): Promise<CostsReport> {
    return reportCosts(this.#world.ledger.lines(), by, block);
  }

  check(): Promise<DoctorReport> {
    return examine({ workspace: this.#world.workspace, vault: this.#vault, read: (name) => this.#read(name) });
  }

  halted(): HaltState {
    return this.#halt.state();
  }

  halt(body: unknown = {}): Promise<HaltState> {
    return this.#halt.set(body);
  }

  unhalt(): Promise<HaltState> {
    return this.#halt.release();
  }

  follow(name: string, options: FollowOptions): StopFollowing {
    return this.#blocks.findNow(name).follow(options);
  }

  #make(name: string): Block {
    return new Block(name, this.#vault.folderOf(name), this.#world, {
      onStale: (stale) => this.#catalog.markStale(stale),
      archive: (block, wasRunning) => this.#archive.moveToArchive(block, wasRunning),
    });
  }

  /** For the list: a block that nobody holds is read and let go again. */
  async #read(name: string): ReturnType<Block['contents']> {
    if (this.#blocks.has(name)) return (await this.#blocks.find(name)).contents();
    this.#blocks.prepare(name);
    return this.#make(name).contents();
  }

  #patched(config: BlockConfig, patch: unknown): BlockConfig {
    const canonical = (name: string, field: string): string => this.#world.gateway.stand(name, undefined, field).id;
    return applyPatch(config, patch, { canonical, at: new Date(this.#world.now()).toISOString() });
  }

  async #assertConfigured(block: Block): Promise<void> {
    const { adapter } = await block.files.config.read();
    if (adapter === null) throw invalidRequest('config.adapter', `is not set: \`blockhouse config set ${block.name} 'adapter={"provider":"…","model":"…"}'\``);
    const { provider, baseURL, region } = adapter;
    const overrides = { ...(baseURL !== undefined && { baseURL }), ...(region !== undefined && { region }) };
    const { missing } = this.#world.gateway.stand(provider, overrides, 'config.adapter.provider');
    if (missing !== undefined) throw invalidRequest('config.adapter', `can't be used: ${missing.message}`);
  }

  /** The wanted state, which a server start honours. */
  async #want(block: Block, enabled: boolean): Promise<void> {
    await block.files.config.update((config) => ({
      value: config.enabled === enabled ? config : { ...config, enabled, updatedAt: block.at(), rev: config.rev + 1 },
      result: undefined,
    }));
  }

  async #autoStart(block: Block): Promise<void> {
    try {
      await this.start(block.name);
    } catch (error) {
      this.#fault('autoStart', error, block.name);
    }
  }

  async #resume(): Promise<void> {
    for (const { name, config } of await this.#catalog.list()) {
      if (config.enabled !== true) continue;
      if (this.#closing.signal.aborted) return;
      await this.#resumeOne(name);
      await pause(STAGGER_MS, this.#closing.signal);
    }
  }

  async #resumeOne(name: string): Promise<void> {
    try {
      await (await this.#blocks.find(name)).start('server start', 'server');
    } catch (error) {
      this.#fault('resume', error, name);
    }
  }

  readonly #onCredentials = (): void => {
    this.#catalog.markAllStale();
    this.#wake('credentials changed', 'user');
  };

  readonly #onHalt = ({ halted }: { readonly halted: boolean }): void => this.#wake(halted ? 'halt' : 'unhalt', 'user');

  #wake(cause: string, actor: 'user'): void {
    for (const block of this.#blocks.all()) block.send({ type: 'settings.changed', cause, actor });
  }

  /** Only where somebody waits for what it would find. */
  #look(): void {
    this.#halt.state();
    if (!this.#blocks.all().some((block) => block.isRunning && (block.state === 'failed' || block.state === 'paused'))) return;
    this.#world.refreshCredentials();
  }

  #fault(what: string, error: unknown, block?: string): void {
    const text = error instanceof BlockhouseError ? error.message : ((error as NodeJS.ErrnoException).code ?? String(error));
    this.#world.bus.emit('workspace.fault', { what, error: text, ...(block !== undefined && { block }) });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
