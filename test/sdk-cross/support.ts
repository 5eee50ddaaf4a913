/** The four SDKs by protocol, and the world of a file as the tests of one model see it. */
import { chat } from "../sdk/chat-sdk.ts";
import { generateContent } from "../sdk/generate-content-sdk.ts";
import { messages } from "../sdk/messages-sdk.ts";
import { responses } from "../sdk/responses-sdk.ts";
import type { World } from "../sdk/support.ts";

export const sdks = { chat, responses, messages, generate_content: generateContent } as const;
export type Protocol = keyof typeof sdks;
export const protocols = Object.keys(sdks) as Protocol[];

/** A system prompt in an upstream's body; messages get it as blocks, which mean the same as a text. */
export const systemOf = (target: Protocol, text: string): object =>
  target === "messages" ? { system: [{ type: "text", text }] } : sdks[target].system(text);

/** The path of each upstream in the sandbox. */
const pathOf: Readonly<Record<Protocol, RegExp>> = {
  chat: /\/chat\/completions$/,
  responses: /\/responses$/,
  messages: /\/messages$/,
  generate_content: /enerateContent/,
};

/** The world with the calls of only one upstream: tests of the others send the same prompts to the same gateway. */
export function worldOf(world: World, target: Protocol): World {
  const { model } = sdks[target];
  const { url, key, poorKey } = world;
  return {
    url,
    key,
    poorKey,
    countingFetch: () => world.countingFetch(),
    arrivals: async (text) =>
      (await world.arrivals(text)).filter(({ path }) => pathOf[target].test(pathname(path))),
    logged: (isIt) => world.logged((call) => call.model === model && isIt(call)),
  };
}

const pathname = (path: string): string => new URL(path, "http://sandbox").pathname;
