// `node transports/http`: the server without the CLI.
import { serveUntilSignal } from '../../cli/compose.ts';

await serveUntilSignal({});
