// The names under which a model sees tools: server__tool, made to fit what all providers take. Pure: no I/O.
import { sha256 } from './canonical.ts';

const MAX = 64;
/** Of a name that is too long or taken, this much stays before its hash. */
const KEPT = 55;

/** Names for tools, in the order in which they come. */
export function namesFor(tools: readonly { readonly server: string; readonly tool: string }[]): string[] {
  const taken = new Set<string>();
  return tools.map(({ server, tool }) => {
    const plain = plainName(`${server}__${tool}`);
    let name = plain;
    for (let tries = 0; name.length > MAX || taken.has(name); tries += 1) {
      const others = tries === 0 ? '' : ` ${tries}`; // a server may have named a tool as the hash of another one
      name = `${plain.slice(0, KEPT)}_${sha256(`${server}/${tool}${others}`).slice(0, 8)}`;
    }
    taken.add(name);
    return name;
  });
}

function plainName(name: string): string {
  const fit = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  return /^[a-zA-Z_]/.test(fit) ? fit : `_${fit}`;
}
