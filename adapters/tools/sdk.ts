// The client package of the protocol, loaded with the first call. From the source it is the package; the build puts one short file in its place (cli/vendor.ts).

/** What is used of the package. */
export type Sdk = Pick<typeof import('@modelcontextprotocol/client'), 'Client' | 'ProtocolError' | 'StreamableHTTPClientTransport'>;

let loading: Promise<Sdk> | undefined;

/** Loads the package once. */
export function loadSdk(): Promise<Sdk> {
  loading ??= import('@modelcontextprotocol/client');
  return loading;
}
