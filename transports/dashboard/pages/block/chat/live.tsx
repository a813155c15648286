// What is not answered yet: messages that wait, and messages on their way to the server.
import type { ChatEntry } from '../../../../../core/types.ts';
import { now } from '../../../base/clock.ts';
import { cancelMessage } from '../../../data/blocks.ts';
import type { Outgoing } from '../../../data/outbox.ts';
import { outbox } from '../../../data/services.ts';
import { Mark } from '../../../parts/mark.tsx';
import { Button, Problem } from '../../../parts/widgets.tsx';
import { againText, chatText, fullText, waitsText } from '../../../text/block.ts';
import { Plain } from './entry.tsx';

interface WaitingProps {
  readonly block: string;
  readonly entry: ChatEntry;
  /** How many messages are before it. */
  readonly before: number;
  readonly isLinked: boolean;
}

/** A message that waits for its turn. */
export function Waiting({ block, entry, before, isLinked }: WaitingProps) {
  const { id, content, error, nextAttemptAt } = entry;
  return (
    <article class={`m waits ${isLinked ? 'linked' : ''}`} id={`entry-${id}`} data-line data-entry={id} tabIndex={-1}>
      <Mark state="stopped" named={false} />
      <span class="grow clip" title={content.slice(0, 500)}>
        {content.slice(0, 500)}
      </span>
      {error !== null && error !== undefined && <span class="num warn clip">{error.code}</span>}
      <span class="chip">{nextAttemptAt === undefined ? waitsText(before) : againText(nextAttemptAt, now.value)}</span>
      <Button label={chatText.cancel} kind="quiet" small run={() => cancelMessage(block, id)} />
    </article>
  );
}

/** A message that the server does not have yet. */
export function Sending({ message, edit }: { readonly message: Outgoing; readonly edit: (text: string) => void }) {
  const { state, text, error, block, clientId } = message;
  const takeBack = (): void => {
    outbox.drop(block, clientId);
    edit(text);
  };
  return (
    <article class="m u" data-line>
      <div class="who">
        <h2 class="clip">{chatText.you}</h2>
        <span class="chip">{stateText(message)}</span>
        {(state === 'full' || state === 'offline') && <Button label={chatText.cancel} kind="quiet" small run={takeBack} />}
      </div>
      <Plain text={text} />
      {state === 'refused' && error !== undefined && (
        <Problem error={error}>
          <Button label={chatText.tryAgain} small run={() => outbox.sendAgain(message)} />
          <Button label={chatText.edit} small run={takeBack} />
        </Problem>
      )}
    </article>
  );
}

function stateText({ state, nextAt }: Outgoing): string {
  if (state !== 'full') return chatText[state];
  now.value;
  return fullText(Math.max(0, Math.ceil(((nextAt ?? 0) - Date.now()) / 1000)));
}
