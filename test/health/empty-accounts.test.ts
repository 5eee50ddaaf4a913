/** Vendors that refuse our account or key with the status of a caller's mistake. ERR; docs/routing.md "Several credentials". */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import { answering } from "../rows/world.ts";
import { takeRequestCounts, names, startTrio, type Trio } from "./support.ts";

let trio: Trio;
beforeAll(async () => {
  trio = await startTrio({ prices: { a: 1, b: 2, c: 3 }, models: 9, protocols: { a: "messages" } });
});
afterAll(() => trio.close());
beforeEach(() => {
  for (const name of names) trio.up[name].answer(answering);
  takeRequestCounts(trio);
});

const emptyAccount = {
  type: "error",
  error: {
    type: "invalid_request_error",
    message:
      "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
  },
};

it("an empty account, which Anthropic reports with 400, is hidden: the next provider answers, and the key is paused", async () => {
  trio.up.a.answer(json(emptyAccount, 400));
  for (let count = 0; count < 3; count += 1) {
    const answer = await trio.call({ model: "acme/talk-1:@price" });
    expect(answer.status).toBe(200);
    expect(await answer.text()).not.toContain("credit balance");
  }
  expect(takeRequestCounts(trio)).toEqual({ a: 1, b: 3, c: 0 });
});

it("an empty account at the only provider gives its caller 502 without the vendor's message", async () => {
  trio.up.a.answer(json(emptyAccount, 400));
  const answer = await trio.call({ model: "acme/talk-2:a" });
  expect(answer.status).toBe(502);
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe("upstream_error");
  expect(error.message).not.toContain("credit");
});

it("a message that only quotes the words of an empty account stays the caller's mistake", async () => {
  trio.up.b.answer(
    json(
      {
        ...emptyAccount,
        error: {
          ...emptyAccount.error,
          message: `messages.0: "${emptyAccount.error.message}" is no role`,
        },
      },
      400,
    ),
  );
  const answer = await trio.call({ model: "acme/talk-3:b" });
  expect(answer.status).toBe(400);
  expect(takeRequestCounts(trio)).toEqual({ a: 0, b: 1, c: 0 });
});
