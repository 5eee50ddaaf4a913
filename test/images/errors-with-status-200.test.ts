// Errors of picture vendors with status 200, and in streams with another status. The caller's own errors reach the caller and count against no provider. Errors of a rate
// limit or of the operator's account fail over. All others are logged with the vendor's message. T81.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { steadyHealthRules } from "../support/steady-health.ts";
import { json, sse } from "../support/recorder.ts";
import { picture, prompted, type Bytes } from "./support.ts";
import { generating, startVendors, twoOffers } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
let image: Bytes;
beforeAll(async () => {
  vendors = await startVendors({ health: steadyHealthRules });
  image = await picture();
});
afterAll(() => vendors.close());

const moderated = {
  message: "Your request was rejected by the safety system.",
  type: "image_generation_user_error",
  code: "moderation_blocked",
};
const edit = (stream: boolean) =>
  vendors.bench.edit({ model: twoOffers, prompt: prompted(), stream }, { image });
const lastAttempts = async () => {
  const [row] = await vendors.bench.database.query<{ attempts: string }>(
    "select attempts::text from request_log order by id desc limit 1",
    [],
  );
  return row?.attempts ?? "";
};

it.each([
  ["in place of the answer", { error: moderated }],
  ["in place of the answer, with an empty list", { error: moderated, data: null }],
])("a prompt that is refused %s is the caller's error", async (_title, body) => {
  vendors.answer(json(body));
  const before = await vendors.bench.state();
  const answer = await vendors.bench.generate({ model: generating });
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { error: { code: "moderation_blocked", message: moderated.message } },
  ]);
  expect(vendors.first.requests).toHaveLength(1);
  expect((await vendors.bench.state()).chargedNano).toBe(before.chargedNano);
});

it("a prompt that is refused in place of each picture is the caller's error", async () => {
  vendors.answer(json({ data: [{ error: moderated }, { error: moderated }] }));
  const answer = await vendors.bench.generate({ model: generating, n: 2 });
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { error: { code: "content_policy_violation", message: moderated.message } },
  ]);
});

describe.each([false, true])("an error in a 200 answer, with stream %s", (stream) => {
  it.each([
    ["its rate limit", { message: "Slow down.", code: "rate_limit_exceeded" }],
    ["the operator's account", { message: "You owe us money.", code: "insufficient_quota" }],
  ])("T81: about %s sends the call to the next provider", async (_title, error) => {
    vendors.answer(json({ error }));
    const answer = await edit(stream);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('"provider":"second"');
    expect(vendors.first.requests).toHaveLength(1);
  });
});

it("T81: a rate-limit error as the first event of a stream sends the call to the next provider", async () => {
  const error = { message: "Slow down.", code: "rate_limit_exceeded" };
  vendors.answer(sse(`event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`));
  expect(await (await edit(true)).text()).toContain('"provider":"second"');
});

describe.each([
  ["JSON", (body: string) => body],
  ["an event", (body: string) => `event: error\ndata: ${body}\n\n`],
])("a refusal in %s that calls itself a stream of events", (_what, written) => {
  const refuse = (status: number, message: string): void => {
    const body = written(JSON.stringify({ error: { message } }));
    const headers = { "content-type": "text/event-stream" };
    vendors.answer((_request, response) => void response.writeHead(status, headers).end(body));
  };

  it("T81: sends the call to the next provider if its status is about the provider", async () => {
    refuse(401, "Who are you?");
    expect(await (await edit(true)).text()).toContain('"provider":"second"');
    expect(vendors.first.requests).toHaveLength(1);
  });

  it("is the caller's error if its status says so, in the vendor's words", async () => {
    refuse(400, "The mask has another size.");
    const answer = await edit(true);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { message: "The mask has another size." } },
    ]);
  });
});

it("T81: any other error in a 200 answer is not retried, and the operator reads the vendor's words", async () => {
  vendors.answer(json({ error: { message: "Worker 7 of tenant acme is lost.", code: "oops" } }));
  const answer = await edit(false);
  expect(answer.status).toBe(502);
  const answerText = await answer.text();
  expect(answerText).toContain("The provider's answer cannot be used: it is an error.");
  expect(answerText).not.toContain("Worker 7");
  expect(vendors.first.requests).toHaveLength(1);
  await expect.poll(lastAttempts).toContain("Worker 7");
});
