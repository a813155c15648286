// The keys of a connection, each with its state, and never itself.
import type { ComponentChildren } from 'preact';
import { count } from '../base/format.ts';
import type { Connection, ConnectionKey } from '../data/connections.ts';
import { atWorkText, connectionsText, keyModelsText, keyStateText, shareText } from '../text/connections.ts';
import { Mark } from './mark.tsx';
import { Table } from './table.tsx';

const MARKS: Readonly<Record<ConnectionKey['state'], string>> = {
  ready: 'idle',
  cooling: 'backoff',
  refused: 'failed',
  empty: 'paused',
  unset: 'unconfigured',
  elsewhere: 'unconfigured',
};

interface ConnectionKeysProps {
  readonly connection: Connection;
  /** What can be done to a key; adds a column. */
  actions?(key: ConnectionKey): ComponentChildren;
}

/** A row for each key, in the order of the entry. */
export function ConnectionKeys({ connection: { keys }, actions }: ConnectionKeysProps) {
  const heads = [
    connectionsText.label,
    connectionsText.state,
    [connectionsText.from, 'wide'] as const,
    [connectionsText.weight, 'end wide'] as const,
    [connectionsText.atWork, 'end wide'] as const,
    [connectionsText.calls, 'end'] as const,
    [<span title={connectionsText.cachedMore}>{connectionsText.cached}</span>, 'end'] as const,
    ...(actions === undefined ? [] : [[<span class="sr">{connectionsText.keyMenu}</span>, 'end'] as const]),
  ];
  return (
    <Table shape="connection-keys" heads={heads}>
      {keys.map((key) => (
        <tr key={key.label}>
          <td class="num">{key.label}</td>
          <td class="key-state">
            <span class="row">
              <Mark state={MARKS[key.state] ?? 'unknown'} named={false} />
              <span>
                <span class={key.state === 'refused' ? 'bad' : ''}>{keyStateText(key)}</span> <span class="t2 break">{keyModelsText(key)}</span>
              </span>
            </span>
          </td>
          <td class="t2 num wide">{key.source}</td>
          <td class="num end wide">{count(key.weight)}</td>
          <td class="num end wide">{atWorkText(key)}</td>
          <td class="num end">{count(key.calls)}</td>
          <td class="num end">{shareText(key.cachedShare)}</td>
          {actions !== undefined && <td class="end">{actions(key)}</td>}
        </tr>
      ))}
    </Table>
  );
}
