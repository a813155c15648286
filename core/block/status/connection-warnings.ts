// What a block that comes from elsewhere asks on this machine. It has only the names of its connections, so each leads to whatever has that name here. Pure: no I/O.
import type { Gateway } from '../../gateway/gateway.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { Warning } from '../../schemas/chat.ts';
import { candidatesOf } from './candidates.ts';

type Known = Pick<Gateway, 'adapterIds' | 'adapterIdOf' | 'connectionStore'>;

/** One warning for each connection that the block uses, and for each that is not there. The providers themselves are the same everywhere. */
export function connectionWarnings(gateway: Known, config: BlockConfig): Warning[] {
  const names = candidatesOf(config).map(({ provider }) => provider);
  return names.flatMap((name, index): Warning[] => {
    const id = gateway.adapterIdOf(name);
    if ((id !== undefined && gateway.adapterIds().includes(id)) || names.indexOf(name) < index) return [];
    const field = index === 0 ? 'config.adapter.provider' : `config.fallbacks[${index - 1}].provider`;
    return [{ field, message: id === undefined ? missing(name) : used(gateway, id) }];
  });
}

function used({ connectionStore }: Known, name: string): string {
  const { baseURL = null, ready = false, detail = null } = connectionStore.list().find((connection) => connection.name === name) ?? {};
  const place = baseURL === null ? '' : `, at ${baseURL}`;
  return `The block will use the connection ${name} of this machine${place}.${ready || detail === null ? '' : ` It is not ready: ${detail}`}`;
}

/** What may be the name of a connection. Anything else may be a key in the wrong place, and is not repeated. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/;

function missing(name: string): string {
  if (!NAME.test(name)) return 'This is neither a provider nor a connection of this machine; choose another provider in the configuration of the block.';
  return `${name} is neither a provider nor a connection of this machine. \`blockhouse auth set ${name}\` adds a connection of this name; or choose another provider in the configuration of the block.`;
}
