// The programs that ask models through this server: their keys, and the names of models that they ask for.
import { readConnections } from '../../data/connections.ts';
import { useLoad } from '../../data/load.ts';
import { readKeys, readNames } from '../../data/programs.ts';
import { Problem } from '../../parts/widgets.tsx';
import { Names } from './aliases.tsx';
import { Keys } from './keys.tsx';

/** The tab. */
export function Programs() {
  const keys = useLoad(readKeys, []);
  const names = useLoad(readNames, []);
  const connections = useLoad(readConnections, []);
  const errors = [keys, names, connections].map(({ state }) => state.value.error);
  return (
    <>
      {errors.map((error, index) => error !== undefined && <Problem key={index} error={error} />)}
      {keys.state.value.data !== undefined && <Keys {...keys.state.value.data} names={names.state.value.data} reload={keys.reload} />}
      {names.state.value.data !== undefined && <Names names={names.state.value.data} connections={connections.state.value.data ?? []} reload={names.reload} />}
    </>
  );
}
