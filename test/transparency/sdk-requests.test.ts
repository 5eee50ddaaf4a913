/**
 * Rich requests of the official SDKs, each sent directly to the upstream and then through the gateway. The received bytes are
 * the same except for the model and the filtered fields. Requirements: TXT, direct routes.
 */
import { describe, expect, it } from "vitest";
import { chat, responses } from "./rich-openai.ts";
import { google, messages } from "./rich-others.ts";
import type { Send } from "./rich.ts";
import {
  expectedUpstream,
  modelOf,
  upstreamKey,
  upstreamModel,
  useBench,
  type Body,
  type Protocol,
} from "./support.ts";

interface Sdk {
  readonly protocol: Protocol;
  readonly send: Send;
  readonly filtered: readonly string[];
}

const sdks: readonly Sdk[] = [
  { protocol: "chat", send: chat, filtered: ["service_tier"] },
  { protocol: "responses", send: responses, filtered: ["service_tier"] },
  { protocol: "messages", send: messages, filtered: ["service_tier", "inference_geo"] },
  { protocol: "generate_content", send: google, filtered: ["serviceTier"] },
];
const forms = sdks.flatMap((sdk) => [
  { ...sdk, form: "whole", stream: false },
  { ...sdk, form: "streamed", stream: true },
]);

describe("a request of an SDK through the gateway", () => {
  const bench = useBench();

  it.each(forms)(
    "TXT-07 TXT-17 TXT-18 TXT-19: equals the SDK's own request except for filtered fields: $protocol, $form",
    async ({ protocol, send, filtered, stream }) => {
      const { gateway, upstream, received } = bench;
      const [itself] = await received(() => send(upstream.url, "any", modelOf(protocol), stream));
      const [passed] = await received(() =>
        send(gateway.url, gateway.key, modelOf(protocol), stream),
      );
      // The texts themselves are compared, so every member and their order count.
      for (const name of filtered) expect(itself!.body).toHaveProperty(name);
      expect(passed!.text).toBe(expectedUpstream(protocol, itself!.body as Body));
      expect(passed!.path).toBe(pathAt(protocol, stream));
      expect(JSON.stringify(passed!.headers)).not.toContain(gateway.key);
      expect(JSON.stringify(passed!.headers)).toContain(upstreamKey);
      expect(passed!.headers["anthropic-beta"]).toBe(itself!.headers["anthropic-beta"]);
      expect(passed!.headers["anthropic-version"]).toBe(itself!.headers["anthropic-version"]);
    },
  );
});

/** The path of the upstream's request: the upstream's own path, whichever version the SDK uses. */
function pathAt(protocol: Protocol, stream: boolean): string {
  const method = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  const paths = {
    chat: "/v1/chat/completions",
    responses: "/v1/responses",
    messages: "/v1/messages",
    generate_content: `/v1beta/models/${upstreamModel}:${method}`,
  };
  return paths[protocol];
}
