/** `tollgate doctor` on a check that throws: it gives advice if the error is the database's. docs/operate.md "Doctor". */
import { expect, it } from "vitest";
import { bounded } from "../../src/cli/doctor/bounded.ts";

const full = Object.assign(new Error("could not extend file: No space left on device"), {
  code: "53100",
});

it.each([
  ["a full disk of the database", full, "free its disk: it is full"],
  ["an internal error", new Error("no such thing"), "run it again, and look at the log"],
])("a check that throws fails with advice: %s", async (_, error, fix) => {
  expect(await bounded("database", () => Promise.reject(error))).toEqual([
    { check: "database", status: "failed", message: error.message, fix },
  ]);
});
