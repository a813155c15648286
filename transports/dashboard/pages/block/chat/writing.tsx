// The reply that is being written: its settled blocks are drawn once, its end with each piece.
import { answerFacts, chatText, writingFacts } from '../../../app/text.ts';
import type { OpenBlock } from '../../../data/block.ts';
import { Button } from '../../../parts/bits.tsx';
import { Mark } from '../../../parts/mark.tsx';
import { Markdown } from '../../../parts/markdown/nodes.tsx';

/** Nothing while no reply is being written. */
export function WritingReply({ block }: { readonly block: OpenBlock }) {
  const writing = block.writing.value;
  block.grown.value;
  if (writing === undefined) return null;
  const { settled, open } = block.tail;
  return (
    <article class="entry" aria-busy={!writing.isDone} data-writing="true">
      <div class="who">
        <b>{block.name}</b>
        {!writing.isDone && (
          <span class="row accent">
            <Mark state="working" named={false} />
            {chatText.writing}
          </span>
        )}
      </div>
      <div class="prose">
        {settled.map((text, index) => (
          <Markdown key={index} text={text} />
        ))}
        <Markdown key={settled.length} text={open} />
        {!writing.isDone && <span class="caret" />}
      </div>
      {!writing.isDone && (
        <div class="facts num">
          <Button label={chatText.stopReply} icon="stop" small keys="Escape" run={() => block.cancel(writing.id)} />
          {[...answerFacts({ model: writing.model }), ...writingFacts(writing.attempt, writing.pieces)].map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </div>
      )}
    </article>
  );
}
