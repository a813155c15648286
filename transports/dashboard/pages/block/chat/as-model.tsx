// How a program asks the block: as a model, at an address, with a name. Folded beside the chat.
import { curlLine } from '../../../data/programs.ts';
import { Copy } from '../../../parts/widgets.tsx';
import { asModelText } from '../../../text/block.ts';

/** The base URL, the name of the model, and a first question for a terminal. */
export function AsModel({ name }: { readonly name: string }) {
  const model = `block/${name}`;
  const shown: readonly (readonly [string, string])[] = [
    [asModelText.baseURL, `${location.origin}/v1`],
    [asModelText.model, model],
    [asModelText.tryIt, curlLine(location.origin, asModelText.key, model)],
  ];
  return (
    <section>
      <details>
        <summary>{asModelText.title}</summary>
        <p class="sm t2">{asModelText.lead}</p>
        {shown.map(([label, text]) => (
          <p key={label} class="sm">
            {label} <Copy text={text} label={label} iconOnly />
            <br />
            <span class="mono break">{text}</span>
          </p>
        ))}
      </details>
    </section>
  );
}
