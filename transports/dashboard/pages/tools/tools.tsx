// The servers of tools: what each would run, what it offers, and what of that a person has approved.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ToolServerView } from '../../../../core/types.ts';
import { tell, tellFailure } from '../../base/toast.ts';
import { onEvent } from '../../data/events.ts';
import { useLoad } from '../../data/load.ts';
import {
  approveToolServer,
  beginSignIn,
  canSignIn,
  commandOf,
  mayOpen,
  putToolServer,
  readToolServer,
  readToolServers,
  removeToolServer,
  setToolSecret,
  signOut,
  testToolServer,
  waitsForSignIn,
} from '../../data/tools.ts';
import { ask, showDialog } from '../../parts/dialog.tsx';
import { Visible } from '../../parts/hidden.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Mark } from '../../parts/mark.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Button, Copy, Empty, Problem } from '../../parts/widgets.tsx';
import { approveText, chatText, problemText, removeServerTitle, serverStateText, termsText, toolsOfText, toolsText } from '../../text/index.ts';
import { ServerForm } from './form.tsx';
import { ToolList } from './list.tsx';
import { Skills } from './skills.tsx';

const TONES: Readonly<Record<string, string>> = { failed: 'bad', paused: 'warn' };

/** The page. */
export default function Tools() {
  const { state, reload } = useLoad(readToolServers, []);
  const { data, error } = state.value;
  const add = (): void => void showDialog((close) => <ServerForm close={close} reload={reload} />);
  const button = <Button label={toolsText.add} icon="plus" run={add} />;
  return (
    <>
      <header class="top">
        <h1 class="grow">{toolsText.title}</h1>
        {data !== undefined && data.length > 0 && button}
      </header>
      <div class="page">
        <div class="tool-servers">
          {error !== undefined && (
            <Problem error={error}>
              <Button label={chatText.lookAgain} small run={reload} />
            </Problem>
          )}
          {data?.length === 0 && <Empty text={toolsText.none}>{button}</Empty>}
          {data?.map((server) => (
            <Server key={server.name} listed={server} reload={reload} />
          ))}
          {data !== undefined && <Skills />}
        </div>
      </div>
    </>
  );
}

interface ServerProps {
  readonly listed: ToolServerView;
  reload(): Promise<void>;
}

/** A server; what waits for a person is unfolded. */
function Server({ listed, reload }: ServerProps) {
  const { name } = listed;
  const waits = listed.state === 'held' || listed.state === 'changed' || listed.tools.some((tool) => tool.state === 'new' || tool.state === 'changed');
  const [chosen, setOpen] = useState<boolean | undefined>();
  const hasWaited = useRef(false);
  hasWaited.current ||= waits; // what was approved just now stays in view
  const isOpen = chosen ?? hasWaited.current;
  const [failure, setFailure] = useState<unknown>();
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    setFailure(undefined);
    await work().catch(setFailure);
    await reload();
  };
  const [words, mark] = serverStateText(listed.state);
  return (
    <section class="tool-server" aria-label={name}>
      <header class="row wrap">
        <Mark state={mark} named={false} />
        <h2 class="break">{name}</h2>
        <span class={`sm ${TONES[mark] ?? 't2'}`}>{words}</span>
        <span class="grow" />
        <div class="row">
          <Button label={/^(?:ready|starting)$/.test(listed.state) ? chatText.lookAgain : toolsText.test} small run={() => act(() => testToolServer(listed))} />
          <ServerMenu listed={listed} act={act} reload={reload} />
        </div>
      </header>
      <p class="cmd mono">
        <span class="break">
          <Visible text={commandOf(listed)} />
        </span>
        <Copy text={commandOf(listed)} iconOnly />
      </p>
      <Named label={toolsText.environment} of={listed.server['env']} />
      <Named label={toolsText.headers} of={listed.server['headers']} />
      {termsText(listed.settings).map(([label, text]) => (
        <p key={label} class="sm t2 break">
          {label}: <Visible text={text} />
        </p>
      ))}
      {listed.problem !== undefined && <p class="sm warn break">{problemText(listed.problem, canSignIn())}</p>}
      {failure !== undefined && <Problem error={failure} />}
      <SignIn server={listed} failure={failure} act={act} />
      <Secrets server={listed} reload={reload} />
      <button type="button" class="fold sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'chevron' : 'next'} small />
        {toolsOfText(listed)}
      </button>
      {isOpen && <Contents listed={listed} act={act} />}
    </section>
  );
}

interface MenuProps extends ServerProps {
  act(work: () => Promise<unknown>): Promise<void>;
}

function ServerMenu({ listed, act, reload }: MenuProps) {
  const { name } = listed;
  const remove = async (): Promise<void> => {
    if (!(await ask({ title: removeServerTitle(name), text: toolsText.removeText, does: toolsText.remove, danger: true }))) return;
    await removeToolServer(name);
    await reload();
  };
  return (
    <Menu
      label={`${toolsText.change} ${name}`}
      small
      choices={[
        { label: toolsText.change, icon: 'edit', run: () => showDialog((close) => <ServerForm server={listed} close={close} reload={reload} />) },
        ...(listed.signIn?.state === 'signed-in' ? [{ label: toolsText.signOut, run: () => act(() => signOut(name)) }] : []),
        { label: toolsText.remove, icon: 'trash', danger: true, run: remove },
      ]}
    />
  );
}

interface SignInProps {
  readonly server: ToolServerView;
  readonly failure: unknown;
  act(work: () => Promise<unknown>): Promise<void>;
}

/** For a server that a person must sign in to: where the link leads is named before it is followed. */
function SignIn({ server, failure, act }: SignInProps) {
  const { name, signIn } = server;
  const [link, setLink] = useState<string | undefined>();
  useEffect(() => onEvent((event) => void (event.name === 'server.signed-in' && event.data['server'] === name && act(async () => setLink(undefined)))), []);
  const begin = async (): Promise<void> => {
    const next = await beginSignIn(name);
    if (next !== undefined && !mayOpen(next)) throw new Error(toolsText.unsafe);
    setLink(next);
  };
  if (signIn?.state === 'signed-in')
    return (
      <p class="sm t2 break">
        {toolsText.signedIn} <Visible text={signIn.issuer ?? ''} />
      </p>
    );
  if (!canSignIn() || (link === undefined && !waitsForSignIn(server, failure))) return null;
  return (
    <div class="row wrap">
      <Button label={toolsText.signIn} small run={() => act(begin)} />
      {link !== undefined && (
        <a class="link break" href={link} target="_blank" rel="noopener noreferrer">
          {toolsText.goOn} {new URL(link).origin}
        </a>
      )}
    </div>
  );
}

/** Variables or headers, with their references; what is secret is not in them. */
function Named({ label, of }: { readonly label: string; readonly of: unknown }) {
  const list = typeof of === 'object' && of !== null ? Object.entries(of) : [];
  if (list.length === 0) return null;
  return (
    <p class="sm t2 break">
      {label}: <Visible text={list.map(([name, value]) => `${name}=${value}`).join(', ')} />
    </p>
  );
}

/** The tools, and what of the server can be approved as it is on the screen. */
function Contents({ listed, act }: { readonly listed: ToolServerView; act(work: () => Promise<unknown>): Promise<void> }) {
  const { state } = useLoad(() => readToolServer(listed.name), [listed]);
  const { data: server, error } = state.value;
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  if (server === undefined) return error === undefined ? null : <Problem error={error} />;
  const isServer = server.state === 'held' || server.state === 'changed';
  const open = server.tools.filter((tool) => tool.state === 'new' || tool.state === 'changed');
  const chosen = open.filter(({ name }) => !left.has(name));
  const approve = async (): Promise<void> => {
    await approveToolServer(server, chosen);
    tell(toolsText.approved);
  };
  return (
    <>
      {server.tools.length === 0 && server.era === null && <p class="sm t2">{toolsText.noTools}</p>}
      <ToolList server={server} left={left} setLeft={setLeft} put={(settings) => act(() => putToolServer(server.name, server.server, settings))} />
      {(isServer || open.length > 0) && (
        <div class="row wrap">
          <Button label={approveText(isServer, chosen.length)} disabled={!isServer && chosen.length === 0} run={() => act(approve)} />
          {isServer && (
            <span class="sm t3 mono break">
              {toolsText.definition} {server.definition.slice(0, 16)}
            </span>
          )}
        </div>
      )}
    </>
  );
}

/** Write-only: each is there or missing, and never shown. */
function Secrets({ server: { secrets = [] }, reload }: { readonly server: ToolServerView; reload(): Promise<void> }) {
  const [shown, show] = useState<string | undefined>();
  const field = useRef<HTMLInputElement>(null); // the value is in the field alone
  useLayoutEffect(() => field.current?.focus(), [shown]);
  const set = async (name: string, to: string | null): Promise<void> => {
    await setToolSecret(name, to);
    show(undefined);
    tell(to === null ? toolsText.secretRemoved : toolsText.secretStored);
    await reload();
  };
  return (
    <>
      {secrets.map(({ name, isStored }) => (
        <form
          key={name}
          class="row wrap sm"
          onSubmit={(event) => {
            event.preventDefault();
            const { value = '' } = field.current ?? {};
            if (value !== '') void set(name, value).catch(tellFailure);
          }}
        >
          <span class="mono break">{name}</span>
          <span class={isStored ? 't2' : 'warn'}>{isStored ? toolsText.stored : toolsText.missing}</span>
          {shown === name && <input class="input" type="password" autocomplete="off" aria-label={name} maxLength={8192} ref={field} />}
          {shown === name ? (
            <Button label={toolsText.store} small submit />
          ) : (
            <Button label={isStored ? toolsText.replace : toolsText.store} small run={() => show(name)} />
          )}
          {isStored && <Button label={toolsText.forget} small kind="quiet" run={() => set(name, null)} />}
        </form>
      ))}
    </>
  );
}
