// The window of a block: what it sends to its model.
import { count } from '../../base/format.ts';
import type { Details } from '../../data/open-block.ts';
import { windowOf } from '../../data/window.ts';
import { factsText, instructionsText, newestText, ofTokensText, panelText } from '../../text/block.ts';

/** What the model sees, as a bar and in figures. */
export function WindowBar({ details }: { readonly details: Pick<Details, 'config' | 'memory'> }) {
  const { config, memory } = details;
  const { total, most, threshold, ...tokens } = windowOf(details);
  const parts = [
    { id: 'instructions', label: instructionsText(config.goals.length), tokens: tokens.instructions },
    { id: 'facts', label: factsText(memory.facts.filter(({ pinned }) => pinned).length), tokens: tokens.facts },
    { id: 'summary', label: panelText.summary, tokens: tokens.summary },
    { id: 'messages', label: newestText(memory.window.messages), tokens: tokens.messages },
  ].filter((part) => part.tokens > 0);
  return (
    <>
      <div class="win" aria-hidden="true">
        {parts.map((part) => (
          <i key={part.id} class={`of-${part.id}`} style={{ width: `${Math.min(100, (part.tokens / Math.max(1, most)) * 100)}%` }} />
        ))}
      </div>
      <div class="tick" aria-hidden="true">
        <span style={{ insetInlineStart: `${threshold}%` }}>{threshold} %</span>
      </div>
      <p class="num">
        {count(total)} <span class="t3">{ofTokensText(most)}</span>
      </p>
      <dl class="parts">
        {parts.map((part) => (
          <div key={part.id}>
            <dt>
              <i class={`of-${part.id}`} />
              {part.label}
            </dt>
            <dd class="num t3">{count(part.tokens)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
