/**
 * Two forms of one test: attacks, faults and soaks run for seconds in `npm test`, and in full in `npm run test:long`,
 * which runs the files that import this one, one after another.
 */

/** True in `npm run test:long`. */
export const isLong = process.env["TOLLGATE_TEST_LONG"] === "1";

/** The value for the form that runs: `short` in `npm test`, `long` in `npm run test:long`. */
export const inForm = <Value>(short: Value, long: Value): Value => (isLong ? long : short);
