// The connections: whether each can be used, where it is, and what can be changed about it.
import type { Connection } from '../data/connections.ts';
import { connectionsText, connectionText } from '../text/index.ts';
import { Mark } from './mark.tsx';

/** The list. */
export function Connections({ list }: { readonly list: readonly Connection[] }) {
  if (list.length === 0) return <p class="t2">{connectionsText.none}</p>;
  return (
    <ul class="providers">
      {list.map((connection) => (
        <li key={connection.name}>
          <div class="provider">
            <Mark state={connection.ready ? 'idle' : 'stopped'} named={false} />
            <b class="b clip" title={connection.name}>
              {connection.name}
            </b>
            <span class="t2 break">{connectionText(connection)}</span>
          </div>
        </li>
      ))}
    </ul>
  );
}
