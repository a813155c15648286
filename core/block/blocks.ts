// The blocks of a workspace: what `core.blocks` does, put together. Each operation finds its block, steers its actor or changes a
// file, and answers.
//
// P1 At its end nothing comes in that changes something, no monitor starts, and what came in before is waited for: after `close` nothing is written.
import { join } from 'node:path';
import { BlockhouseError } from '../errors.ts';
import { reportCosts } from '../monitor/costs-report.ts';
import { explain } from '../monitor/explain.ts';
import type { BlockConfig, Channel, ChatEntry, Fact } from '../schemas/block.ts';
import type { BlockEntry, ChatReceipt, CostsReport, DoctorReport, Explanation, HaltState, HistoryPage, LogFile, MessageFound } from '../schemas/block-api.ts';
import { newestLogs } from '../workspace/block-log.ts';
import type { BlockDetails, Blocks, FollowOptions, StopFollowing } from './api.ts';
import { Block } from './block.ts';
import { Catalog, sweep } from './catalog.ts';
import { countQueue, failuresIn } from './chat-file.ts';
import { examine } from './doctor.ts';
import { Door } from './door.ts';
import type { HaltSwitch } from './halt.ts';
import { OpenBlocks } from './open-blocks.ts';
import { ArchiveOperations } from './operations-archive.ts';
import { ChatOperations } from './operations-chat.ts';
import { ConfigOperations } from './operations-config.ts';
import { MemoryOperations } from './operations-memory.ts';
import { MonitorOperations } from './operations-monitor.ts';
import { Vault } from './vault.ts';
import type { World } from './workshop.ts';

export class WorkspaceBlocks implements Blocks {
  readonly #world: World;
  readonly #halt: HaltSwitch;
  readonly #vault: Vault;
  readonly #catalog: Catalog;
  readonly #blocks: OpenBlocks;
  readonly #chat: ChatOperations;
  readonly #config: ConfigOperations;
  readonly #memory: MemoryOperations;
  readonly #monitors: MonitorOperations;
  readonly #archive: ArchiveOperations;
  readonly #door = new Door();
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
    const shared = { world, vault: this.#vault, blocks: this.#blocks, onMoved: () => this.#catalog.rescan() };
    this.#monitors = new MonitorOperations({ world, blocks: this.#blocks, onFault: (what, error, block) => this.#fault(what, error, block) });
    this.#chat = new ChatOperations(this.#blocks, (block) => this.#monitors.autoStart(block));
    this.#config = new ConfigOperations(shared);
    this.#memory = new MemoryOperations(this.#blocks);
    this.#archive = new ArchiveOperations({
      ...shared,
      assertOpen: () => this.#door.assertOpen(),
      onStayed: (block) => this.#monitors.goOn(block),
    });
  }

  /** Makes the folders and begins to start what is wanted running, in the background. */
  async open(): Promise<void> {
    await this.#vault.open((what, error) => this.#fault(what, error));
    this.#world.bus.on('credentials.changed', this.#onCredentials);
    this.#world.bus.on('workspace.halted', this.#onHalt);
    // auth.json and the kill switch are looked at when somebody asks: monitors that wait for a change ask here.
    this.#watchdog = setInterval(() => this.#look(), 1000);
    this.#watchdog.unref();
    this.#resuming = this.#resume().catch((error: unknown) => this.#fault('resume', error));
  }

  /** Stops every monitor; what is wanted running stays wanted. P1. */
  async close(): Promise<void> {
    this.#door.shut();
    this.#closing.abort();
    clearInterval(this.#watchdog);
    this.#world.bus.off('credentials.changed', this.#onCredentials);
    this.#world.bus.off('workspace.halted', this.#onHalt);
    await this.#resuming;
    await this.#monitors.stopAll();
    await this.#world.compactions.endAll();
    await this.#door.emptied();
    await Promise.all(this.#blocks.all().map((block) => block.close()));
  }

  counts(): { readonly blocks: number; readonly monitorsRunning: number } {
    return { blocks: this.#catalog.size, monitorsRunning: this.#blocks.running };
  }

  list(): Promise<readonly BlockEntry[]> {
    return this.#catalog.list();
  }

  create(body: unknown): ReturnType<Blocks['create']> {
    return this.#door.pass(() => this.#config.create(body));
  }

  async details(name: string): Promise<BlockDetails> {
    const { config, memory, costs, pulse, chat } = await (await this.#blocks.find(name)).contents();
    // A monitor that waits for something else than messages counts them with its next heartbeat only.
    return { name, config, memory, costs, pulse: { ...pulse, queue: countQueue(chat) } };
  }

  async explain(name: string): Promise<Explanation> {
    const { config, pulse, chat } = await (await this.#blocks.find(name)).contents();
    return explain({ name, config, pulse: { ...pulse, queue: countQueue(chat) }, failures: failuresIn(chat), now: this.#world.now() });
  }

  config(name: string): Promise<BlockConfig> {
    return this.#config.read(name);
  }

  updateConfig(name: string, patch: unknown, { ifMatch }: { readonly ifMatch?: number | undefined } = {}): ReturnType<Blocks['updateConfig']> {
    return this.#door.pass(() => this.#config.update(name, patch, ifMatch));
  }

  start(name: string): ReturnType<Blocks['start']> {
    return this.#door.pass(() => this.#monitors.start(name));
  }

  stop(name: string): ReturnType<Blocks['stop']> {
    return this.#door.pass(() => this.#monitors.stop(name));
  }

  restart(name: string): ReturnType<Blocks['restart']> {
    return this.#door.pass(() => this.#monitors.restart(name));
  }

  reset(name: string, { hard = false }: { readonly hard?: boolean } = {}): ReturnType<Blocks['reset']> {
    return this.#door.pass(() => this.#memory.reset(name, hard));
  }

  post(name: string, body: unknown, channel: Channel): Promise<ChatReceipt> {
    return this.#door.pass(() => this.#chat.post(name, body, channel));
  }

  history(name: string, page?: HistoryPage): Promise<readonly ChatEntry[]> {
    return this.#chat.history(name, page);
  }

  message(name: string, messageId: string): Promise<MessageFound> {
    return this.#chat.message(name, messageId);
  }

  cancel(name: string, messageId: string): Promise<ChatEntry> {
    return this.#door.pass(() => this.#chat.cancel(name, messageId));
  }

  retry(name: string, messageId: string): Promise<ChatEntry> {
    return this.#door.pass(() => this.#chat.retry(name, messageId));
  }

  async logs(name: string): Promise<readonly LogFile[]> {
    const block = await this.#blocks.find(name);
    await block.log.flush();
    return newestLogs(join(block.folder, 'logs'));
  }

  addFact(name: string, body: unknown): Promise<Fact> {
    return this.#door.pass(() => this.#memory.addFact(name, body));
  }

  removeFact(name: string, factId: string): Promise<void> {
    return this.#door.pass(() => this.#memory.removeFact(name, factId));
  }

  compact(name: string): ReturnType<Blocks['compact']> {
    return this.#door.pass(() => this.#memory.compact(name, this.#closing.signal));
  }

  undoCompaction(name: string): ReturnType<Blocks['undoCompaction']> {
    return this.#door.pass(() => this.#memory.undoCompaction(name));
  }

  archive(name: string): ReturnType<Blocks['archive']> {
    return this.#door.pass(() => this.#archive.archive(name));
  }

  archives(): ReturnType<Blocks['archives']> {
    return this.#archive.archives();
  }

  restore(archive: string, body?: unknown): ReturnType<Blocks['restore']> {
    return this.#door.pass(() => this.#archive.restore(archive, body));
  }

  purge(archive: string): ReturnType<Blocks['purge']> {
    return this.#door.pass(() => this.#archive.purge(archive));
  }

  export(name: string): Promise<Uint8Array> {
    return this.#archive.export(name);
  }

  import(archive: Uint8Array, name?: string): ReturnType<Blocks['import']> {
    return this.#door.pass(() => this.#archive.import(archive, name));
  }

  costs({ by, block }: { readonly by: CostsReport['by']; readonly block?: string | undefined }): Promise<CostsReport> {
    return reportCosts(this.#world.ledger.lines(), by, block);
  }

  check(): Promise<DoctorReport> {
    return examine({ workspace: this.#world.workspace, vault: this.#vault, ledger: this.#world.ledger, read: (name) => this.#read(name) });
  }

  halted(): HaltState {
    return this.#halt.state();
  }

  halt(body: unknown = {}): Promise<HaltState> {
    return this.#door.pass(() => this.#halt.set(body));
  }

  unhalt(): Promise<HaltState> {
    return this.#door.pass(() => this.#halt.release());
  }

  follow(name: string, options: FollowOptions): StopFollowing {
    return this.#blocks.findNow(name).follow(options);
  }

  #make(name: string, onStale: (name: string) => void = (stale) => this.#catalog.markStale(stale)): Block {
    return new Block(name, this.#vault.folderOf(name), this.#world, {
      onStale,
      archive: (block, wasRunning) => this.#archive.moveToArchive(block, wasRunning),
    });
  }

  /** For the list: a block that nobody holds is read and let go again. What is found so makes nothing out of date. */
  async #read(name: string): ReturnType<Block['contents']> {
    if (this.#blocks.has(name)) return (await this.#blocks.find(name)).contents();
    this.#blocks.prepare(name);
    return this.#make(name, () => undefined).contents();
  }

  async #resume(): Promise<void> {
    await this.#monitors.resume(await this.#catalog.list(), this.#closing.signal);
  }

  readonly #onCredentials = (): void => {
    this.#catalog.markAllStale();
    this.#wake('settings.changed', 'credentials changed');
  };

  readonly #onHalt = ({ halted }: { readonly halted: boolean }): void => this.#wake('halt.changed', halted ? 'halt' : 'unhalt');

  #wake(type: 'settings.changed' | 'halt.changed', cause: string): void {
    for (const block of this.#blocks.all()) block.send({ type, cause, actor: 'user' });
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
