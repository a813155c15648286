// What a block remembers, as people change it: facts, a compaction by hand, its undoing, and the reset of everything but configuration and chat.
import { randomBytes } from 'node:crypto';
import { BlockhouseError } from '../errors.ts';
import { budgetStand } from '../monitor/budget-check.ts';
import { compact, undoCompaction } from '../monitor/compaction.ts';
import { noCosts } from '../monitor/costs.ts';
import type { BlockMemory, Fact } from '../schemas/block.ts';
import { AddFact } from '../schemas/block-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { freshMemory, freshPulse } from './contents.ts';
import type { OpenBlocks } from './open-blocks.ts';

const checkFact: Validator<AddFact> = compile(AddFact);
const MAX_FACTS = 1000;

export class MemoryOperations {
  readonly #blocks: OpenBlocks;

  constructor(blocks: OpenBlocks) {
    this.#blocks = blocks;
  }

  async addFact(name: string, body: unknown): Promise<Fact> {
    checkFact(body);
    const block = await this.#blocks.find(name);
    const fact: Fact = { id: `f${randomBytes(6).toString('hex')}`, text: body.text, pinned: body.pinned ?? true, createdAt: block.at() };
    return block.files.memory.update((memory) => {
      if (memory.facts.length >= MAX_FACTS) throw new BlockhouseError('WRONG_STATE', `There are ${MAX_FACTS} facts already; remove one first.`);
      return { value: { ...memory, facts: [...memory.facts, fact] }, result: fact };
    });
  }

  async removeFact(name: string, id: string): Promise<void> {
    const block = await this.#blocks.find(name);
    await block.files.memory.update((memory) => {
      const facts = memory.facts.filter((fact) => fact.id !== id);
      if (facts.length === memory.facts.length) throw new BlockhouseError('MESSAGE_NOT_FOUND', 'The block has no fact of this id.');
      return { value: { ...memory, facts }, result: undefined };
    });
  }

  /** `signal` ends it when the process does. */
  async compact(name: string, signal: AbortSignal): Promise<BlockMemory> {
    const block = await this.#blocks.find(name);
    if (block.state === 'working' || block.state === 'compacting') throw new BlockhouseError('WRONG_STATE', 'A reply is being made; try again after it.');
    return compact(block, 'manual', signal);
  }

  /** Also heals damaged files of what it clears; their old content was kept. */
  async reset(name: string, hard: boolean): Promise<{ readonly message: string; readonly cleared: readonly string[] }> {
    const block = await this.#blocks.find(name);
    const { files, ids } = block;
    const config = await files.config.read();
    const { memory } = config;
    // What was spent stays spent: the caps go by the ledger.
    const budget = await budgetStand(block, config);
    // Ids sort by time: what is there now lies before this one, so that the model no longer sees it.
    ids.follow(await files.chat.read().catch(() => [])); // a damaged chat shows nothing to the model
    if (hard) await block.log.clear(); // first: if it is refused, nothing else is changed
    const fresh = freshMemory(memory.maxContextTokens);
    await files.memory.replace((old) => ({ ...old, ...fresh, window: { ...fresh.window, firstKeptId: ids.next() } }));
    await files.costs.replace((old) => ({ ...old, ...noCosts(), budget, lastReset: block.at() }));
    await files.pulse.replace((old) => ({ ...((block.isRunning && old) || freshPulse()), transitions: [], restarts: 0, consecutiveFailures: 0 }));
    return { message: `${name} was reset; configuration and chat history stay.`, cleared: ['memory', 'costs', 'pulse', ...(hard ? ['logs'] : [])] };
  }

  async undoCompaction(name: string): Promise<BlockMemory> {
    return undoCompaction(await this.#blocks.find(name));
  }
}
