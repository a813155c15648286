// Where this process itself serves the gateway. A provider's address that leads there is refused: each call would make the next one, without end. It happens
// when a server is started in a shell that has the variables of its clients. Pure: no I/O.

/** The addresses of the servers of a core, while they listen. */
export class OwnAddresses {
  /** Paths by origin. */
  readonly #paths = new Map<string, readonly string[]>();
  #version = 0;

  /** Changes with the addresses. */
  get version(): number {
    return this.#version;
  }

  /** Adds a server: its origins, and the paths below which it calls providers. Returns a function that removes them. */
  add(origins: readonly string[], paths: readonly string[]): () => void {
    for (const origin of origins) this.#paths.set(origin, paths);
    this.#version += 1;
    return () => {
      for (const origin of origins) this.#paths.delete(origin);
      this.#version += 1;
    };
  }

  /** True for a base URL from which one of these paths can be reached. */
  has({ origin, pathname }: URL): boolean {
    const path = pathname.endsWith('/') ? pathname : `${pathname}/`;
    return this.#paths.get(origin)?.some((own) => path.startsWith(own) || own.startsWith(path)) ?? false;
  }
}
