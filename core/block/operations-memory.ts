// Changes of a block's memory by people: facts, compactions and their undo, and the reset of everything but configuration and chat.
import { randomBytes } from 'node:crypto';
import { BlockhouseError } from '../errors.ts';
import { AddFact, ChangeFact } from '../schemas/block-api.ts';
import type { Fact } from '../schemas/block-memory.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Blocks } from './api.ts';
import type { Block } from './block.ts';
import { noCosts } from './costs/costs.ts';
import { freshMemory, freshPulse } from './documents/document-codecs.ts';
import type { OperationsContext } from './operations.ts';
import { budgetStand } from './reply/budget-check.ts';
import { undoCompaction } from './reply/compaction.ts';

const checkFact: Validator<AddFact> = compile(AddFact);
const checkChange: Validator<ChangeFact> = compile(ChangeFact);
const MAX_FACTS = 1000;

/** Facts, compactions by hand, and resets. */
export function memoryOperations({
  change,
  owners,
}: OperationsContext): Pick<Blocks, 'addFact' | 'changeFact' | 'removeFact' | 'compact' | 'undoCompaction' | 'reset'> {
  return {
    addFact: (name, body) => change(name, (block) => addFact(block, body)),
    changeFact: (name, id, body) => change(name, (block) => changeFact(block, id, body)),
    removeFact: (name, id) => change(name, (block) => removeFact(block, id)),
    compact: (name) =>
      change(name, async (block) => {
        await owners.take(block);
        return block.compact();
      }),
    undoCompaction: (name) => change(name, undoCompaction),
    reset: (name, { hard = false } = {}) => change(name, (block) => reset(block, hard)),
  };
}

async function addFact(block: Block, body: unknown): Promise<Fact> {
  checkFact(body);
  const fact: Fact = { id: `f${randomBytes(6).toString('hex')}`, text: body.text, pinned: body.pinned ?? true, createdAt: block.at() };
  return block.files.memory.update((memory) => {
    if (memory.facts.length >= MAX_FACTS) throw new BlockhouseError('WRONG_STATE', `The block already has ${MAX_FACTS} facts, the limit; remove one first.`);
    return { value: { ...memory, facts: [...memory.facts, fact] }, result: fact };
  });
}

async function changeFact(block: Block, id: string, body: unknown): Promise<Fact> {
  checkChange(body);
  return block.files.memory.update((memory) => {
    const old = memory.facts.find((fact) => fact.id === id);
    if (old === undefined) throw noSuchFact();
    const fact: Fact = { ...old, ...body };
    return { value: { ...memory, facts: memory.facts.map((one) => (one === old ? fact : one)) }, result: fact };
  });
}

async function removeFact(block: Block, id: string): Promise<void> {
  await block.files.memory.update((memory) => {
    const facts = memory.facts.filter((fact) => fact.id !== id);
    if (facts.length === memory.facts.length) throw noSuchFact();
    return { value: { ...memory, facts }, result: undefined };
  });
}

function noSuchFact(): BlockhouseError {
  return new BlockhouseError('MESSAGE_NOT_FOUND', 'The block has no fact with this id.');
}

/** Also replaces damaged files; a copy of their old content was kept. */
async function reset(block: Block, hard: boolean): Promise<{ readonly message: string; readonly cleared: readonly string[] }> {
  const { name, files } = block;
  const config = await files.config.read();
  const { memory } = config;
  // A reset doesn't lift caps: they follow the ledger.
  const budget = await budgetStand(block, config);
  if (hard) await block.log.clear(); // first, so that a failure changes nothing else
  const runs = hard ? await block.files.conversation.clearSteps() : 0;
  const firstKeptId = await files.conversation.border(); // all existing entries come before it, so the model no longer sees them
  const fresh = freshMemory(memory.maxContextTokens);
  await files.memory.replace((old) => ({ ...old, ...fresh, window: { ...fresh.window, firstKeptId } }));
  await files.costs.replace((old) => ({ ...old, ...noCosts(), budget, lastReset: block.at() }));
  const { isRunning } = await block.standing();
  await files.pulse.replace((old) => ({ ...((isRunning && old) || freshPulse()), transitions: [], restarts: 0, consecutiveFailures: 0 }));
  return {
    message: `${name} was reset. Its configuration and chat history were kept.`,
    cleared: ['memory', 'costs', 'pulse', ...(hard ? ['logs'] : []), ...(runs > 0 ? ['runs'] : [])],
  };
}
