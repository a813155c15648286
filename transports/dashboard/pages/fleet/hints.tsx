// The keys that help most, at the foot of the list.
import { count, plural } from '../../base/format.ts';
import { singleKeys } from '../../base/keys.ts';
import { Keys } from '../../parts/widgets.tsx';

const HINTS = [
  ['j', 'next'],
  ['Enter', 'open'],
  ['s', 'start or stop'],
  ['m', 'message'],
  ['w', 'why'],
  ['?', 'all keys'],
] as const;

/** Says how many blocks are listed, of how many. */
export function Hints({ shown, all }: { readonly shown: number; readonly all: number }) {
  return (
    <footer class="hint">
      {singleKeys.value &&
        HINTS.map(([keys, does]) => (
          <span key={keys}>
            <Keys keys={keys} /> {does}
          </span>
        ))}
      <span class="num grow end">{shown === all ? plural(all, 'block', 'blocks') : `${count(shown)} of ${plural(all, 'block', 'blocks')}`}</span>
    </footer>
  );
}
