// `node transports/http`: the server without the CLI. Takes the flags of `blockhouse serve`.
import { serveAsProcess } from '../../cli/compose.ts';

await serveAsProcess(process.argv.slice(2));
