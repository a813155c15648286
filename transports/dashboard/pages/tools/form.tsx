// The form of a server of tools.
import { useState } from 'preact/hooks';
import type { ToolServerView } from '../../../../core/types.ts';
import { tell } from '../../base/toast.ts';
import { commandOf, isAddress, putToolServer, serverOf, signInOf, type TypedServer } from '../../data/tools.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, TextField } from '../../parts/fields.tsx';
import { toolsText } from '../../text/index.ts';

interface FormProps {
  /** Undefined for a new one. */
  readonly server?: ToolServerView;
  readonly close: () => void;
  reload(): Promise<void>;
}

/** The dialog. What is saved is not started: it waits for an approval. */
export function ServerForm({ server, close, reload }: FormProps) {
  const [typed, setTyped] = useState<TypedServer>(() => typedServer(server));
  const [isTried, setTried] = useState(false);
  const made = serverOf(typed);
  const isNamed = /^[A-Za-z0-9_-]{1,64}$/.test(made?.name ?? typed.name);
  const set = (change: Partial<TypedServer>): void => setTyped({ ...typed, ...change });
  const act = async (): Promise<void> => {
    setTried(true);
    if (made === undefined || !isNamed) return;
    await putToolServer(made.name, server === undefined ? made.server : { ...othersOf(server), ...made.server }, signInOf(typed, server?.settings));
    tell(toolsText.saved);
    close();
    await reload();
  };
  return (
    <FormDialog title={server?.name ?? toolsText.addTitle} does={toolsText.save} close={close} act={act}>
      {server === undefined && (
        <TextField
          label={toolsText.name}
          wrong={isTried && !isNamed ? toolsText.nameWrong : undefined}
          value={typed.name}
          set={(name) => set({ name: name.trim() })}
        />
      )}
      <Lines
        label={toolsText.what}
        help={toolsText.whatHelp}
        wrong={isTried && made === undefined && (isNamed || typed.what.trim() === '') ? toolsText.whatWrong : undefined}
        value={typed.what}
        set={(what) => set({ what })}
      />
      {!typed.what.trim().startsWith('{') && (
        <Lines label={toolsText.more} help={toolsText.moreHelp} wrong={undefined} value={typed.more} set={(more) => set({ more })} />
      )}
      {isAddress(typed.what) && (
        <>
          <TextField label={toolsText.clientId} value={typed.clientId} set={(clientId) => set({ clientId: clientId.trim() })} />
          <TextField label={toolsText.issuer} help={toolsText.issuerHelp} value={typed.issuer} set={(issuer) => set({ issuer: issuer.trim() })} />
        </>
      )}
    </FormDialog>
  );
}

interface LinesProps {
  readonly label: string;
  readonly help: string;
  readonly wrong: string | undefined;
  readonly value: string;
  set(value: string): void;
}

function Lines({ label, help, wrong, value, set }: LinesProps) {
  return (
    <Field label={label} help={help} wrong={wrong}>
      {(props) => <textarea {...props} class="input mono" rows={3} spellcheck={false} value={value} onInput={(event) => set(event.currentTarget.value)} />}
    </Field>
  );
}

function typedServer(server: ToolServerView | undefined): TypedServer {
  if (server === undefined) return { name: '', what: '', more: '', clientId: '', issuer: '' };
  const { env, headers } = server.server;
  const more = Object.entries((env ?? headers ?? {}) as object).map(([name, value]) => `${name}=${value}`);
  const { clientId = '', issuer = '' } = (server.settings['oauth'] ?? {}) as Partial<TypedServer>;
  return { name: server.name, what: commandOf(server), more: more.join('\n'), clientId, issuer };
}

/** What the form does not show stays. */
function othersOf({ server }: ToolServerView): object {
  const { command: _command, args: _args, env: _env, url: _url, headers: _headers, type: _type, ...others } = server;
  return others;
}
