// Where a server of the workspace answers, as the others read it in the database. A text of another version that has not this form says nothing.
//
// same-machine: told by the name of the machine, since the loopback addresses of a server mean another program elsewhere.
import { hostname } from 'node:os';
import { isObject, tryParseJson } from '../../base/json.ts';
import type { Addresses, ServedAt } from '../store.ts';
import type { OtherNode } from './node-watch.ts';

/** What a server writes beside its row. */
export function servedText(served: readonly ServedAt[], machine: string = hostname()): string {
  return JSON.stringify({ machine, served });
}

/** What the others have written. */
export function serversOf(others: readonly Pick<OtherNode, 'served'>[], here: string = hostname()): Parameters<Addresses['know']>[0] {
  return others.flatMap(({ served: text }) => {
    const value = text === null ? undefined : tryParseJson(text);
    if (!isObject(value) || !Array.isArray(value['served'])) return [];
    return [{ isSameMachine: value['machine'] === here, served: value['served'].filter(isServedAt) }]; // same-machine
  });
}

function isServedAt(value: unknown): value is ServedAt {
  return isObject(value) && [value['origins'], value['paths']].every((texts) => Array.isArray(texts) && texts.every((text) => typeof text === 'string'));
}
