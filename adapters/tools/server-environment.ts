// What a server that is a program gets of the environment of Blockhouse, besides what its entry names. Pure: no I/O.
//
// own-environment: a few variables that any program needs, and never the key of a provider.
// no-network-no-proxy: a sandbox without the network gets no proxy: what speaks to one would be a way out of it.
// no-password: a proxy whose address has a user or a password is given to a server only where its entry names it, `"env": {"HTTPS_PROXY": "${env:HTTPS_PROXY}"}`: then it is masked in logs and
//   results, and part of what a person approves.
import type { Environment } from '../../core/index.ts';

/** Besides what any program needs: where the certificates of a network lie whose connections are inspected, which are no secrets. */
const INHERITED = ['HOME', 'PATH', 'SHELL', 'TERM', 'LANG', 'TZ', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE'];
/** Programs read them in either case. */
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);

/** The variables of a server in this sandbox. */
export function inheritedBy(sandbox: 'bwrap' | 'bwrap+net' | undefined, env: Environment): Record<string, string> {
  const proxies = sandbox === 'bwrap' ? [] : PROXIES.filter((name) => !env[name]?.includes('@')); // no-network-no-proxy, no-password
  return Object.fromEntries([...INHERITED, ...proxies].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
