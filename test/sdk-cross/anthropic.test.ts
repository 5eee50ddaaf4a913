/** @anthropic-ai/sdk over messages, answered by upstreams of the three other protocols. Spec: "Text endpoints", "Conversion rules". */
import { describe } from "vitest";
import { describeCrossings } from "./pairs.ts";

describe("@anthropic-ai/sdk over messages", () => {
  describeCrossings("messages");
});
