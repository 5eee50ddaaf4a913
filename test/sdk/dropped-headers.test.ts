/**
 * Parameters that `@anthropic-ai/sdk` sends as headers: callers cannot select parts of the operator's account at a vendor.
 * TXT-14, TXT-15.
 */
import Anthropic from "@anthropic-ai/sdk";
import { expect, it } from "vitest";
import { useWorld } from "./support.ts";

const world = useWorld();
const headers = ["anthropic-user-profile-id", "anthropic-workspace-id"];

it.each(["sandbox/messages", "sandbox/chat"])(
  "TXT-14 TXT-15: headers that select parts of the operator's account are not forwarded, and reported as dropped (%s)",
  async (model) => {
    const client = new Anthropic({ apiKey: world.key, baseURL: world.url, maxRetries: 0 });
    const words = `Whose call is this one of ${model}?`;
    const plain = { model, max_tokens: 100, messages: [{ role: "user" as const, content: words }] };
    expect(await client.messages.create(plain)).not.toHaveProperty("gw");
    const asked = { ...plain, user_profile_id: "uprof_1", workspace_id: "wrkspc_1" };
    const whole = await client.messages.create(asked);
    expect(whole).toMatchObject({ gw: { droppedParams: headers } });
    const { response } = await client.beta.messages
      .create({ ...asked, stream: true })
      .withResponse();
    expect(response.headers.get("x-gw-dropped-params")).toBe(headers.join(", "));
    await response.body?.cancel();
    const arrived = await world.arrivals(words);
    expect(arrived).toHaveLength(3);
    const names = arrived.flatMap((one) => Object.keys(one.headers));
    expect(headers.filter((name) => names.includes(name))).toEqual([]);
  },
);
