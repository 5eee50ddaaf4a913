// Loaded before a gateway (node --import). Sets its clock ahead by the milliseconds in the file that TOLLGATE_TEST_CLOCK_FILE
// names, as soon as that file exists.
import { readFileSync } from "node:fs";

const RealDate = Date;
const realNow = Date.now;
let aheadMs = 0;
setInterval(() => {
  try {
    aheadMs = Number(readFileSync(process.env["TOLLGATE_TEST_CLOCK_FILE"], "utf8"));
  } catch {
    // Not there yet.
  }
}, 5).unref();

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(realNow() + aheadMs);
    else super(...given);
  }
  static now() {
    return realNow() + aheadMs;
  }
};
