// The connections: whether each can be used, where it is, its keys, and what can be changed about it.
import { useState } from 'preact/hooks';
import { tell } from '../../base/toast.ts';
import { type Connection, removeConnection, verifyConnection } from '../../data/connections.ts';
import { Detect } from '../../parts/detect.tsx';
import { ask } from '../../parts/dialog.tsx';
import { Mark } from '../../parts/mark.tsx';
import { Button } from '../../parts/widgets.tsx';
import { checkedText, connectionsText, connectionText, removeConnectionText, storedConnectionText, WORDS } from '../../text/index.ts';
import { AddConnection, ChangeConnection } from './connection-forms.tsx';
import { AddKey, Keys } from './keys.tsx';

interface ConnectionsProps {
  readonly list: readonly Connection[];
  /** The names that are taken. */
  readonly taken: ReadonlySet<string>;
  /** The one that is unfolded at first. */
  readonly open: string | undefined;
  reload(): Promise<void>;
}

/** The list, and the ways to another one. */
export function Connections({ list, taken, open, reload }: ConnectionsProps) {
  const [shown, show] = useState(open);
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      {list.length === 0 && !isAdding && <p class="t2">{connectionsText.none}</p>}
      {list.length > 0 && (
        <ul class="providers">
          {list.map((connection) => (
            <Row key={connection.name} connection={connection} isOpen={shown === connection.name} show={show} reload={reload} />
          ))}
        </ul>
      )}
      {isAdding ? (
        <div class="providers">
          <AddConnection
            taken={taken}
            cancel={() => setAdding(false)}
            done={async () => {
              setAdding(false);
              await reload();
            }}
          />
        </div>
      ) : (
        <div class="row wrap">
          <Button label={connectionsText.add} icon="plus" run={() => setAdding(true)} />
          <Detect reload={reload} />
        </div>
      )}
    </>
  );
}

interface RowProps {
  readonly connection: Connection;
  readonly isOpen: boolean;
  show(name: string | undefined): void;
  reload(): Promise<void>;
}

function Row({ connection, isOpen, show, reload }: RowProps) {
  const { name, ready } = connection;
  const [answer, setAnswer] = useState<{ readonly ok: boolean; readonly detail: string } | undefined>();
  return (
    <li>
      <div class="provider">
        <Mark state={ready ? 'idle' : 'stopped'} named={false} />
        <b class="b clip" title={name}>
          {name}
        </b>
        <span class="t2 break">{connectionText(connection)}</span>
        <span class="row">
          <Button label={connectionsText.check} small kind="quiet" run={async () => setAnswer(await verifyConnection(name))} />
          <Button
            label={isOpen ? WORDS.close : connectionsText.change}
            small
            {...(isOpen && { kind: 'quiet' as const })}
            run={() => show(isOpen ? undefined : name)}
          />
        </span>
        {answer !== undefined && (
          <p class={`answer break ${answer.ok ? 'ok' : 'bad'}`} role="status">
            {checkedText(name, answer.detail)}
          </p>
        )}
      </div>
      {isOpen && <Panel connection={connection} close={() => show(undefined)} reload={reload} />}
    </li>
  );
}

/** Its keys, and one form at a time. Without a key, the field for one is what a person looks for. */
function Panel({ connection, close, reload }: { readonly connection: Connection; readonly close: () => void; reload(): Promise<void> }) {
  const { name, keys, ready } = connection;
  const [form, setForm] = useState<'key' | 'change' | undefined>(ready ? undefined : 'change');
  const end = (): void => setForm(undefined);
  const done = async (): Promise<void> => {
    tell(storedConnectionText(name));
    end();
    await reload();
  };
  const remove = async (): Promise<void> => {
    if (!(await ask({ ...removeConnectionText(name), danger: true }))) return;
    await removeConnection(name);
    close();
    await reload();
  };
  return (
    <div class="unfolded">
      <Keys connection={connection} reload={reload} />
      {form === 'key' && <AddKey name={name} cancel={end} done={done} />}
      {form === 'change' && <ChangeConnection connection={connection} cancel={end} done={done} />}
      {form === undefined && (
        <div class="row wrap pad">
          {keys.length > 0 && <Button label={connectionsText.addKey} small run={() => setForm('key')} />}
          <Button label={connectionsText.addressAndKey} small run={() => setForm('change')} />
          <Button label={connectionsText.remove} icon="trash" small kind="quiet" run={remove} />
        </div>
      )}
    </div>
  );
}
