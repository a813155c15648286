// Preloaded by a server whose clock a rig moves: the milliseconds in the file named by CLOCK_SHIFT_FILE are added to each time of day.
const { readFileSync } = require('node:fs');

const RealDate = Date;
let shift = 0;
const look = () => {
  try {
    shift = Number(readFileSync(process.env.CLOCK_SHIFT_FILE, 'utf8')) || 0;
  } catch {
    shift = 0; // not moved yet
  }
};
look();
setInterval(look, 10).unref();

class ShiftedDate extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shift);
    else super(...args);
  }

  static now() {
    return RealDate.now() + shift;
  }
}
globalThis.Date = ShiftedDate;
