// A caller that leaves before its call reaches the response cache.
import { expect, it, onTestFinished } from "vitest";
import { createKey } from "../../src/tenancy/index.ts";
import { allow, expectBooks, logged, secret, startHooked } from "../hooks/support.ts";
import { eventually } from "../support/patience.ts";

it("T62: a repeat whose client left before the cache was asked is not charged", async () => {
  const hooked = await startHooked(
    (url) => `  - { name: guard, at: before, url: "${url}", secret: ${secret} }`,
  );
  onTestFinished(() => hooked.close());
  const { bench, hook } = hooked;
  const { key } = await createKey(await bench.internals(), {
    workspaceId: bench.workspaceId,
    name: "cached",
    createdBy: null,
    responseCache: { ttlSeconds: 600, chargePercent: 100 },
  });
  const ask = (signal?: AbortSignal) =>
    fetch(`${bench.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "sandbox/chat",
        messages: [{ role: "user", content: "Hello" }],
      }),
      ...(signal && { signal }),
    });
  await eventually(async () => {
    const answer = await ask();
    await answer.text();
    return answer.headers.get("x-gw-cache") === "hit";
  }, "a kept answer");
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  hook.requests.length = 0;
  hook.answer(async (request, response) => {
    await left;
    await allow(request, response);
  });
  const leaving = new AbortController();
  const call = ask(leaving.signal);
  await expect.poll(() => hook.requests.length).toBe(1);
  leaving.abort();
  await call.catch(() => undefined);
  // When later connections are answered, the gateway has seen the close.
  for (let looks = 0; looks < 3; looks += 1) await (await fetch(`${bench.url}/v1/models`)).text();
  leave();
  const row = await logged(bench, (hook.requests[0]!.body as { id: string }).id);
  expect(row).toMatchObject({ status: "client_closed", cost_nano: 0n });
  await expectBooks(bench);
});
