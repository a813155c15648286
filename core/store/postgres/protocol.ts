// What servers of several versions know of each other. Pure: no I/O.
//
// said-by-each: the row of a server has the protocol that it keeps to, and with what an older one would not do, others don't reckon. A schema may require a later one of all
//   who write (`schema.min_protocol`).

/** Of this program. */
export const PROTOCOL = 2;

/** The protocol with which something came that other servers must know. */
export const PROTOCOLS = {
  /** To give blocks away when asked, and to take none. */
  drained: 2,
  /** To write what the list is searched for. */
  listTexts: 2,
} as const;
