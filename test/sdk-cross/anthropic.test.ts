/** @anthropic-ai/sdk over messages, answered by upstreams of the three other protocols. Requirements: TXT, CONV. */
import { describe } from "vitest";
import { shareOfRows } from "../support/long.ts";
import { describeCrossings } from "./pairs.ts";

describe("@anthropic-ai/sdk over messages", () => {
  describeCrossings("messages", shareOfRows);
});
