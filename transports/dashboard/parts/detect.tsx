// The way to a local server: a look at the usual ports, when somebody wants it.
import { useState } from 'preact/hooks';
import type { DetectedServer } from '../../../core/types.ts';
import { tell } from '../base/toast.ts';
import { detectServers, storeConnection } from '../data/connections.ts';
import { connectionsText, foundText, storedConnectionText } from '../text/index.ts';
import { Button } from './widgets.tsx';

/** Lists what answers, and adds one by its preset. `reload` reads the connections again. */
export function Detect({ reload }: { reload(): Promise<void> }) {
  const [found, setFound] = useState<readonly DetectedServer[] | undefined>();
  const add = async (preset: string): Promise<void> => {
    await storeConnection(preset, {}, true);
    tell(storedConnectionText(preset));
    setFound(await detectServers());
    await reload();
  };
  return (
    <>
      <Button label={connectionsText.detect} kind="quiet" run={async () => setFound(await detectServers())} />
      {found !== undefined && (
        <div role="status">
          <ul class="found">
            {found.length === 0 && <li class="t2">{connectionsText.detected}</li>}
            {found.map(({ preset, baseURL, connection }) => (
              <li key={baseURL} class="row">
                {foundText(preset, baseURL, connection)}
                {connection === null && <Button label={connectionsText.addFound} small run={() => add(preset)} />}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
