// A table with its heading.
import type { ComponentChildren } from 'preact';

interface TableProps {
  readonly shape?: string;
  /** A name for each column; with a shape, such as `end`, where it has one. */
  readonly heads: readonly (string | readonly [name: ComponentChildren, shape?: string])[];
  /** The rows. */
  readonly children: ComponentChildren;
  readonly foot?: ComponentChildren;
  /** Leaves the scrolling to what is around it. */
  readonly isBare?: boolean;
}

/** A table, which scrolls sideways by itself where it is too wide. */
export function Table({ shape = '', heads, children, foot, isBare = false }: TableProps) {
  const table = (
    <table class={`rows ${shape}`.trim()}>
      <thead>
        <tr>
          {heads.map((each, index) => {
            const [name, shape] = typeof each === 'string' ? [each] : each;
            return (
              <th key={index} scope="col" class={shape}>
                {name}
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody>{children}</tbody>
      {foot !== undefined && <tfoot>{foot}</tfoot>}
    </table>
  );
  return isBare ? table : <div class="scroll">{table}</div>;
}
