// First steps: each is done when the fact is true, not when a button was pressed.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { newBlock } from '../../actions/new-block.tsx';
import { endStandIn } from '../../actions/stand-in.tsx';
import { navigate } from '../../base/address.ts';
import { isVisible } from '../../base/clock.ts';
import { useKeys } from '../../base/keys.ts';
import { readConnections } from '../../data/connections.ts';
import { readProviders } from '../../data/credentials.ts';
import { changes, rows } from '../../data/fleet.ts';
import { useLoad } from '../../data/load.ts';
import { blockPath, pathOf } from '../../data/route.ts';
import { serverHealth } from '../../data/server.ts';
import { isStandIn, makeStandIn, useStandIn } from '../../data/stand-in.ts';
import { Detect } from '../../parts/detect.tsx';
import { Icon, Logo } from '../../parts/icon.tsx';
import { Providers } from '../../parts/providers.tsx';
import { Button, Problem } from '../../parts/widgets.tsx';
import { firstRunText, LABELS, standInText, WORDS } from '../../text/index.ts';

/** An Ollama that is started meanwhile is noticed after this time. */
const LOOK_EVERY_MS = 3000;

/** What is true of the workspace. */
function useFacts() {
  const providers = useLoad(readProviders, []);
  const { data: list, error } = providers.state.value;
  const connections = useLoad(readConnections, []);
  const isNamed = connections.state.value.data?.some(({ name, adapter, ready }) => ready && name !== adapter) ?? false;
  const hasProvider = isNamed || (list?.some(({ ready }) => ready) ?? false);
  useEffect(() => {
    if (hasProvider) return;
    const timer = setInterval(() => {
      if (isVisible.peek()) void providers.reload();
    }, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [hasProvider]);
  changes.value;
  const hasStandIn = useStandIn();
  const blocks = [...rows.value.values()].map((row) => row.peek());
  const standIn = blocks.find(isStandIn);
  const own = blocks.filter((entry) => !isStandIn(entry)); // the steps are those to a model
  const answered = own.find(({ costs, activity }) => costs.calls > 0 || (activity ?? []).some((answers) => answers > 0));
  const now = [true, hasProvider, own.length > 0, answered !== undefined].indexOf(false);
  return {
    list,
    error,
    reload: providers.reload,
    look: connections.reload,
    hasProvider,
    hasStandIn,
    standIn,
    first: answered ?? own[0],
    isAnswered: answered !== undefined,
    now,
  };
}

/** The page. */
export default function FirstRun() {
  const { list, error, reload, look, hasProvider, hasStandIn, standIn, first, isAnswered, now } = useFacts();
  const hasBlock = first !== undefined;
  useKeys([{ keys: 'n', does: WORDS.newBlock, run: newBlock }]);
  return (
    <div class="page">
      <div class="first-run">
        <Greeting title={hasProvider || list === undefined ? firstRunText.ready : firstRunText.nothing} />
        <ol class="steps">
          <Step number={1} now={now} isDone title={firstRunText.signedIn}>
            <p class="t2">{firstRunText.signedInMore}</p>
          </Step>
          <Step number={2} now={now} isDone={hasProvider} title={hasProvider ? firstRunText.providerDone : firstRunText.provider}>
            {error !== undefined && <Problem error={error} />}
            {list !== undefined && <Providers list={list} reload={reload} />}
            <div class="row wrap">
              <Detect reload={look} />
            </div>
          </Step>
          <Step number={3} now={now} isDone={hasBlock} title={hasBlock ? firstRunText.blockDone : firstRunText.block}>
            <p class="t2">{firstRunText.blockMore}</p>
            {!hasBlock && (
              <div>
                <Button label={WORDS.newBlock} icon="plus" {...(hasProvider && { kind: 'primary' as const })} run={newBlock} />
              </div>
            )}
          </Step>
          <Step number={4} now={now} isDone={isAnswered} title={isAnswered ? firstRunText.messageDone : firstRunText.message}>
            <p class="t2">{firstRunText.messageMore}</p>
            {hasBlock && (
              <div class="row wrap">
                <a class="btn" href={blockPath(first.name)}>
                  {firstRunText.open}
                </a>
                <a class="btn quiet" href={pathOf('fleet')}>
                  {firstRunText.fleet}
                </a>
              </div>
            )}
            {standIn !== undefined ? <StandIn name={standIn.name} /> : hasStandIn && !isAnswered && <Offer />}
          </Step>
        </ol>
      </div>
    </div>
  );
}

/** What this is, and which server. */
function Greeting({ title }: { readonly title: string }) {
  const { data } = useLoad(serverHealth, []).state.value;
  return (
    <section>
      <Logo size={26} />
      <h1>{title}</h1>
      <p class="lead t2">{firstRunText.lead}</p>
      <dl class="kv">
        <dt>{firstRunText.version}</dt>
        <dd class="num">{data?.version}</dd>
        <dt>{firstRunText.address}</dt>
        <dd class="num">{location.host}</dd>
        <dt>{firstRunText.keys}</dt>
        <dd>{firstRunText.keysIn}</dd>
      </dl>
    </section>
  );
}

/** Makes a block that answers without a model. */
function Offer() {
  return (
    <div class="stack">
      <div>
        <Button
          label={standInText.make}
          icon="play"
          run={async () => navigate(blockPath(await makeStandIn(standInText.description), 'chat', { write: '1' }))}
        />
      </div>
      <p class="t2">{standInText.makeMore}</p>
    </div>
  );
}

/** The way to that block, and its end. */
function StandIn({ name }: { readonly name: string }) {
  return (
    <div class="stack">
      <p class="t2">{standInText.there}</p>
      <div class="row wrap">
        <a class="btn" href={blockPath(name)}>
          {standInText.open}
        </a>
        <Button label={standInText.remove} icon="trash" kind="quiet" run={() => endStandIn(name)} />
      </div>
    </div>
  );
}

interface StepProps {
  readonly number: number;
  readonly now: number;
  readonly isDone: boolean;
  readonly title: string;
  readonly children: ComponentChildren;
}

function Step({ number, now, isDone, title, children }: StepProps) {
  const ahead = now === number - 1 ? 'now' : 'later';
  const shape = isDone ? 'done' : ahead;
  return (
    <li class={shape} aria-current={shape === 'now' ? 'step' : undefined}>
      <span class="n">{isDone ? <Icon name="check" small /> : number}</span>
      <div class="grow stack">
        <h2 class="b">
          {title}
          {isDone && <span class="sr"> {LABELS.done}</span>}
        </h2>
        {children}
      </div>
    </li>
  );
}
