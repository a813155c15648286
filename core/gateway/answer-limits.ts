// How much of a provider's answer is read and kept. The one table of these limits: a provider that never ends an answer must not fill the memory. Pure: no I/O.
//
// What exceeds one of them ends the call with UPSTREAM_MALFORMED and closes the connection. The call is paid for by what has come of its answer.
const KIB = 1024;
const MIB = 1024 * KIB;

/** In bytes, unless the name says otherwise. */
export const ANSWER_LIMITS = {
  /** The headers of an answer, with all 1xx before them; the trailers as well. */
  head: 64 * KIB,
  /** What is read of the body of an error: its status and the beginning of its text suffice. */
  error: 64 * KIB,
  /** What a provider says of its models, which is asked of it without a body. A list of thousands of models has less. */
  list: 4 * MIB,
  /** An answer that is collected. One of 128 K tokens stays below 1 MiB; some providers echo the request beside it. */
  whole: 32 * MIB,
  /** A stream that is translated has some 250 bytes around each token, and the request up to three times. One that passes as it is has no limit. */
  stream: 128 * MIB,
  /** A line or a record of a stream that has neither pictures nor the request in it. */
  line: MIB,
  /** A record of a stream that may have a picture in it, or echo the request. */
  record: 32 * MIB,
  /** A frame of a stream that passes as it is: some repeat the whole request. */
  frame: 32 * MIB,
  /** JSON values of a collected answer: a value may take ten times the memory of its text. Embeddings have the most. */
  values: 2_000_000,
  /** JSON values of a collected answer of a chat: it is parsed in slices, but what is read of it then takes one step. One that has asked for log probabilities may have `values`: 10,000 tokens, each with twenty of them, have 1,700,000. */
  chatValues: 500_000,
  /** JSON values of one record of a stream, and of the arguments of a call that come as text. They are parsed in one step: some tens of milliseconds. A record with the whole request and answer has less. */
  recordValues: 200_000,
  /** JSON values of a record that has neither pictures nor the request in it: a piece of an answer has some dozens, the results of a search some hundreds. */
  lineValues: 20_000,
  /** Lines of one frame of a stream that passes as it is, and data lines of a record of one that is translated. Servers write one, and at most a few more. */
  frameLines: 10_000,
  /** Levels of a collected answer of a chat. Arguments may have a tenth of it. */
  depth: 1000,
  /** What is kept of one answer until its end: its text, its calls, its log probabilities. */
  kept: 64 * MIB,
  /** Content blocks of one answer, its tool calls among them. Answers of models have some dozens. */
  blocks: 10_000,
} as const;

/** About what a small string or object takes beside its characters. */
export const PIECE_BYTES = 32;
