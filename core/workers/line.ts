// What a program needs to run several processes: a line between two of them, and who holds the workspace. Pure: types only.

/** A line to another process. It keeps the order, and what is sent can be read although the sender has been killed since. */
export interface ProcessLine {
  send(message: object): void;
  onMessage(listener: (message: unknown) => void): void;
}

/** The side of the process that holds the workspace. */
export interface WorkerHost {
  /** Serves a worker until the returned function is called, when it is gone. */
  add(line: ProcessLine): () => void;
  /** Looks at no file of the workspace any more. */
  close(): void;
}
