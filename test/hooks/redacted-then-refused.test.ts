// A call that one hook redacts and a later one refuses: the redacted text is neither kept nor reported to anyone.
import { afterAll, beforeAll, expect, it } from "vitest";
import { readBodies } from "../../src/request-log/index.ts";
import { changeWorkspace } from "../../src/tenancy/index.ts";
import { eventually } from "../support/patience.ts";
import {
  calls,
  decide,
  eventOf,
  logged,
  redacted,
  secret,
  startHooked,
  type HookBench,
} from "./support.ts";

let hooked: HookBench;
beforeAll(async () => {
  hooked = await startHooked(
    (url) => `
  - { name: redact, at: before, url: "${url}", secret: ${secret} }
  - { name: guard, at: before, url: "${url}", secret: ${secret} }
  - { name: ear, at: after, url: "${url}/ear", secret: ${secret} }
`,
  );
  const { bench } = hooked;
  await changeWorkspace(await bench.internals(), bench.workspaceId, { keepBodies: "all" });
});
afterAll(() => hooked?.close());

const guards = {
  refuses: [403, { action: "refuse" }],
  fails: [503, { action: "none" }],
} as const;

/** Sends a body to two hooks: the first redacts, and the second does as `guard` says. @returns the id of the call */
async function refused(guard: keyof typeof guards, path: string, body: object): Promise<string> {
  const [status, said] = guards[guard];
  hooked.hook.answer(
    decide(({ hook, body: asked }) =>
      hook === "redact" ? { action: "change", body: redacted(asked) } : said,
    ),
  );
  const answer = await hooked.bench.post(path, body);
  expect(answer.status).toBe(status);
  await answer.text();
  return answer.headers.get("x-request-id")!;
}

const eventWithId = (id: string) =>
  eventually(
    () => hooked.hook.requests.find(({ path, body }) => path === "/ear" && body["id"] === id),
    `heard of ${id}`,
  );

it.each(
  calls.flatMap(([endpoint, path, body]) =>
    (["refuses", "fails"] as const).map((guard) => ({ endpoint, path, body, guard })),
  ),
)(
  "$endpoint: if the second hook $guard, the log, kept bodies and events hold only the redacted text",
  async ({ path, body, guard }) => {
    const id = await refused(guard, path, body("secret words"));
    const sentEvent = await eventWithId(id);
    expect(sentEvent.text).toContain("[gone]");
    expect(sentEvent.text).not.toContain("secret words");
    const row = await logged(hooked.bench, id);
    expect(row["notes"]).toEqual([expect.stringMatching(/: changed by the hook "redact"$/)]);
    const { bench } = hooked;
    const { database, secrets } = await bench.internals();
    const { workspaceId } = bench;
    const kept = await eventually(
      () => readBodies(database, secrets, { workspaceId, id }),
      "its kept bodies",
    );
    expect(kept.request).toContain("[gone]");
    expect(kept.request).not.toContain("secret words");
  },
);

it("the event of a refused image holds only the redacted prompt", async () => {
  const body = { model: "sandbox/image-model-a", prompt: "secret words", size: "1024x1024" };
  const sentEvent = await eventWithId(await refused("refuses", "/v1/images/generations", body));
  expect(eventOf(sentEvent).body).toMatchObject({ prompt: "[gone]" });
});
