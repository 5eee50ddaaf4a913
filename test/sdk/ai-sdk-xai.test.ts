/** The AI SDK's provider for xAI at converted models: it fails at reasoning items without a status. RESP-52, TXT-06. */
import { createXai } from "@ai-sdk/xai";
import { generateText, streamText } from "ai";
import { describe, expect, it } from "vitest";
import { scripted, useWorld } from "./support.ts";

describe("@ai-sdk/xai over responses", () => {
  const world = useWorld();

  it.each(["sandbox/chat", "sandbox/messages", "sandbox/generate-content"])(
    "TXT-06: reads the reasoning of %s, whole and streamed",
    async (name) => {
      const xai = createXai({ apiKey: world.key, baseURL: `${world.url}/v1` });
      const prompt = scripted("Which?", { reasoning: "This one.", reply: "That one." });
      const asked = { model: xai.responses(name), prompt };
      const whole = await generateText(asked);
      expect([whole.reasoningText, whole.text]).toEqual(["This one.", "That one."]);
      const errors: unknown[] = [];
      const streamed = streamText({ ...asked, onError: ({ error }) => void errors.push(error) });
      expect(await streamed.text).toBe("That one.");
      expect(await streamed.reasoningText).toBe("This one.");
      expect(errors).toEqual([]);
    },
  );
});
