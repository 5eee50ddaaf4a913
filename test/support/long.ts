/**
 * Tests with two forms: attacks, faults and soaks run for seconds in `npm test`, and in full in `npm run test:long`, which runs
 * the files that import this one, one after another.
 */

/** True in `npm run test:long`. */
export const isLong = process.env["TOLLGATE_TEST_LONG"] === "1";

/**
 * All rows in the long form; every second row in the short one. Two neighbouring places together cover each row once. For rows
 * that run in several places, such as encodings, protocols or models.
 */
export const shareOfRows = <Row>(rows: readonly Row[], place: number): readonly Row[] =>
  isLong ? rows : rows.filter((_row, index) => index % 2 === place % 2);

/** The value for the current form: `short` in `npm test`, `long` in `npm run test:long`. */
export const shortOrLong = <Value>(short: Value, long: Value): Value => (isLong ? long : short);
