// What is under way: the reply that is being written, messages that wait, and messages on their way to the server.

import type { ChatEntry } from '../../../../../core/types.ts';
import { againText, attemptText, charactersText, chatText, fullText, speedText, waitsText } from '../../../app/text/block.ts';
import type { OpenBlock } from '../../../data/block.ts';
import { blockURL } from '../../../data/blocks.ts';
import { now } from '../../../data/clock.ts';
import { post } from '../../../data/http.ts';
import { drop, type Outgoing, sendAgain } from '../../../data/outbox.ts';
import { Button, Problem } from '../../../parts/bits.tsx';
import { Mark } from '../../../parts/mark.tsx';
import { Markdown } from '../../../parts/markdown/markdown.tsx';
import { Plain } from './entry.tsx';

/** Ends a reply, or takes back a message that waits. Rejects with an ApiError. */
export async function cancelMessage(block: string, id: string): Promise<void> {
  await post(blockURL(block, `/chat/${encodeURIComponent(id)}/cancel`));
}

/** The reply; it alone is drawn again when a piece comes. */
export function LiveReply({ open }: { readonly open: OpenBlock }) {
  const reply = open.reply.value;
  if (reply === undefined) return null;
  const { text, phase, id } = reply;
  const isWriting = phase === 'writing';
  return (
    <article class="m" data-line data-live={isWriting ? '' : undefined} aria-busy={isWriting}>
      <div class="who">
        <b class="clip">{open.name}</b>
        {isWriting && (
          <span class="row acc">
            <Mark state="working" named={false} />
            {text === '' ? chatText.starting : chatText.writing}
          </span>
        )}
      </div>
      <Markdown source={text} />
      {isWriting && <span class="caret" aria-hidden="true" />}
      {reply.error !== undefined && (phase === 'failed' || phase === 'waits') && (
        <div class="row wrap outcome bad">
          <span class="grow break">{reply.error}</span>
          <span class="num t3">{reply.code}</span>
        </div>
      )}
      {isWriting && (
        <div class="live-facts num">
          <Button label={chatText.stop} icon="stop" small keys="Escape" run={() => cancelMessage(open.name, id)} />
          <Pace open={open} />
          {reply.attempt > 1 && <span>{attemptText(reply.attempt)}</span>}
          {reply.model !== '' && <span class="clip">{reply.model}</span>}
        </div>
      )}
    </article>
  );
}

function Pace({ open }: { readonly open: OpenBlock }) {
  const reply = open.reply.value;
  if (reply?.firstTextAt === undefined) return null;
  const seconds = (reply.at - reply.firstTextAt) / 1000;
  return (
    <>
      <span>{charactersText(reply.text.length)}</span>
      {seconds > 1 && <span>{speedText(Math.round(reply.text.length / seconds))}</span>}
    </>
  );
}

/** A message that waits for its turn. */
export function Waiting({ block, entry, before }: { readonly block: string; readonly entry: ChatEntry; readonly before: number }) {
  const { id, content, error, nextAttemptAt } = entry;
  return (
    <article class="m wait" data-line data-entry={id} tabIndex={-1}>
      <Mark state="stopped" named={false} />
      <span class="grow clip" title={content.slice(0, 500)}>
        {content.slice(0, 500)}
      </span>
      {error !== null && error !== undefined && <span class="num warn clip">{error.code}</span>}
      <span class="chip">{nextAttemptAt === undefined ? waitsText(before) : againText(nextAttemptAt)}</span>
      <Button label={chatText.cancel} kind="quiet" small run={() => cancelMessage(block, id)} />
    </article>
  );
}

/** A message that the server does not have yet. */
export function Sending({ message, edit }: { readonly message: Outgoing; readonly edit: (text: string) => void }) {
  const { state, text, error, block, clientId } = message;
  const takeBack = (): void => {
    drop(block, clientId);
    edit(text);
  };
  return (
    <article class="m u" data-line>
      <div class="who">
        <b>{chatText.you}</b>
        <span class="chip">{stateText(message)}</span>
        {(state === 'full' || state === 'offline') && <Button label={chatText.cancel} kind="quiet" small run={takeBack} />}
      </div>
      <Plain text={text} />
      {state === 'refused' && error !== undefined && (
        <Problem error={error}>
          <Button label={chatText.tryAgain} small run={() => sendAgain(message)} />
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
