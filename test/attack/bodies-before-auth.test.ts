/** Strangers who send bodies of 60 MB and millions of values: nothing of them is parsed or kept, and nobody else waits. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inForm } from "../support/long.ts";
import {
  expectUnharmed,
  listOfSame,
  send,
  sendStart,
  startVictim,
  type Victim,
} from "./body-support.ts";

describe("a stranger's large bodies", () => {
  let victim: Victim;
  const body = Buffer.from(`{"a":${listOfSame(20_000_000, "{}")}}`);
  beforeAll(async () => {
    victim = await startVictim();
  });
  afterAll(() => victim?.stop());

  it.each([
    ["/auth", ["/auth/sign-in/email", "/auth/change-password", "/auth/sign-in/social"], "413"],
    ["/admin/v1", ["/admin/v1/keys", "/admin/v1/workspaces", "/admin/v1/tokens"], "401"],
    [
      "calls",
      ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1beta/models/x:generateContent"],
      "401",
    ],
    ["counts and embeddings", ["/v1/messages/count_tokens", "/v1/embeddings"], "401"],
    [
      "images and tasks",
      [
        "/v1/images/generations",
        "/v1/tasks",
        "/v1/videos/generations",
        "/api/v3/contents/generations/tasks",
      ],
      "401",
    ],
    ["forms", ["/v1/images/edits", "/v1/tasks"], "401"],
  ])("to %s, with a length and in chunks, many at once", async (name, paths, refusal) => {
    const form = { "content-type": "multipart/form-data; boundary=x" };
    const headers: Record<string, string> = name === "forms" ? form : {};
    const answers = await expectUnharmed(`a stranger to ${name}`, victim, async () => {
      const statuses: number[] = [];
      for (let round = 0; round < inForm(1, 10); round += 1) {
        const sent = [false, true].flatMap((chunked) =>
          Array.from({ length: 4 }, (_, index) =>
            send(victim.url, { path: paths[index % paths.length]!, body, chunked, headers }),
          ),
        );
        statuses.push(...(await Promise.all(sent)));
      }
      return statuses;
    });
    // A connection whose answer came before its body was sent may break: any of them, or all.
    expect(["0", refusal]).toEqual(expect.arrayContaining(Object.keys(answers)));
    // Who waits for the answer before he sends more always gets it: that a chunked body is too long shows once it is.
    for (const path of paths)
      for (const chunked of [false, true]) {
        const bytes = chunked && refusal === "413" ? 1 << 15 : 0;
        const told = sendStart(victim.url, { path, body, chunked, headers }, bytes);
        expect(await told, `${path}, ${chunked ? "chunked" : "with a length"}`).toBe(
          Number(refusal),
        );
      }
  });
});
