// Calls that still wait for a hook when the gateway stops: their callers get an error of their protocol, not a reset.
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/patience.ts";
import { calls, inBothForms, secret, startHooked, type HookBench } from "./support.ts";

const image = {
  path: "/v1/images/generations",
  body: { model: "sandbox/image-model-a", prompt: "A boat" },
};
const heldCalls = [
  ...inBothForms("hello"),
  ...calls
    .filter(([endpoint]) => endpoint === "embeddings")
    .map(([, path, body]) => ({ path, body: body("hello") })),
  image,
];
const words: Readonly<Record<string, string>> = {
  "/v1/messages": '"type":"overloaded_error"',
  "/v1beta/models/sandbox/chat:generateContent": '"status":"UNAVAILABLE"',
  "/v1beta/models/sandbox/chat:streamGenerateContent?alt=sse": '"status":"UNAVAILABLE"',
};

let hooked: HookBench;
const answers: (readonly [status: number, retryAfter: string | null, text: string])[] = [];
beforeAll(async () => {
  hooked = await startHooked(
    (url) => `
  - { name: slow, at: before, url: "${url}/slow", secret: ${secret}, timeout_ms: 30000, on_failure: refuse,
      endpoints: [chat_completions, responses, messages, generate_content, embeddings, images_generations] }
`,
    { stopMs: 1_000 },
  );
  hooked.hook.answer(() => undefined);
  const waiting = heldCalls.map(async ({ path, body }) => {
    const answer = await hooked.bench.post(path, body);
    return [answer.status, answer.headers.get("retry-after"), await answer.text()] as const;
  });
  await eventually(() => hooked.hook.requests.length === heldCalls.length, "hooks that think");
  await hooked.bench.close();
  answers.push(...(await Promise.all(waiting)));
});
afterAll(() => hooked?.hook.close());

it.each(heldCalls.map(({ path }, index) => [path, index] as const))(
  "ERR-01: a call of %s that waits for a hook at the stop gets 503 with Retry-After in its protocol (%i)",
  (path, index) => {
    const [status, retryAfter, text] = answers[index]!;
    expect([status, retryAfter]).toEqual([503, "1"]);
    expect(text).toContain("Nothing was charged.");
    expect(text).toContain(words[path] ?? '"code":"shutting_down"');
  },
);
