// Opens connections to an origin.
//
// checked-address: the connection goes to the very address that the look-up checked, so that no name leads to an address that the egress rule refuses.
// stays-public: where the rule asks for it, a name that has led to the internet leads into no private network afterwards (DNS rebinding).
// in-time: looking up, connecting and the TLS handshake together have one limit.
import { lookup as resolveName } from 'node:dns';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { type EgressRule, forbiddenAddress, isForbiddenAddress, isPrivateAddress, privateAddress } from '../../core/index.ts';
import { Names } from './names.ts';

/** node:tls, once it is loaded. */
export type Tls = typeof import('node:tls');

/** Begins to open a socket and calls `opened` when it is open. A failure, also that it took longer than `connectMs` (0 for no limit), is the socket's error event. */
export type Dial = (connectMs: number, opened: () => void) => Socket;

/** After this time in which nothing came, the system asks whether the other side is still there. */
const PROBE_AFTER_MS = 60_000;

/** Opens connections to `origin`. `tls` is needed for https. */
export function dialer(origin: string, egress: EgressRule, tls: Tls | undefined): Dial {
  const { protocol, hostname, port } = new URL(origin);
  const isSecure = protocol === 'https:';
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const options = {
    host,
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    lookup: checkedLookup(origin, egress),
    autoSelectFamily: true,
  };
  if (!isSecure) return (connectMs, opened) => inTime(connect(options), 'connect', connectMs, opened);
  if (tls === undefined) throw new Error('A connection was requested before node:tls was loaded.');
  const secure = {
    ...options,
    ALPNProtocols: ['http/1.1'],
    secureContext: tls.createSecureContext(), // one for each connection would take 20 KB
    ...(isIP(host) === 0 && { servername: host.replace(/\.$/, '') }), // RFC 6066 (3): without the dot
  };
  let session: Buffer | undefined;
  return (connectMs, opened) => {
    const socket = tls.connect({ ...secure, ...(session !== undefined && { session }) });
    socket.on('session', (newest) => {
      session = newest;
    });
    return inTime(socket, 'secureConnect', connectMs, opened);
  };
}

/** in-time. */
function inTime(socket: Socket, event: 'connect' | 'secureConnect', ms: number, opened: () => void): Socket {
  const timer =
    ms === 0 ? undefined : setTimeout(() => socket.destroy(Object.assign(new Error(`no connection within ${ms / 1000} s`), { code: 'ETIMEDOUT' })), ms);
  socket.once('close', () => clearTimeout(timer));
  socket.once(event, () => {
    clearTimeout(timer);
    socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS); // node:tls knows neither as an option
    opened();
  });
  return socket;
}

/** Those of the process, which has few threads for look-ups. */
const names = new Names((name, options, done) => resolveName(name, options, done));

/** checked-address. */
function checkedLookup(origin: string, { allowedOrigins, publicOnly, staysPublic }: EgressRule): LookupFunction {
  const listed = allowedOrigins.has(origin);
  let wasPublic = publicOnly === true;
  return (hostname, options, callback) => {
    names.find(hostname, options).then(
      (addresses) => {
        if (!listed && addresses.some(({ address }) => isForbiddenAddress(address))) return callback(forbiddenAddress(origin), '', 0);
        const isPrivate = (publicOnly === true || staysPublic === true) && addresses.some(({ address }) => isPrivateAddress(address));
        if (isPrivate && wasPublic) return callback(privateAddress(origin), '', 0);
        wasPublic ||= staysPublic === true && !isPrivate; // stays-public
        if (options.all) return callback(null, addresses as never, 0);
        const first = addresses[0];
        return callback(null, first?.address ?? '', first?.family ?? 0);
      },
      (error) => callback(error as NodeJS.ErrnoException, '', 0),
    );
  };
}
