// `node transports/http`: the server without the CLI.
import { serveAsProcess } from '../../cli/compose.ts';

await serveAsProcess({});
