/** Whether a password is the stored one. */
import { expect, it } from "vitest";
import { hashPassword, verifyPassword } from "../../src/tenancy/passwords.ts";

it("a stored password is matched by itself and by no other", async () => {
  const stored = await hashPassword("correct horse");
  const tried = ["correct horse", "correct horse ", "Correct horse", ""];
  expect(await Promise.all(tried.map((password) => verifyPassword(password, stored)))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
