// Connects to a server in one of the two eras of the protocol, and finds out which one it speaks.
import type { Client, ClientCapabilities, Transport } from '@modelcontextprotocol/client';
import { VERSION } from '../../core/index.ts';
import type { Sdk } from './sdk.ts';
import type { Era } from './server.ts';
import { TASKS } from './task-answer.ts';

/** The revision of the modern era. */
export const MODERN = '2026-07-28';
/** A server of the older era that ignores what it does not know stays silent for so long. */
export const DISCOVER_MS = 5000;

/** What nobody validates: a schema of a server is never compiled, and results are read as they are. */
const NO_VALIDATION = { getValidator: () => (input: unknown) => ({ valid: true as const, data: input as never, errorMessage: undefined }) };

/** How a server is greeted. */
export interface Greeting {
  readonly era: Era;
  readonly timeoutMs: number;
  /** How long the modern greeting waits. */
  readonly discoverMs?: number;
  /** Blockhouse signs in to it for itself. */
  readonly isProgram?: boolean;
  /** Called for each note that the list of tools has changed. */
  onListChanged(): void;
}

/** What is offered beside the protocol itself. */
function extensionsOf(era: Era, isProgram: boolean): ClientCapabilities {
  const extensions = { ...(era === 'modern' && { [TASKS]: {} }), ...(isProgram && { 'io.modelcontextprotocol/oauth-client-credentials': {} }) };
  return { ...(era === 'modern' && { elicitation: { form: {} } }), ...(Object.keys(extensions).length > 0 && { extensions }) };
}

/** A client that has greeted its server. Rejects with the error of the package. */
export async function connect(
  sdk: Sdk,
  transport: Transport,
  { era, timeoutMs, discoverMs = DISCOVER_MS, isProgram, onListChanged }: Greeting,
): Promise<Client> {
  const client = new sdk.Client(
    { name: 'blockhouse', version: VERSION },
    {
      capabilities: extensionsOf(era, isProgram === true),
      jsonSchemaValidator: NO_VALIDATION,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onListChanged } },
      inputRequired: { autoFulfill: false },
      versionNegotiation: era === 'legacy' ? { mode: 'legacy' } : { mode: { pin: MODERN }, probe: { timeoutMs: Math.min(timeoutMs, discoverMs) } },
    },
  );
  client.onerror = () => undefined; // what the server writes besides answers
  await client.connect(transport, { timeout: timeoutMs });
  return client;
}
