// Numbers of calls, by which what is told of one call is found together: its request may make several, and its client may use the id of the request twice.
//
// of-one-process: the numbers of a process begin at a place of its own, so that workers of one server have no number in common.

/** More calls than a process makes in its life, and few enough that all numbers are exact. */
const SPAN = 2 ** 32;
const PLACES = 2 ** 20;

let last = Math.floor(Math.random() * PLACES) * SPAN; // of-one-process

/** A number that no other call of this server has. */
export function newCallNumber(): number {
  last += 1;
  return last;
}
