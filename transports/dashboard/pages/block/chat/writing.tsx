// What stands around the text of a reply while it is written.
import { cancelMessage } from '../../../data/blocks.ts';
import type { Reply } from '../../../data/reply.ts';
import { Mark } from '../../../parts/mark.tsx';
import { Calls, callsOf } from './run.tsx';
import { Button } from '../../../parts/widgets.tsx';
import { attemptText, charactersText, chatText, speedText } from '../../../text/block.ts';

interface WritingProps {
  readonly block: string;
  readonly reply: Reply | undefined;
}

/** Who writes. */
export function WritingWho({ block, reply }: WritingProps) {
  const calls = callsOf(block, reply?.id);
  return (
    <div class="who">
      <h2 class="clip">{block}</h2>
      <Calls list={calls} />
      {reply?.phase === 'writing' && calls.length === 0 && (
        <span class="row acc">
          <Mark state="working" named={false} />
          {reply.text === '' ? chatText.starting : chatText.writing}
        </span>
      )}
    </div>
  );
}

/** How fast it grows, how to end it, and what went wrong with an attempt. */
export function WritingFacts({ block, reply }: WritingProps) {
  if (reply === undefined) return null;
  const { phase, error, code, id, attempt, model } = reply;
  if (phase !== 'writing') {
    return error === undefined ? null : (
      <div class="row wrap outcome bad">
        <span class="grow break">{error}</span>
        <span class="num t3">{code}</span>
      </div>
    );
  }
  return (
    <div class="live-facts">
      <Button label={chatText.stop} icon="stop" small keys="Escape" run={() => cancelMessage(block, id)} />
      <Pace reply={reply} />
      {attempt > 1 && <span class="num">{attemptText(attempt)}</span>}
      {model !== '' && <span class="num clip">{model}</span>}
    </div>
  );
}

function Pace({ reply: { firstTextAt, paceFrom, text, at } }: { readonly reply: Reply }) {
  if (firstTextAt === undefined) return null;
  const seconds = (at - paceFrom.at) / 1000;
  return (
    <>
      <span class="num">{charactersText(text.length)}</span>
      {seconds > 1 && <span class="num">{speedText(Math.round((text.length - paceFrom.characters) / seconds))}</span>}
    </>
  );
}
