// Memory of a block, as people change it: facts, a compaction by hand, and its undoing.
import { randomBytes } from 'node:crypto';
import { BlockhouseError } from '../errors.ts';
import { compact, undoCompaction } from '../monitor/compaction.ts';
import type { BlockMemory, Fact } from '../schemas/block.ts';
import { AddFact } from '../schemas/block-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
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

  async undoCompaction(name: string): Promise<BlockMemory> {
    return undoCompaction(await this.#blocks.find(name));
  }
}
