// Whether a workspace holds what was promised. Pure: no I/O.
//
// D1 What was acknowledged is there; what was asked for and not acknowledged is there whole or not at all.
// D2 A message is there once, at most one answer of it is, and it was asked no more often than its attempts say. A call that the server left
//    of its own accord may have given its attempt back; or what had come of it by then is the answer, as an interrupted one.
// D3 When all is done, each message has its answer, and the answer its call in the ledger.
import type { BlockOnDisk, EntryOnDisk, Snapshot } from './disk.ts';
import { echoOf } from './echo-daemon.ts';
import type { Acknowledged, BlockPromises, Place, Posted, Traveller } from './promises.ts';

export interface Asked {
  /** How often the daemon was asked for each message. */
  readonly calls: ReadonlyMap<string, number>;
  /** How many of these calls the server has left of its own accord, and not because it was killed. */
  readonly leftEarly: ReadonlyMap<string, number>;
  /** D3. */
  readonly isDone: boolean;
}

/** What is wrong; nothing is good. What may be either way is settled as it was found. */
export function judge(promised: Acknowledged, snapshot: Snapshot, asked: Asked): string[] {
  return [
    ...snapshot.faults,
    ...promised.blocks.flatMap((block) => judgeBlock(block, snapshot, asked)),
    ...promised.travellers.flatMap((traveller) => judgeTraveller(traveller, snapshot)),
  ];
}

/** D1. */
function judgeBlock(promised: BlockPromises, snapshot: Snapshot, asked: Asked): string[] {
  const found = snapshot.blocks.get(promised.name);
  if (found === undefined) return [`the block ${promised.name} is gone`];
  const { description, systemPrompt, tags, enabled } = found.config;
  const texts = new Set(found.facts.map(({ text }) => text));
  const faults = [
    ['description', promised.fields.description.settle(description)],
    ['systemPrompt', promised.fields.systemPrompt.settle(systemPrompt)],
    ['tag', promised.fields.tag.settle(tags[0] ?? '')],
    ['enabled', promised.enabled.settle(enabled)],
    ...[...promised.facts].map(([text, there]) => [text, there.settle(texts.has(text))]),
  ].flatMap(([what, fault]) => (fault === undefined ? [] : [`${what}: ${fault}`]));
  return [...faults, ...judgeMessages(promised.messages, found, snapshot, asked)].map((fault) => `${promised.name}: ${fault}`);
}

function judgeMessages(messages: readonly Posted[], found: BlockOnDisk, snapshot: Snapshot, asked: Asked): string[] {
  const byClient = groupedBy(found.entries, ({ clientId }) => clientId);
  const byMessage = groupedBy(found.entries, ({ replyTo }) => replyTo);
  const places = new Map(found.entries.map(({ id }, index) => [id, index]));
  const faults: string[] = [];
  let last = -1;
  for (const posted of messages) {
    const entries = byClient.get(posted.clientId) ?? [];
    const entry = entries[0];
    if (entries.length > 1) faults.push(`${posted.text} is there ${entries.length} times`);
    if (entry === undefined) {
      if (posted.id !== undefined) faults.push(`${posted.text} was acknowledged and is gone`);
      continue;
    }
    if (posted.id !== undefined && posted.id !== entry.id) faults.push(`${posted.text} was acknowledged as ${posted.id} and is ${entry.id}`);
    const place = places.get(entry.id) ?? -1;
    if (place < last) faults.push(`${posted.text} stands before one that was acknowledged earlier`);
    last = Math.max(last, place);
    faults.push(...judgeAnswers(posted, entry, byMessage.get(entry.id) ?? [], snapshot, asked));
  }
  return faults;
}

/** D2, D3. */
function judgeAnswers({ text }: Posted, entry: EntryOnDisk, answers: readonly EntryOnDisk[], snapshot: Snapshot, asked: Asked): string[] {
  const faults: string[] = [];
  const calls = asked.calls.get(text) ?? 0;
  const left = asked.leftEarly.get(text) ?? 0;
  const attempts = entry.attempts ?? 0;
  if (calls - left > attempts) faults.push(`${text} was asked ${calls} times in ${attempts} attempts${left > 0 ? `, and left early ${left} times` : ''}`);
  if (answers.length > 1) faults.push(`${text} has ${answers.length} answers`);
  const [answer] = answers;
  if (answer === undefined) return asked.isDone ? [...faults, `${text} is ${entry.status} and has no answer`] : faults;
  const isPart = answer.status === 'interrupted' && left > 0;
  if (entry.status !== 'done' || !(answer.status === 'done' || isPart)) faults.push(`${text} is ${entry.status}, its answer ${answer.status}`);
  if (!(isPart ? isBeginning(answer.content, echoOf(text)) : answer.content === echoOf(text))) faults.push(`${text} was answered with ${answer.content}`);
  const billed = snapshot.ledger.get(entry.id) ?? 0;
  if (billed === 0 || billed > calls) faults.push(`${text} was asked ${calls} times and is ${billed} times in the ledger`);
  return faults;
}

/** The whole text, too: what comes behind it says that it was all, and may not have been read. */
function isBeginning(content: string, whole: string): boolean {
  return content !== '' && whole.startsWith(content);
}

/** D1: in one place, never in two and never in none. */
function judgeTraveller({ name, place }: Traveller, { blocks, archived }: Snapshot): string[] {
  const [here, there] = [blocks.get(name), archived.get(name)];
  if (here !== undefined && there !== undefined) return [`${name} is in the archive and among the blocks`];
  const found = here ?? there;
  const where: Place = found === undefined ? 'nowhere' : here === undefined ? 'archive' : 'blocks';
  const fault = place.settle(where);
  if (fault !== undefined) return [`${name}: ${fault}`];
  return found === undefined || found.config.description === name ? [] : [`${name} has another content: ${found.config.description}`];
}

function groupedBy(entries: readonly EntryOnDisk[], key: (entry: EntryOnDisk) => string | undefined): Map<string, EntryOnDisk[]> {
  const groups = new Map<string, EntryOnDisk[]>();
  for (const entry of entries) {
    const name = key(entry);
    if (name !== undefined) groups.set(name, [...(groups.get(name) ?? []), entry]);
  }
  return groups;
}
